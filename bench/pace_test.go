package bench

import (
	"context"
	"fmt"
	"hash/maphash"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"golang.org/x/time/rate"

	"github.com/caddy-robots/caddy-robots/internal/ratelimit"
)

// start is when the first request of a pace benchmark comes.
var start = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

// store is a way to keep the pace of many keys. It is safe for concurrent use.
type store interface {
	// take asks for one request of a key at a time.
	take(key ratelimit.Key, now time.Time) bool
}

// way is a kind of store.
type way struct {
	by   string
	make func() store
}

var oneMiss = way{"miss", newMisses}

// stores are the ways that are compared.
var stores = []way{
	{"x_time_rate", func() store { return &limiters{byKey: make(map[ratelimit.Key]*rate.Limiter)} }},
	{"ours", func() store { return ourStore{ratelimit.NewMemory(2 * ratelimit.DefaultMaxKeys)} }},
}

// misses are what a store of a million keys cannot be cheaper than: the hash of a key, and one read of
// memory of the same size, which is in no cache.
type misses struct {
	seed  maphash.Seed
	table []uint64
	sum   uint64
}

func newMisses() store {
	return &misses{seed: maphash.MakeSeed(), table: make([]uint64, 2*ratelimit.DefaultMaxKeys*16/8)}
}

func (m *misses) take(key ratelimit.Key, _ time.Time) bool {
	at := maphash.String(m.seed, key.Site) ^ 3*maphash.String(m.seed, key.Robot) ^ m.sum
	m.sum += m.table[at%uint64(len(m.table))] // the next read waits for this one
	return true
}

type ourStore struct{ *ratelimit.Memory }

func (s ourStore) take(key ratelimit.Key, now time.Time) bool {
	result, err := s.Take(context.Background(), ratelimit.Request{Key: key, Limit: ratelimit.PerPeriod(1, 10*time.Second)}, now)
	return err == nil && result.Allowed()
}

// limiters is what one writes first with golang.org/x/time/rate.
type limiters struct {
	mu    sync.Mutex // guards byKey
	byKey map[ratelimit.Key]*rate.Limiter
}

func (s *limiters) take(key ratelimit.Key, now time.Time) bool {
	s.mu.Lock()
	limiter, ok := s.byKey[key]
	if !ok {
		limiter = rate.NewLimiter(rate.Every(10*time.Second), 1)
		s.byKey[key] = limiter
	}
	s.mu.Unlock()
	return limiter.AllowN(now, 1)
}

// parts are those of which keys are made: a million pairs.
var parts = func() (parts [1000]string) {
	for i := range parts {
		parts[i] = "name-" + strconv.Itoa(i) + ".example"
	}
	return parts
}()

// nth returns one of a million keys.
func nth(n uint) ratelimit.Key {
	return ratelimit.Key{Site: parts[n%1000], Robot: parts[n/1000%1000]}
}

// million is the most keys that there are.
const million = 1_000_000

// filled returns a store in which the first n keys have asked once.
func filled(make func() store, n uint) store {
	s := make()
	for i := range n {
		s.take(nth(i), start)
	}
	return s
}

// BenchmarkPace asks for the pace of known keys in turn, all of which may be served.
func BenchmarkPace(b *testing.B) {
	for _, keys := range []uint{1, 1000, million} {
		ways := stores
		if keys == million {
			ways = append(slices.Clone(stores), oneMiss)
		}
		for _, s := range ways {
			b.Run(fmt.Sprintf("keys=%d/by=%s", keys, s.by), func(b *testing.B) {
				store, n, now := filled(s.make, keys), uint(0), start
				b.ReportAllocs()
				for b.Loop() {
					now = now.Add(time.Hour)
					if !store.take(nth(n%keys), now) {
						b.Fatalf("request %d is refused, want admitted", n)
					}
					n += 7919
				}
			})
		}
	}
}
