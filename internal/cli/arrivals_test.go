package cli

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/internal/accesslog"
)

// logged is a request that came at a time, in seconds, and took so many.
type logged struct{ came, took int }

// arrive puts requests that are logged in this order through arrivals, and returns when those
// came that are judged, in the order in which they are.
func arrive(log []logged) (came []int) {
	var a arrivals
	start := time.Unix(1767323045, 0)
	judge := func(one *arrival) { came = append(came, int(one.time.Sub(start)/time.Second)) }
	for _, l := range log {
		rec := accesslog.Record{Time: start.Add(time.Duration(l.came+l.took) * time.Second)}
		a.add(start.Add(time.Duration(l.came)*time.Second), nil, &rec, judge)
	}
	a.end(judge)
	return came
}

func TestRequestsAreJudgedInTheOrderInWhichTheyCame(t *testing.T) {
	random := rand.New(rand.NewPCG(9309, 1))
	for range 200 {
		// Each ends a second after the one before it, and took up to the bound.
		var log []logged
		for end := range 500 {
			took := random.IntN(int(maxLate / time.Second))
			log = append(log, logged{end - took, took})
		}
		came := arrive(log)
		if len(came) != len(log) {
			t.Fatalf("got %d requests, want %d", len(came), len(log))
		}
		for i := 1; i < len(came); i++ {
			if came[i] < came[i-1] {
				t.Fatalf("one that came at %d is judged after one that came at %d", came[i], came[i-1])
			}
		}
	}
}

func TestRequestsThatCameAtOnceKeepTheirOrder(t *testing.T) {
	var a arrivals
	var paths string
	judge := func(one *arrival) { paths += one.record.Target }
	at := time.Unix(1767323045, 0)
	for _, target := range []string{"/a", "/b", "/c"} {
		a.add(at, nil, &accesslog.Record{Time: at, Target: target}, judge)
	}
	a.end(judge)
	if want := "/a/b/c"; paths != want {
		t.Errorf("got %s, want %s", paths, want)
	}
}

func TestFewRequestsAreHeldBack(t *testing.T) {
	var a arrivals
	judged := 0
	at := time.Unix(1767323045, 0)
	for i := range 10 * maxHeldBack {
		a.add(at, nil, &accesslog.Record{Time: at}, func(*arrival) { judged++ })
		if held := i + 1 - judged; held > maxHeldBack {
			t.Fatalf("held back: got %d, want at most %d", held, maxHeldBack)
		}
	}
	if n := len(a.free) + len(a.held); n > maxHeldBack+1 {
		t.Errorf("made: got %d, want at most %d", n, maxHeldBack+1)
	}
}

func TestRequestsAreHeldBackForAMinuteAtTheMost(t *testing.T) {
	var a arrivals
	judged := 0
	at := time.Unix(1767323045, 0)
	add := func(at time.Time) { a.add(at, nil, &accesslog.Record{Time: at}, func(*arrival) { judged++ }) }
	add(at)
	add(at.Add(maxLate))
	if judged != 0 {
		t.Errorf("after %s: got %d judged, want none", maxLate, judged)
	}
	add(at.Add(maxLate + 1))
	if judged != 1 {
		t.Errorf("thereafter: got %d judged, want 1", judged)
	}
}
