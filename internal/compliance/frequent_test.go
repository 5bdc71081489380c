package compliance

import (
	"math/rand/v2"
	"strconv"
	"testing"
)

func TestFewThingsAreCountedExactly(t *testing.T) {
	var f frequent
	for i := range mostFrequent {
		for range i + 1 {
			f.add(0, strconv.Itoa(i))
		}
	}
	for i, c := range f.sorted() {
		what, count := strconv.Itoa(mostFrequent-1-i), uint64(mostFrequent-i)
		if !c.is(0, what) || c.count != count || c.over != 0 {
			t.Errorf("place %d: got %q, %d, %d, want %q, %d, 0", i, c.text(), c.count, c.over, what, count)
		}
	}
}

// TestFrequentKeepsItsBounds judges what is kept by counting everything: no count is too low, none
// is too high by more than it says, and whatever makes up more than a tenth is there.
func TestFrequentKeepsItsBounds(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var parts [3]frequent
		exact := make(map[string]uint64)
		spread, length := 1+random.IntN(60), 1+random.IntN(400)
		for range length {
			what := strconv.Itoa(int(random.ExpFloat64() * float64(spread)))
			exact[what]++
			parts[random.IntN(len(parts))].add(0, what)
		}
		all := parts[0]
		all.merge(parts[1])
		all.merge(parts[2])
		there := make(map[string]bool)
		for _, c := range all {
			there[c.text()] = true
			if n := exact[c.text()]; n > c.count || n < c.count-c.over {
				t.Fatalf("%d of %d: %q: got %d with %d over, want bounds around %d", spread, length, c.text(), c.count, c.over, n)
			}
		}
		for what, n := range exact {
			if n > uint64(length)/mostFrequent && !there[what] {
				t.Fatalf("%d of %d: %q, which was there %d times, is missing", spread, length, what, n)
			}
		}
		if len(all) > mostFrequent || len(there) != len(all) {
			t.Fatalf("got %d things, %d of them different, want at most %d", len(all), len(there), mostFrequent)
		}
	}
}

func TestWhatIsCountedForCertainComesFirst(t *testing.T) {
	l := NewLedger(Options{})
	for i := range 500 {
		e := disallowed("figtree")
		e.Path = "/made-up/" + strconv.Itoa(i)
		l.Note(&e)
		if i%5 == 0 {
			e.Path = "/often"
			l.Note(&e)
		}
	}
	got := only(t, l).Paths
	if got[0].Path != "/often" || got[0].Requests > 100 || got[0].Requests < 50 {
		t.Errorf("the path asked for 100 times among 500 others: got %+v first", got[0])
	}
	if last := got[len(got)-1]; !last.AtLeast || last.Requests > 2 {
		t.Errorf("a path asked for once: got %+v, want at least 1 or 2", last)
	}
}
