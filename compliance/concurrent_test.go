package compliance

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestConcurrentUse notes, merges, stores and reports all at once in a ledger that has too little
// room, so that rows and sites give way all the time. Nothing may be lost or counted twice.
func TestConcurrentUse(t *testing.T) {
	const workers, each = 8, 3000
	l := NewLedger(Options{MaxRobots: 20, MaxSites: 4})
	other := NewLedger(Options{})
	note(other, disallowed("figtree"), 5)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			random := rand.New(rand.NewPCG(uint64(w), 1))
			for range each {
				e := disallowed(fmt.Sprint("robot-", int(random.ExpFloat64()*20)))
				e.Site = fmt.Sprint(int(random.ExpFloat64()*3), ".example")
				e.Time = start.Add(time.Duration(random.IntN(72)) * hour)
				l.Note(&e)
			}
		})
	}
	merges := 0
	wg.Go(func() {
		for range 20 {
			l.Merge(other)
			merges++
			r := l.Snapshot(start.Add(72 * hour))
			if got, requests := rows(r); got > 20 || len(r.Sites) > 5 || requests != r.Total.Requests {
				t.Errorf("meanwhile: got %d rows on %d sites, %d and %d requests", got, len(r.Sites), requests, r.Total.Requests)
			}
			if err := NewLedger(Options{}).Unmarshal(l.Marshal()); err != nil {
				t.Errorf("meanwhile: %v", err)
			}
		}
	})
	wg.Wait()
	got := l.Snapshot(start.Add(72 * hour)).Total
	if want := uint64(workers*each + merges*5); got.Requests != want || got.Disobedient != want || got.Refused != want {
		t.Errorf("got %+v, want %d of each", got, want)
	}
}

// TestNothingIsSeenTwiceWhileRowsGiveWay reports while rows and sites give way to others: each report has
// all that was noted before it, and nothing that was not noted before its end.
func TestNothingIsSeenTwiceWhileRowsGiveWay(t *testing.T) {
	const workers, each = 4, 5000
	l := NewLedger(Options{MaxRobots: 20, MaxSites: 4})
	var begun, done atomic.Uint64
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			random := rand.New(rand.NewPCG(uint64(w), 2))
			for range each {
				e := allowed(fmt.Sprint("robot-", int(random.ExpFloat64()*20)))
				e.Site = fmt.Sprint(int(random.ExpFloat64()*3), ".example")
				begun.Add(1)
				l.Note(&e)
				done.Add(1)
			}
		})
	}
	for done.Load() < workers*each {
		before := done.Load()
		got := l.Snapshot(start).Total.Requests
		if after := begun.Load(); got < before || got > after {
			t.Errorf("got %d requests, want %d to %d", got, before, after)
		}
	}
	wg.Wait()
}
