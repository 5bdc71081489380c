package compliance

import (
	"fmt"
	"testing"
)

// shop notes a robot that asks for 5,000 pages of a search once, and between them for forty pages that
// it likes better, the more the lower their number.
func shop(note func(*Event)) {
	e := disallowed("figtree")
	for i := range 5000 {
		e.Path, e.Line, e.Rule = fmt.Sprint("/search/", i), 3, "Disallow: /search/"
		note(&e)
		if page := i % 40; i/40 < 100-2*page {
			e.Path, e.Line, e.Rule = fmt.Sprint("/shop/", page), 4+page%15, fmt.Sprint("Disallow: /shop/", page%15)
			note(&e)
		}
	}
}

func TestExactCountsReplaceEstimates(t *testing.T) {
	l, x := NewLedger(Options{}), NewExact()
	shop(func(e *Event) { l.Note(e); x.Note(e) })
	r := l.Snapshot(start)
	x.Fill(r)
	robot := r.Sites[0].Robots[0]
	if len(robot.Paths) != shownPaths || len(robot.Lines) != mostLines {
		t.Fatalf("got %d paths and %d lines, want %d and %d", len(robot.Paths), len(robot.Lines), shownPaths, mostLines)
	}
	rest := robot.Disobedient
	for i, p := range robot.Paths {
		if want := (Path{Path: fmt.Sprint("/shop/", i), Line: 4 + i%15, Requests: uint64(100 - 2*i)}); p != want {
			t.Errorf("path %d: got %+v, want %+v", i, p, want)
		}
		rest -= p.Requests
	}
	if robot.OtherPaths != rest {
		t.Errorf("other paths: got %d, want %d", robot.OtherPaths, rest)
	}
	if want := (Line{Line: 3, Rule: "Disallow: /search/", Requests: 5000}); robot.Lines[0] != want {
		t.Errorf("the first line: got %+v, want %+v", robot.Lines[0], want)
	}
}

// Where not all of a robot could be counted, its report says what it said before.
func TestWhatDoesNotFitKeepsItsEstimates(t *testing.T) {
	l, x := NewLedger(Options{}), NewExact()
	few := disallowed("reader")
	l.Note(&few)
	x.Note(&few)
	x.kinds[0].room = 100_000
	shop(func(e *Event) { l.Note(e); x.Note(e) })
	r, want := l.Snapshot(start), l.Snapshot(start)
	x.Fill(r)
	if got, want := asJSON(t, r.Sites[0].Robots[0]), asJSON(t, want.Sites[0].Robots[0]); got != want {
		t.Errorf("got %.500s, want %.500s", got, want)
	}
	if paths := r.Sites[0].Robots[1].Paths; len(paths) != 1 || paths[0].Requests != 1 {
		t.Errorf("a robot that fits: got %+v, want its one path", paths)
	}
}
