package ratelimit_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/caddy-robots/caddy-robots/internal/ratelimit"
)

// These tests are of Failover.Run: what it tells, and when a store that was
// lost is asked again.

// within has figtree ask every tenth of a second of so long a time.
func (n *node) within(t *testing.T, d time.Duration) {
	t.Helper()
	for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		n.ask(t)
	}
	synctest.Wait()
}

func TestFailoverTellsAtTheStartOfAStoreThatIsNotThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		n := newNode(s)
		s.set(faults{ping: gone})
		go n.Run(t.Context())
		synctest.Wait()
		n.want(t, errGone)
		if !n.Down() {
			t.Error("got a store that is well, want it lost")
		}
	})
}

func TestFailoverTellsOfALossBeforeRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		n := newNode(s)
		s.set(faults{take: gone})
		n.ask(t)
		s.set(faults{})
		n.want(t)
		go n.Run(t.Context())
		time.Sleep(time.Second)
		n.want(t, errGone, nil)
	})
}

func TestFailoverComesBackByItself(t *testing.T) {
	for name, f := range map[string]faults{
		"gone": {take: gone, ping: gone, watch: gone},
		"slow": {take: slow, ping: slow, watch: slow},
		"hung": {take: slow, ping: hang, watch: hang},
	} {
		t.Run(name, func(t *testing.T) {
			// A loss may end at any moment between two probes or within one.
			for lost := 100 * time.Millisecond; lost < 10*time.Second; lost += 700 * time.Millisecond {
				synctest.Test(t, func(t *testing.T) {
					s := newStore()
					n := newNode(s)
					go n.Run(t.Context())
					synctest.Wait()
					s.set(f)
					n.within(t, lost)
					s.set(faults{})
					n.within(t, 5*time.Second)
					if n.Down() {
						t.Errorf("lost for %v, five seconds after it was well: got still lost", lost)
					}
					n.want(t, errGone, nil)
				})
			}
		})
	}
}

func TestFailoverComesBackAfterALossSoonAfterALoss(t *testing.T) {
	for lost := 100 * time.Millisecond; lost < 10*time.Second; lost += 700 * time.Millisecond {
		synctest.Test(t, func(t *testing.T) {
			s := newStore()
			n := newNode(s)
			go n.Run(t.Context())
			synctest.Wait()
			for range 3 {
				s.set(faults{take: slow, ping: hang, watch: hang})
				n.within(t, lost)
				s.set(faults{})
				n.within(t, 5*time.Second)
				if n.Down() {
					t.Errorf("lost for %v, five seconds after it was well: got still lost", lost)
				}
			}
			n.want(t, errGone, nil, errGone)
			n.within(t, 10*time.Second)
			n.want(t, errGone, nil, errGone, nil)
		})
	}
}

func TestFailoverTellsAtOnceOfAReturnLongAfterALoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		n := newNode(s)
		go n.Run(t.Context())
		var want []error
		for range 3 {
			n.within(t, 15*time.Second)
			s.set(faults{take: gone})
			n.ask(t)
			s.set(faults{})
			time.Sleep(time.Second)
			want = append(want, errGone, nil)
			n.want(t, want...)
		}
	})
}

func TestFailoverProbesOneAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		n := newNode(s)
		go n.Run(t.Context())
		synctest.Wait()
		s.set(faults{take: gone, ping: slow, watch: slow})
		before := s.pings.Load()
		n.within(t, 55*time.Second)
		if got := s.pings.Load() - before; got < 95 || got > 105 {
			t.Errorf("probes of 50 ms each in 55 s: got %d, want one every 550 ms", got)
		}
		if got := s.overlaps.Load(); got != 0 {
			t.Errorf("probes that were not alone: got %d, want none", got)
		}
	})
}

// A store that fails every other call answers each probe sooner or later.
func TestFailoverTellsLittleOfAStoreThatFlaps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		n := newNode(s)
		go n.Run(t.Context())
		var calls atomic.Int64
		flap := func(context.Context) error {
			if calls.Add(1)%2 == 0 {
				return nil
			}
			return errGone
		}
		s.set(faults{take: flap, ping: flap})
		n.within(t, time.Hour)
		n.want(t, errGone, nil, errGone)
		s.set(faults{})
		n.within(t, 15*time.Second)
		n.want(t, errGone, nil, errGone, nil)
	})
}

// A store that answers probes but is too slow for requests costs few of them
// their time.
func TestFailoverAsksLittleOfAStoreThatOnlySeemsWell(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		n := newNode(s)
		go n.Run(t.Context())
		s.set(faults{take: slow})
		n.within(t, time.Minute)
		if got := s.takes.Load(); got > 20 {
			t.Errorf("requests that waited for the store in a minute: got %d, want at most 20", got)
		}
	})
}

func TestFailoverTellsOfAForeignKeyAgainAfterALoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		n := newNode(s)
		go n.Run(t.Context())
		synctest.Wait()
		for _, take := range []func(context.Context) error{foreign, gone, foreign} {
			s.set(faults{take: take, ping: take})
			n.within(t, time.Second)
		}
		n.want(t, ratelimit.ErrKey, errGone, nil, ratelimit.ErrKey)
	})
}

func TestFailoverRunEndsWithItsContext(t *testing.T) {
	for name, f := range map[string]faults{
		"well":             {},
		"lost":             {take: gone, ping: gone, watch: gone},
		"within a probe":   {ping: hang},
		"between watches":  {watch: gone},
		"before any watch": {ping: hang, watch: hang},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // which fails if a goroutine is left
				s := newStore()
				n := newNode(s)
				s.set(f)
				ctx, cancel := context.WithCancel(t.Context())
				time.AfterFunc(2*time.Second, cancel)
				begun := time.Now()
				n.Run(ctx)
				if got, want := time.Since(begun), 2*time.Second; got != want {
					t.Errorf("Run: got ended after %v, want %v", got, want)
				}
			})
		})
	}
}

func TestFailoverRunTellsNothingOfItsOwnEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		n := newNode(s)
		s.set(faults{watch: gone})
		ctx, cancel := context.WithTimeout(t.Context(), 9*time.Second)
		defer cancel()
		time.AfterFunc(time.Second, func() {
			// The second watch goes on until Run ends; no probe succeeds after that.
			s.set(faults{watch: hang, ping: func(ctx context.Context) error { return ctx.Err() }})
		})
		n.Run(ctx)
		n.Run(ctx)
		n.want(t)
		if n.Down() {
			t.Error("got the store lost, want it not blamed")
		}
	})
}

// TestFailoverTellsOneThingAtATime has a loss fall into what is told of a
// foreign key.
func TestFailoverTellsOneThingAtATime(t *testing.T) {
	s := newStore()
	s.set(faults{take: foreign, ping: gone, watch: gone})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var f *ratelimit.Failover
	var run sync.WaitGroup
	var telling, calls int
	f = ratelimit.NewFailover(s, ratelimit.NewMemory(1024), func(err error) {
		calls++
		if telling++; telling > 1 {
			t.Errorf("told %v while something else was being told", err)
		}
		if errors.Is(err, ratelimit.ErrKey) {
			run.Go(func() { f.Run(ctx) })
			for !f.Down() {
				runtime.Gosched()
			}
			for range 1000 {
				runtime.Gosched()
			}
		} else {
			cancel()
		}
		telling--
	})
	f.Take(ctx, ratelimit.Request{Key: figtree, Limit: delay}, time.Now())
	run.Wait()
	if calls != 2 {
		t.Errorf("told: got %d things, want two", calls)
	}
}
