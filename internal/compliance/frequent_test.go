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
			f.add(0, int32(i), strconv.Itoa(i), mostPaths)
		}
	}
	for place, h := range f.sorted() {
		want, count := mostPaths-1-place, uint64(mostPaths-place)
		if h.text != strconv.Itoa(want) || h.count != count || h.over != 0 || h.by != int32(want) {
			t.Errorf("place %d: got %+v, want %d, %d times, exactly", place, h, want, count)
		}
	}
}

// stream is what a robot asks for in the order of a test, with the exact counts.
type stream struct {
	paths []string
	exact map[string]uint64
}

func (s *stream) ask(path string, times int) {
	if s.exact == nil {
		s.exact = make(map[string]uint64)
	}
	s.exact[path] += uint64(times)
	for range times {
		s.paths = append(s.paths, path)
	}
}

func (s *stream) shuffle(random *rand.Rand) {
	random.Shuffle(len(s.paths), func(i, k int) { s.paths[i], s.paths[k] = s.paths[k], s.paths[i] })
}

// streams are what robots may ask for: some paths much more often than others, all alike, and orders that are made
// to mislead who counts.
var streams = map[string]func(s *stream, random *rand.Rand){
	// Forty paths of a shop among ten times as many that are asked for once: twenty of them are to be shown.
	"a search": func(s *stream, random *rand.Rand) {
		for i := range 40 {
			s.ask(fmt.Sprint("/shop/", i), 20_000/(i+10))
		}
		for i := range 60_000 {
			s.ask(fmt.Sprint("/search/", i), 1)
		}
		s.shuffle(random)
	},
	"by the law of Zipf": func(s *stream, random *rand.Rand) {
		zipf := rand.NewZipf(random, 1.2, 1, 20_000)
		for range 60_000 {
			s.ask(fmt.Sprint("/", zipf.Uint64()), 1)
		}
	},
	"all alike": func(s *stream, random *rand.Rand) {
		for i := range 2000 {
			s.ask(fmt.Sprint("/", i), 20)
		}
		s.shuffle(random)
	},
	"each once": func(s *stream, _ *rand.Rand) {
		for i := range 60_000 {
			s.ask(fmt.Sprint("/", i), 1)
		}
	},
	"round and round": func(s *stream, _ *rand.Rand) {
		for i := range 60_000 {
			s.ask(fmt.Sprint("/", i%(mostPaths+1)), 1)
		}
	},
	"what comes often comes last": func(s *stream, _ *rand.Rand) {
		for i := range 30_000 {
			s.ask(fmt.Sprint("/", i), 1)
		}
		for i := range 30 {
			s.ask(fmt.Sprint("/often/", i), 1500)
		}
	},
	"one after the other": func(s *stream, _ *rand.Rand) {
		for i := range 200 {
			s.ask(fmt.Sprint("/", i), 300)
		}
	},
	"away and back": func(s *stream, _ *rand.Rand) {
		for round := range 40 {
			for i := range 25 {
				s.ask(fmt.Sprint("/often/", i), 10*(i+1))
			}
			for i := range 2000 {
				s.ask(fmt.Sprint("/", round, "/", i), 1)
			}
		}
	},
}

