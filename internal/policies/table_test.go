package policies

import (
	"fmt"
	"testing"
)

func TestTableKeepsWhatIsInUseThroughAFlood(t *testing.T) {
	table := newTable[int](100, 1000)
	for i := range 50 {
		key := fmt.Sprint("known", i)
		table.add(key, func() int { return i })
		table.get(key)
	}
	for i := range 100_000 {
		table.add(fmt.Sprint("flood", i), func() int { return -1 })
	}
	for i := range 50 {
		if got, ok := table.get(fmt.Sprint("known", i)); !ok || got != i {
			t.Fatalf("known%d after the flood: got %d, %t, want %d", i, got, ok, i)
		}
	}
	if got := len(table.entries); got > 100 || got < 90 {
		t.Errorf("entries: got %d, want at most 100, and nearly so many", got)
	}
}

func TestTableForgetsTheLongestUnusedFirst(t *testing.T) {
	table := newTable[int](3, 1000)
	for i, key := range []string{"a", "b", "c"} {
		table.add(key, func() int { return i })
		table.get(key)
	}
	table.add("d", func() int { return 3 }) // one-off: the next to go
	table.add("e", func() int { return 4 })
	table.get("e")
	for key, want := range map[string]bool{"a": false, "b": true, "c": true, "d": false, "e": true} {
		if _, got := table.entries[key]; got != want {
			t.Errorf("%s is kept: got %t, want %t", key, got, want)
		}
	}
}

func TestTableBoundsItsWeight(t *testing.T) {
	table := newTable[int](100, 10)
	table.put("a", 1, 6)
	table.put("b", 2, 4)
	if len(table.entries) != 2 || table.weight != 10 {
		t.Fatalf("full: got %d entries of weight %d, want 2 of 10", len(table.entries), table.weight)
	}
	table.put("b", 3, 5)
	if _, ok := table.get("a"); ok || table.weight != 5 {
		t.Errorf("b grew: a is kept: %t, weight %d, want false and 5", ok, table.weight)
	}
	table.add("c", func() int { return 4 })
	table.weigh("c", 9)
	if _, ok := table.get("b"); ok || table.weight != 9 {
		t.Errorf("c grew: b is kept: %t, weight %d, want false and 9", ok, table.weight)
	}
	table.remove("c")
	table.weigh("c", 5)
	if table.weight != 0 {
		t.Errorf("after remove: weight %d, want 0", table.weight)
	}
}

func TestTableKeepsAnEntryHeavierThanItsBound(t *testing.T) {
	table := newTable[int](100, 10)
	table.put("huge", 1, 11)
	if _, ok := table.get("huge"); !ok {
		t.Error("the only entry was dropped: its site would load for ever")
	}
}
