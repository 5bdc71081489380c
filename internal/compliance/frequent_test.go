package compliance

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

func TestFewThingsAreCountedExactly(t *testing.T) {
	var f frequent
	for i := range mostPaths {
		for range i + 1 {
			f.add(0, strconv.Itoa(i), mostPaths)
		}
	}
	for place, i := range f.sorted() {
		want, count := strconv.Itoa(mostPaths-1-place), uint64(mostPaths-place)
		if h := f.heads[i]; f.text(i) != want || h.count != count || h.over != 0 {
			t.Errorf("place %d: got %q, %d, %d, want %q, %d, 0", place, f.text(i), h.count, h.over, want, count)
		}
	}
}

// TestTheFirstTwentyAreRightWithinATenth asks for forty paths of a shop among ten times as many that are
// asked for once, as a robot does that runs through the pages of a search. Of twenty counts nineteen are right
// within a tenth, and all within a fifth.
func TestTheFirstTwentyAreRightWithinATenth(t *testing.T) {
	all, wrong := 0, 0
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 1))
		exact := make(map[string]uint64)
		var asked []string
		for i := range 40 {
			path := fmt.Sprint("/shop/", i)
			exact[path] = uint64(20_000 / (i + 10))
			for range exact[path] {
				asked = append(asked, path)
			}
		}
		for i := range 60_000 {
			asked = append(asked, fmt.Sprint("/search?q=", i))
		}
		random.Shuffle(len(asked), func(i, k int) { asked[i], asked[k] = asked[k], asked[i] })
		l := NewLedger(Options{})
		e := disallowed("figtree")
		e.WholeQuery = true
		for _, path := range asked {
			e.Path = path
			l.Note(&e)
		}
		got := only(t, l).Paths
		if len(got) != shownPaths {
			t.Errorf("seed %d: got %d paths, want %d", seed, len(got), shownPaths)
		}
		for _, p := range got {
			want := exact[p.Path]
			off := max(p.Requests, want) - min(p.Requests, want)
			if all++; off > want/10 {
				wrong++
			}
			if off > want/5 {
				t.Errorf("seed %d: %s: got %d, want %d", seed, p.Path, p.Requests, want)
			}
		}
	}
	if wrong > all/20 {
		t.Errorf("got %d of %d that are wrong by more than a tenth, want one in twenty at most", wrong, all)
	}
}

// A path that was asked for 324 times was reported as 3.
func TestAPathAmongManyKeepsItsCount(t *testing.T) {
	l := NewLedger(Options{})
	for i := range 5000 {
		e := disallowed("figtree")
		e.Path = "/made-up/" + strconv.Itoa(i)
		l.Note(&e)
		if i%15 == 0 && i/15 < 324 {
			e.Path = "/often"
			l.Note(&e)
		}
	}
	robot := only(t, l)
	got := robot.Paths
	if len(got) != 1 || got[0].Path != "/often" || got[0].Requests < 292 || got[0].Requests > 356 {
		t.Fatalf("a path asked for 324 times among 5000 others: got %+v, want it alone", got)
	}
	if want := robot.Disobedient - got[0].Requests; robot.OtherPaths != want {
		t.Errorf("others: got %d, want %d", robot.OtherPaths, want)
	}
	text := words(page(t, l.Snapshot(start), PageOptions{}))
	if strings.Contains(text, "≥") || !strings.Contains(text, "others, each of them rare, by rule 3 Disallow: /private/") {
		t.Errorf("the page: got %q", text[strings.Index(text, "Paths"):])
	}
}

func TestMergedCountsAreTheSum(t *testing.T) {
	var parts [3]frequent
	for i := range 29 {
		for k := range parts {
			for range i + k {
				parts[k].add(0, strconv.Itoa(i), mostPaths)
			}
		}
	}
	all := parts[0]
	all.merge(&parts[1], mostPaths)
	all.merge(&parts[2], mostPaths)
	for place, i := range all.sorted() {
		n := 28 - place
		if want := uint64(3*n + 3); all.text(i) != strconv.Itoa(n) || all.heads[i].count != want {
			t.Errorf("place %d: got %q, %d, want %d, %d", place, all.text(i), all.heads[i].count, n, want)
		}
	}
}
