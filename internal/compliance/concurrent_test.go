package compliance

import (
	"fmt"
	"math/rand/v2"
	"runtime"
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

// TestNothingIsSeenTwiceWhileRowsGiveWay reports while one row after the other gives way to a robot that comes when
// they have not for weeks: each report has all that was noted before it, and nothing that was not before its end.
func TestNothingIsSeenTwiceWhileRowsGiveWay(t *testing.T) {
	const reports = 20
	l := NewLedger(Options{MaxRobots: 300})
	var begun, noted atomic.Uint64
	var stop atomic.Bool
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := 0; !stop.Load(); i++ {
			e := allowed(fmt.Sprint("robot-", i/3))
			e.Time = start.Add(time.Duration(i/3) * time.Hour)
			begun.Add(1)
			l.Note(&e)
			noted.Add(1)
		}
	})
	for noted.Load() < 2000 { // until there is no more room
		runtime.Gosched()
	}
	for range reports {
		before := noted.Load()
		got := l.Snapshot(start).Total.Requests
		if after := begun.Load(); got < before || got > after {
			t.Errorf("got %d requests, want %d to %d", got, before, after)
		}
	}
	stop.Store(true)
	wg.Wait()
}
