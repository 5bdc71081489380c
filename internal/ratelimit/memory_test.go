package ratelimit

import (
	"context"
	"strconv"
	"sync"
	"testing"
	"time"
	"unsafe"
)

// mustTake is m.Take for a Memory, which never fails.
func mustTake(t *testing.T, m *Memory, robot string, l Limit, now time.Time) Result {
	t.Helper()
	r, err := m.Take(context.Background(), Request{Key: Key{Site: "a.example", Robot: robot}, Limit: l}, now)
	if err != nil {
		t.Fatalf("Take for %q: %v", robot, err)
	}
	return r
}

// flood has so many made-up robots ask once each.
func flood(t *testing.T, m *Memory, robots int, l Limit, now time.Time) {
	t.Helper()
	for i := range robots {
		mustTake(t, m, "made-up-"+strconv.Itoa(i), l, now)
	}
}

func TestMemoryIsBounded(t *testing.T) {
	for _, maxKeys := range []int{1, 8, 100, 1000, 5000} {
		m := NewMemory(maxKeys)
		flood(t, m, 100_000, PerPeriod(1, 10*s), start)
		got, most := m.Len(), max(maxKeys, bucketSlots)
		if got > most || got < most*9/10 {
			t.Errorf("NewMemory(%d) after a flood of 100000 keys: got %d keys, want at most %d and nearly as many", maxKeys, got, most)
		}
	}
}

func TestNewMemorySize(t *testing.T) {
	for maxKeys := bucketSlots; maxKeys < 10_000; maxKeys++ {
		m := NewMemory(maxKeys)
		got := len(m.shards) * m.buckets * bucketSlots
		if least := maxKeys - bucketSlots - maxKeys/100; got > maxKeys || got <= least {
			t.Fatalf("slots of NewMemory(%d): got %d, want above %d and at most that", maxKeys, got, least)
		}
	}
}

func TestNewMemoryAtTheEdges(t *testing.T) {
	for maxKeys, want := range map[int]int{
		-1:              DefaultMaxKeys,
		0:               DefaultMaxKeys,
		1:               bucketSlots,
		DefaultMaxKeys:  DefaultMaxKeys,
		largestMaxKeys:  largestMaxKeys,
		1<<31 - 1:       largestMaxKeys,
		bucketSlots - 1: bucketSlots,
	} {
		m := NewMemory(maxKeys)
		if got := len(m.shards) * m.buckets * bucketSlots; got != want {
			t.Errorf("slots of NewMemory(%d): got %d, want %d", maxKeys, got, want)
		}
	}
}

// fullTable returns the bytes that the states of m take when all slots are in use.
func fullTable(m *Memory) uintptr {
	return uintptr(len(m.shards)) * (unsafe.Sizeof(shard{}) + uintptr(m.buckets)*unsafe.Sizeof(bucket{}))
}

func TestMemorySpace(t *testing.T) {
	m := NewMemory(DefaultMaxKeys)
	if perKey := fullTable(m) / DefaultMaxKeys; perKey > 17 {
		t.Errorf("bytes for each of %d keys: got %d, want at most 17", DefaultMaxKeys, perKey)
	}
	if got := unsafe.Sizeof(shard{}); got != 64 && unsafe.Sizeof(uintptr(0)) == 8 {
		t.Errorf("size of a shard: got %d, want one cache line of 64", got)
	}
}

func TestMemoryAllocatesAsItFills(t *testing.T) {
	m := NewMemory(DefaultMaxKeys)
	mustTake(t, m, "figtree", PerPeriod(1, 10*s), start)
	allocated := 0
	for i := range m.shards {
		if m.shards[i].buckets != nil {
			allocated++
		}
	}
	if allocated != 1 {
		t.Errorf("shards allocated for one key: got %d, want 1", allocated)
	}
}

func TestMemoryLen(t *testing.T) {
	m := NewMemory(DefaultMaxKeys)
	if got := m.Len(); got != 0 {
		t.Errorf("keys of an empty Memory: got %d, want 0", got)
	}
	for range 3 {
		flood(t, m, 5, PerPeriod(1, 10*s), start)
	}
	mustTake(t, m, "unpaced", Limit{}, start)
	if got := m.Len(); got != 5 {
		t.Errorf("keys after five robots came three times each and one without a limit: got %d, want 5", got)
	}
}

// TestMemoryForgetsFewAtHalf bounds what is lost where keys crowd into one
// bucket.
func TestMemoryForgetsFewAtHalf(t *testing.T) {
	const keys = 1 << 15
	m := NewMemory(2 * keys)
	flood(t, m, keys, PerPeriod(1, 10*s), start)
	if got := m.Len(); got < keys*98/100 || got > keys {
		t.Errorf("keys of a Memory for %d, after %d: got %d, want at least 98 %% of them", 2*keys, keys, got)
	}
}

// TestMemoryKeepsTheDebtor floods the one bucket that there is.
func TestMemoryKeepsTheDebtor(t *testing.T) {
	m := NewMemory(bucketSlots)
	mustTake(t, m, "debtor", PerPeriod(1, hour), start)
	flood(t, m, 1000, PerPeriod(1, 10*s), start)
	got := mustTake(t, m, "debtor", PerPeriod(1, hour), start.Add(s))
	if want := (Result{RetryAfter: hour - s}); got != want {
		t.Errorf("the robot that owes an hour, after a flood of robots that owe seconds: got %+v, want %+v", got, want)
	}
}