// TestShownPathsAreRightWithinATenth holds what is shown to an exact twin: of twenty counts nineteen are right
// within a tenth, whatever is asked for in whatever order, and what is shown and the others are all there was.
func TestShownPathsAreRightWithinATenth(t *testing.T) {
	for name, make := range streams {
		t.Run(name, func(t *testing.T) {
			all, wrong := 0, 0
			for seed := range uint64(8) {
				var s stream
				make(&s, rand.New(rand.NewPCG(seed, 1)))
				var a asked
				for _, path := range s.paths {
					a.add(3, "Disallow: /", path)
				}
				_, paths, others, _ := a.report(uint64(len(s.paths)))
				sum := others
				for _, p := range paths {
					want := s.exact[p.Path]
					if off := max(p.Requests, want) - min(p.Requests, want); off > want/10 {
						wrong++
					}
					if !p.About && p.Requests != want {
						t.Errorf("seed %d: %s: got %d, exactly, want %d", seed, p.Path, p.Requests, want)
					}
					all++
					sum += p.Requests
				}
				if sum != uint64(len(s.paths)) {
					t.Errorf("seed %d: got %d requests in all, want %d", seed, sum, len(s.paths))
				}
				if name == "a search" && len(paths) != shownPaths {
					t.Errorf("seed %d: got %d paths, want %d", seed, len(paths), shownPaths)
				}
			}
			if wrong > all/20 {
				t.Errorf("got %d of %d that are wrong by more than a tenth, want one in twenty at most", wrong, all)
			}
			t.Logf("%d of %d wrong by more than a tenth", wrong, all)
		})
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
	if strings.Contains(text, "≥") || !strings.Contains(text, "others, each of them rare, by line 3 Disallow: /private/") {
		t.Errorf("the page: got %q", text[strings.Index(text, "Paths"):])
	}
}

// TestAllowedPathsAreGroupedByRule notes a robot that reads a shop as a line allows it, and news about which no
// line says anything.
func TestAllowedPathsAreGroupedByRule(t *testing.T) {
	l, x := NewLedger(Options{}), NewExact()
	ask := func(path, rule string, line, times int) {
		for range times {
			e := allowed("figtree")
			e.Path, e.Line, e.Rule = path, line, rule
			l.Note(&e)
			x.Note(&e)
		}
	}
	ask("/", "", 0, 500)
	ask("/shop/figs?id=1", "Allow: /shop/", 4, 400)
	for i := range 300 {
		ask(fmt.Sprint("/shop/", i), "Allow: /shop/", 4, 1)
		ask(fmt.Sprint("/news/", i), "", 0, 2)
	}
	banned, read := allowed("figtree"), allowed("figtree")
	banned.Verdict, banned.Path, read.RobotsTxt = Banned, "/", true
	for _, e := range []Event{banned, read, disallowed("figtree")} {
		l.Note(&e)
		x.Note(&e)
	}
	for what, fill := range map[string]func(*Report){"estimated": func(*Report) {}, "exact": x.Fill} {
		r := l.Snapshot(start)
		fill(r)
		robot := r.Sites[0].Robots[0]
		want := []Path{{Path: "/", Requests: 500}, {Path: "/shop/figs?", Line: 4, Requests: 400}}
		if got := robot.AllowedPaths; len(got) < 2 || got[0] != want[0] || got[1] != want[1] {
			t.Fatalf("%s: got %+v, want %+v first", what, got, want)
		}
		shown := uint64(0)
		for _, p := range robot.AllowedPaths {
			shown += p.Requests
		}
		if shown+robot.OtherAllowed != 1800 {
			t.Errorf("%s: got %d and %d others, want 1800 in all", what, shown, robot.OtherAllowed)
		}
		by := robot.OtherAllowedByRule
		if len(by) != 2 || by[0].Line+by[1].Line != 4 || by[0].Requests+by[1].Requests != robot.OtherAllowed {
			t.Errorf("%s: others by rule: got %+v", what, by)
		}
		if what == "exact" && (by[0] != Line{Line: 4, Rule: "Allow: /shop/", Requests: 300} || by[1] != Line{Requests: robot.OtherAllowed - 300}) {
			t.Errorf("exact others by rule: got %+v", by)
		}
	}
	q := Selection{Robot: "figtree"}
	text := words(page(t, l.Snapshot(start).Select(q), PageOptions{Self: "/robots", Selection: q}))
	for _, want := range []string{"Paths asked for most, as allowed", "others, each of them rare, by line 4 Allow: /shop/", "others, each of them rare, by no line"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q: got %q", want, text)
		}
	}
}

func TestMergedCountsAreTheSum(t *testing.T) {
	var parts [3]frequent
	for i := range 29 {
		for k := range parts {
			for range i + k {
				parts[k].add(0, 0, strconv.Itoa(i), mostPaths)
			}
		}
	}
	all := parts[0]
	all.merge(&parts[1], mostPaths)
	all.merge(&parts[2], mostPaths)
	for place, h := range all.sorted() {
		n := 28 - place
		if want := uint64(3*n + 3); h.text != strconv.Itoa(n) || h.count != want {
			t.Errorf("place %d: got %q, %d, want %d, %d", place, h.text, h.count, n, want)
		}
	}
}
