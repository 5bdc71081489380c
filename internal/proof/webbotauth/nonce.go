package webbotauth

import (
	"hash/maphash"
	"sync"
	"time"
)

// rememberedNonces is how many nonces are kept, about 3 MB of them at most.
const rememberedNonces = 1 << 16

// nonceStore remembers which nonces were used, so that a signature seen on its way cannot be sent
// again. It holds a fixed number: the oldest gives way, so a replay is noticed among that many
// signed requests. It is safe for concurrent use.
//
// A nonce is kept as a seeded 64-bit hash. That two of 65,536 share one, and an honest request is
// taken for a replay, comes about once in 10^14 requests, and nobody outside can bring it about.
type nonceStore struct {
	mu      sync.Mutex
	seed    maphash.Seed
	expires map[uint64]int64 // Unix seconds
	order   []uint64         // a ring, once full
	oldest  int
	limit   int
}

func newNonceStore(limit int) *nonceStore {
	return &nonceStore{seed: maphash.MakeSeed(), expires: make(map[uint64]int64), limit: limit}
}

// use takes a nonce of a key of an agent until it expires, and reports whether it was free. The same
// nonce of another key or another agent is another nonce.
func (s *nonceStore) use(agent, keyID, nonce string, now, expires time.Time) bool {
	h := maphash.Comparable(s.seed, [3]string{agent, keyID, nonce})
	s.mu.Lock()
	defer s.mu.Unlock()
	until, known := s.expires[h]
	if known && now.Unix() < until {
		return false
	}
	if !known {
		s.makeRoom(h)
	}
	s.expires[h] = expires.Unix()
	return true
}

// makeRoom puts h into the order of age, in the place of the oldest if the store is full. The
// caller holds the lock.
func (s *nonceStore) makeRoom(h uint64) {
	if len(s.order) < s.limit {
		s.order = append(s.order, h)
		return
	}
	delete(s.expires, s.order[s.oldest])
	s.order[s.oldest] = h
	s.oldest = (s.oldest + 1) % s.limit
}