func TestMemoryMeetsTheForgottenAsStrangers(t *testing.T) {
	m := NewMemory(bucketSlots)
	mustTake(t, m, "figtree", PerPeriod(1, 10*s), start)
	flood(t, m, 1000, PerPeriod(1, hour), start)
	if got := mustTake(t, m, "figtree", PerPeriod(1, 10*s), start.Add(s)); !got.Allowed() {
		t.Errorf("a robot driven out by a flood: got %+v, want an admission", got)
	}
}

func TestBucketSpare(t *testing.T) {
	full := [bucketSlots]uint64{1, 2, 3, 4, 5, 6, 7, 8}
	tests := []struct {
		name         string
		fingerprints [bucketSlots]uint64
		states       [bucketSlots]int64
		want         int
	}{
		{"empty", [bucketSlots]uint64{}, [bucketSlots]int64{}, 0},
		{"one unused", [bucketSlots]uint64{1, 2, 3, 0, 5, 6, 7, 8}, [bucketSlots]int64{9, 9, 9, 0, 1, 9, 9, 9}, 3},
		{"full", full, [bucketSlots]int64{90, 80, 70, 60, 50, 40, 30, 35}, 6},
		{"full, the first", full, [bucketSlots]int64{1, 2, 3, 4, 5, 6, 7, 8}, 0},
		{"full, before 1970", full, [bucketSlots]int64{0, 0, 0, -4, 0, 0, 0, 0}, 3},
	}
	for _, test := range tests {
		var b bucket
		for i := range bucketSlots {
			b[i].fingerprint.Store(test.fingerprints[i])
			b[i].state.Store(test.states[i])
		}
		if got, want := b.spare(), &b[test.want]; got != want {
			t.Errorf("%s, fingerprints %v, states %v: got %p, want slot %d, %p", test.name, test.fingerprints, test.states, got, test.want, want)
		}
	}
}

// TestSlotOfAnother is the moment after a key was driven out, when a request
// of it still looks at its slot.
func TestSlotOfAnother(t *testing.T) {
	var b bucket
	b[0].fingerprint.Store(2)
	b[0].state.Store(100)
	if r, ok := b[0].take(1, PerPeriod(1, 10*s), start); ok {
		t.Errorf("take of key 1 in the slot of key 2: got %+v, want none", r)
	}
	if got := b[0].state.Load(); got != 100 {
		t.Errorf("state of key 2 after a request of key 1: got %d, want 100", got)
	}
}

// TestEnterTwice is the moment when two first requests of a key come at once.
func TestEnterTwice(t *testing.T) {
	var sh shard
	var b bucket
	if r, ok := sh.enter(&b, 1, PerPeriod(1, 10*s), start); !ok || !r.Allowed() {
		t.Errorf("first to enter: got %+v, %v, want an admission", r, ok)
	}
	if r, ok := sh.enter(&b, 1, PerPeriod(1, 10*s), start); ok {
		t.Errorf("second to enter: got %+v, want none", r)
	}
	if got := sh.len(); got != 1 {
		t.Errorf("keys after one entered twice: got %d, want 1", got)
	}
}

func TestZeroMemoryAdmits(t *testing.T) {
	var m Memory
	for range 3 {
		if got := mustTake(t, &m, "figtree", PerPeriod(1, hour), start); !got.Allowed() {
			t.Errorf("the zero Memory: got %+v, want an admission", got)
		}
	}
	if got := m.Len(); got != 0 {
		t.Errorf("keys of the zero Memory: got %d, want 0", got)
	}
}

func TestMemoryDoesNotAllocate(t *testing.T) {
	m := NewMemory(DefaultMaxKeys)
	ctx := context.Background()
	key := Key{Site: "a.example", Robot: "figtree"}
	for name, l := range map[string]Limit{"admitted": {Interval: 1, Burst: 1}, "refused": PerPeriod(1, hour), "no limit": {}} {
		got := testing.AllocsPerRun(1000, func() { _, _ = m.Take(ctx, Request{Key: key, Limit: l}, start) })
		if got != 0 {
			t.Errorf("allocations of a Take that is %s: got %v, want 0", name, got)
		}
	}
}

// TestMemoryUnderContention has a flood, a debtor and Len meet in a table
// that is always full.
func TestMemoryUnderContention(t *testing.T) {
	m := NewMemory(64)
	admitted := 0
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() { flood(t, m, 5000, PerPeriod(1, 10*s), start) })
	}
	wg.Go(func() {
		for range 5000 {
			if mustTake(t, m, "debtor", PerPeriod(1, hour), start).Allowed() {
				admitted++
			}
		}
	})
	for range 100 {
		if got := m.Len(); got > 64 {
			t.Errorf("keys of a Memory for 64: got %d", got)
		}
	}
	wg.Wait()
	if admitted != 1 {
		t.Errorf("admitted of 5000 requests at once, while others flood: got %d, want 1", admitted)
	}
}
