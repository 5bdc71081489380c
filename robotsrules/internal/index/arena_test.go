package index

import "testing"

func TestWhatAnArenaKeepsStays(t *testing.T) {
	var a Arena[int]
	var kept []*int
	var lists [][]int
	for i := range 1000 {
		kept, lists = append(kept, a.Put(i)), append(lists, a.List(-i))
	}
	for i := range 1000 {
		_ = append(lists[i], 7)
		if *kept[i] != i || len(lists[i]) != 1 || lists[i][0] != -i {
			t.Fatalf("kept %d and %v, want %d and its negative", *kept[i], lists[i], i)
		}
	}
}
