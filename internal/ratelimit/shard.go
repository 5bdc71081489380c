package ratelimit

import (
	"sync"
	"sync/atomic"
	"time"
)

// bucketSlots is how many keys a bucket holds: two cache lines of 64 bytes,
// of which the first is filled first.
const bucketSlots = 8

// shard is a part of the table with a lock of its own for keys that enter. It
// fills one cache line, so that two processors working on neighbours do not
// disturb each other.
type shard struct {
	once    sync.Once // makes the buckets when the first key comes
	buckets []bucket
	mu      sync.Mutex // guards keys, and every change of a fingerprint
	keys    int        // slots in use
	_       [8]byte
}

// bucket is the few slots where a key can be.
type bucket [bucketSlots]slot

// slot holds one key. The fingerprint of an unused one is zero.
//
// A robot that asks again only swaps its state, and does not even write if it
// was refused before: so one that hammers on all processors holds up nobody,
// itself included.
type slot struct {
	fingerprint atomic.Uint64
	state       atomic.Int64
}

// take judges one request of a key that may be in the bucket, and reports
// false if it is not.
func (b *bucket) take(fingerprint uint64, l Limit, now time.Time) (r Result, ok bool) {
	if at := b.find(fingerprint); at != nil {
		return at.take(fingerprint, l, now)
	}
	return Result{}, false
}

// take judges one request of the key in the slot, and reports false if it has
// been driven out.
//
// A state is worth what its fingerprint says only while that stands, so it is
// looked at again once the state is read. The key may still be driven out
// before the swap; then the state has changed and the swap fails, unless the
// newcomer's is the same to the nanosecond, which would charge it this document.
func (at *slot) take(fingerprint uint64, l Limit, now time.Time) (r Result, ok bool) {
	for {
		before := at.state.Load()
		if at.fingerprint.Load() != fingerprint {
			return Result{}, false
		}
		after, r := l.Take(State(before), now)
		if int64(after) == before || at.state.CompareAndSwap(before, int64(after)) {
			return r, true
		}
	}
}

// giveBack gives back what a request of the key in the slot drew, unless it has been driven out;
// see take.
func (at *slot) giveBack(fingerprint uint64, l Limit) {
	for {
		before := at.state.Load()
		if at.fingerprint.Load() != fingerprint || at.state.CompareAndSwap(before, int64(l.Return(State(before)))) {
			return
		}
	}
}

// enter judges the first request of a key in one of the shard's buckets, and
// reports false if the key has entered meanwhile.
func (s *shard) enter(b *bucket, fingerprint uint64, l Limit, now time.Time) (r Result, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if b.find(fingerprint) != nil {
		return Result{}, false
	}
	at := b.spare()
	if at.fingerprint.Load() == 0 {
		s.keys++
	}
	first, r := l.Take(0, now)
	at.fingerprint.Store(0) // or the old key's next request would read the new one's state
	at.state.Store(int64(first))
	at.fingerprint.Store(fingerprint)
	return r, true
}

// len returns how many slots are in use.
func (s *shard) len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.keys
}

// find returns the slot that holds a fingerprint, or nil.
func (b *bucket) find(fingerprint uint64) *slot {
	for i := range b {
		if b[i].fingerprint.Load() == fingerprint {
			return &b[i]
		}
	}
	return nil
}

// spare returns the slot that a new key takes: an unused one, else the one
// with the earliest arrival time. Any time that is past is earlier than one
// that is not, so a key without debt goes before one with debt.
func (b *bucket) spare() *slot {
	earliest := &b[0]
	for i := range b {
		if b[i].fingerprint.Load() == 0 {
			return &b[i]
		}
		if b[i].state.Load() < earliest.state.Load() {
			earliest = &b[i]
		}
	}
	return earliest
}
