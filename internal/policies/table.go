package policies

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"
)

// table is a bounded map for keys that clients make up, such as the Host header. When it
// is full, an entry that was asked for only once makes room first, then the one not used
// for the longest time: a flood of one-off keys passes through without driving out the
// keys in use.
//
// It is bounded twice, by its number of entries and by their weight (bytes of text).
// It is safe for concurrent use. The zero value holds nothing; newTable makes one.
type table[V any] struct {
	maxEntries int
	maxWeight  int64

	mu      sync.RWMutex // guards the fields below
	entries map[string]*entry[V]
	weight  int64
	added   uint64 // how many entries were ever added: the clock that entries age by
}

type entry[V any] struct {
	value  V
	weight int64         // guarded by table.mu
	rank   atomic.Uint64 // table.added when it was last asked for, and again; the lowest makes room first
}

// again is the part of a rank that says that the entry was asked for more than once.
const again = 1 << 63

func newTable[V any](maxEntries int, maxWeight int64) *table[V] {
	return &table[V]{maxEntries: maxEntries, maxWeight: maxWeight, entries: make(map[string]*entry[V])}
}

// get returns the value of key and marks it as used.
func (t *table[V]) get(key string) (value V, ok bool) {
	t.mu.RLock()
	e, clock := t.entries[key], t.added
	t.mu.RUnlock()
	if e == nil {
		return value, false
	}
	e.touch(clock)
	return e.value, true
}

// touch marks e as used. It writes only what changes, so that the cores do not take the cache line
// from one another on every request.
func (e *entry[V]) touch(clock uint64) {
	if rank := clock | again; e.rank.Load() != rank {
		e.rank.Store(rank)
	}
}

// add returns the value of key, made by create if there is none yet; create must not use the
// table.
func (t *table[V]) add(key string, create func() V) V {
	t.mu.Lock()
	defer t.mu.Unlock()
	e := t.entries[key]
	if e != nil {
		e.touch(t.added)
		return e.value
	}
	e = &entry[V]{value: create()}
	t.insert(key, e, 0)
	return e.value
}

// put sets the value and the weight of key.
func (t *table[V]) put(key string, value V, weight int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	e, used := &entry[V]{value: value, weight: weight}, uint64(0)
	if t.entries[key] != nil {
		t.drop(key)
		used = again
	}
	t.insert(key, e, used)
}

// insert adds an entry under a new key, used again or not. Callers hold mu.
func (t *table[V]) insert(key string, e *entry[V], used uint64) {
	t.added++
	e.rank.Store(t.added | used)
	t.entries[key] = e
	t.weight += e.weight
	t.shrink(e)
}

// weigh sets the weight of key, if it is still there.
func (t *table[V]) weigh(key string, weight int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if e := t.entries[key]; e != nil {
		t.weight += weight - e.weight
		e.weight = weight
		t.shrink(e)
	}
}

// all returns the values, in no order, and whether each was asked for more than once.
func (t *table[V]) all() (values []V, known []bool) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	for _, e := range t.entries {
		values = append(values, e.value)
		known = append(known, e.rank.Load() >= again)
	}
	return values, known
}

// len returns how many entries there are.
func (t *table[V]) len() int {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return len(t.entries)
}

// remove forgets key.
func (t *table[V]) remove(key string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.drop(key)
}

// shrink makes room when a bound does not hold, a sixteenth more than it must, so that a flood
// does not look at every entry for each newcomer. It never drops keep. Callers hold mu.
func (t *table[V]) shrink(keep *entry[V]) {
	if len(t.entries) <= t.maxEntries && t.weight <= t.maxWeight {
		return
	}
	type candidate struct {
		key  string
		rank uint64 // as it is now: get changes it without mu
	}
	candidates := make([]candidate, 0, len(t.entries))
	for key, e := range t.entries {
		if e != keep {
			candidates = append(candidates, candidate{key, e.rank.Load()})
		}
	}
	slices.SortFunc(candidates, func(a, b candidate) int { return cmp.Compare(a.rank, b.rank) })
	for _, c := range candidates {
		if len(t.entries) <= t.maxEntries-t.maxEntries/16 && t.weight <= t.maxWeight-t.maxWeight/16 {
			return
		}
		t.drop(c.key)
	}
}

// drop forgets key. Callers hold mu.
func (t *table[V]) drop(key string) {
	if e := t.entries[key]; e != nil {
		t.weight -= e.weight
		delete(t.entries, key)
	}
}
