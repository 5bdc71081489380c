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
// It is bounded twice, by its number of entries and by their weight (octets of text).
// It is safe for concurrent use. The zero value holds nothing; newTable makes one.
type table[V any] struct {
	maxEntries int
	maxWeight  int64

	mu      sync.RWMutex // guards the fields below
	entries map[string]*entry[V]
	weight  int64
	added   uint64 // how many entries were ever added: the clock by which age is told
}

type entry[V any] struct {
	value  V
	weight int64         // guarded by table.mu
	again  atomic.Bool   // asked for more than once
	used   atomic.Uint64 // table.added when last asked for
}

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

// add returns the value of key, made by create if there is none yet; create must not
// use the table.
func (t *table[V]) add(key string, create func() V) V {
	t.mu.Lock()
	defer t.mu.Unlock()
	if e := t.entries[key]; e != nil {
		e.touch(t.added)
		return e.value
	}
	t.added++
	e := &entry[V]{value: create()}
	e.used.Store(t.added)
	t.entries[key] = e
	t.shrink(e)
	return e.value
}

// put sets the value and the weight of key.
func (t *table[V]) put(key string, value V, weight int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.added++
	e := &entry[V]{value: value, weight: weight}
	e.used.Store(t.added)
	if old := t.entries[key]; old != nil {
		t.weight -= old.weight
		e.again.Store(true)
	}
	t.entries[key] = e
	t.weight += weight
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
func (t *table[V]) all() (values []V, again []bool) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	for _, e := range t.entries {
		values = append(values, e.value)
		again = append(again, e.again.Load())
	}
	return values, again
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

// shrink makes room when a bound does not hold, a sixteenth more than it must, so that a
// flood does not look at every entry for each newcomer. It never drops keep. Callers hold
// mu.
func (t *table[V]) shrink(keep *entry[V]) {
	if len(t.entries) <= t.maxEntries && t.weight <= t.maxWeight {
		return
	}
	type candidate struct {
		key   string
		again bool
		used  uint64
	}
	candidates := make([]candidate, 0, len(t.entries))
	for key, e := range t.entries {
		if e != keep {
			candidates = append(candidates, candidate{key, e.again.Load(), e.used.Load()})
		}
	}
	slices.SortFunc(candidates, func(a, b candidate) int {
		if a.again != b.again {
			if b.again {
				return -1
			}
			return 1
		}
		return cmp.Compare(a.used, b.used)
	})
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

// touch marks e as used. It writes only what changes, so that the cores do not take the
// cache line from one another on every request.
func (e *entry[V]) touch(clock uint64) {
	if !e.again.Load() {
		e.again.Store(true)
	}
	if e.used.Load() != clock {
		e.used.Store(clock)
	}
}
