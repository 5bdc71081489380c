package dns

import (
	"sync"
	"sync/atomic"
	"time"
)

const maxEntries = 1 << 20

// A cache remembers outcomes by address, at most limit of them. When it is full it evicts as the
// clock algorithm does (second chance): the hand passes over, once, entries that were read since
// it last came by. So addresses that come again stay, however many strangers come. Keys hold no
// pointers, so that the table costs the garbage collector little.
type cache struct {
	limit   int
	mu      sync.RWMutex // guards what follows
	index   map[[16]byte]int32
	entries []cacheEntry
	hand    int
}

type cacheEntry struct {
	key     [16]byte
	expires time.Duration // by the age of the Verifier
	outcome *outcome
	used    atomic.Bool // set by readers
}

// get returns what is known of an address at the time now, or nil.
func (c *cache) get(key [16]byte, now time.Duration) *outcome {
	c.mu.RLock()
	defer c.mu.RUnlock()
	i, ok := c.index[key]
	if !ok || now >= c.entries[i].expires {
		return nil
	}
	e := &c.entries[i]
	if !e.used.Load() { // a write would take the cache line from other readers
		e.used.Store(true)
	}
	return e.outcome
}

// last returns what was known of an address, also if its time is over; nil for nothing.
func (c *cache) last(key [16]byte) *outcome {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if i, ok := c.index[key]; ok {
		return c.entries[i].outcome
	}
	return nil
}

// put remembers an outcome from the time now on, in place of what was known of the address.
func (c *cache) put(key [16]byte, o *outcome, now time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	i, ok := c.index[key]
	if !ok {
		i = c.room(now)
		c.index[key] = i
	}
	e := &c.entries[i]
	e.key, e.outcome, e.expires = key, o, now+o.lifetime()
}

// room returns the place of a new entry. The caller holds c.mu. The hand makes two rounds at most,
// and far only once in as many calls as there are entries.
func (c *cache) room(now time.Duration) int32 {
	if n := len(c.entries); n < c.limit {
		c.entries = append(c.entries, cacheEntry{})
		return int32(n)
	}
	for {
		i := c.hand
		c.hand = (c.hand + 1) % len(c.entries)
		e := &c.entries[i]
		if used := e.used.Swap(false); !used || now >= e.expires {
			delete(c.index, e.key)
			return int32(i)
		}
	}
}
