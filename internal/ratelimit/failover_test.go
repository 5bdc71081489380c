package ratelimit_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/caddy-robots/caddy-robots/internal/ratelimit"
	"github.com/caddy-robots/caddy-robots/internal/ratelimit/limitertest"
)

func TestFailoverConforms(t *testing.T) {
	for name, fault := range map[string]func(context.Context) error{"well": nil, "lost": gone, "foreign": foreign} {
		t.Run(name, func(t *testing.T) {
			limitertest.Run(t, func(*testing.T) ratelimit.Limiter {
				s := newStore()
				s.set(faults{take: fault})
				return newNode(s)
			})
		})
	}
}

func TestFailoverSharesThePace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		one, other := newNode(s), newNode(s)
		if got := one.ask(t); got != 0 {
			t.Errorf("first request, on one node: got refused for %v", got)
		}
		if got, want := other.ask(t), 10*time.Second; got != want {
			t.Errorf("second request, on another node: got refused for %v, want %v", got, want)
		}
	})
}

func TestFailoverTellsOfALossOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		n := newNode(s)
		go n.Run(t.Context())
		synctest.Wait()
		s.set(faults{take: slow, ping: slow})
		for i := range 100 {
			go func() {
				time.Sleep(time.Duration(i) * time.Millisecond / 10)
				n.ask(t)
			}()
		}
		time.Sleep(time.Minute)
		n.want(t, errGone)
		s.set(faults{})
		time.Sleep(time.Minute)
		n.want(t, errGone, nil)
	})
}

func TestFailoverNobodyWaitsForALostStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		n := newNode(s)
		go n.Run(t.Context())
		synctest.Wait()
		s.set(faults{take: slow, ping: hang, watch: hang})
		n.ask(t)
		lost := time.Now()
		for range 1000 {
			n.ask(t)
		}
		if got := time.Since(lost); got != 0 {
			t.Errorf("1000 requests after the loss: got %v, want no time", got)
		}
		if got := s.takes.Load(); got != 1 {
			t.Errorf("requests put to the store: got %d, want the one that found it lost", got)
		}
	})
}

func TestFailoverKnowsTheDebtsOfALostStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		n := newNode(s)
		for i := range 3 {
			if got := n.ask(t); got != 0 {
				t.Fatalf("request %d, at the pace: got refused for %v", i, got)
			}
			time.Sleep(10 * time.Second)
		}
		n.ask(t)
		s.set(faults{take: gone})
		time.Sleep(time.Second)
		if got, want := n.ask(t), 9*time.Second; got != want {
			t.Errorf("one second after being served, store lost: got refused for %v, want %v", got, want)
		}
	})
}

func TestFailoverAnOffenceLeavesNoDebt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		n := newNode(s)
		n.take(t, t.Context(), ratelimit.Request{Key: figtree, Limit: delay, Offence: true})
		s.set(faults{take: gone})
		if got := n.ask(t); got != 0 {
			t.Errorf("first request but for an offence, store lost: got refused for %v", got)
		}
	})
}

func TestFailoverKnowsTheBansOfALostStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		one, other := newNode(s), newNode(s)
		r := ratelimit.Request{Key: figtree, Limit: delay, Ban: &trouble}
		offence := r
		offence.Offence = true
		if got := one.take(t, t.Context(), offence); !got.New {
			t.Fatalf("offence: got %+v, want a new ban", got)
		}
		if got := other.take(t, t.Context(), r); !got.Banned() {
			t.Fatalf("on another node: got %+v, want it banned", got)
		}
		s.set(faults{take: gone})
		for name, n := range map[string]*node{"one": one, "other": other} {
			if got := n.take(t, t.Context(), r); !got.Banned() || got.RetryAfter != time.Hour {
				t.Errorf("store lost, on node %s: got %+v, want it banned for an hour", name, got)
			}
		}
	})
}

func TestFailoverANewBanTakesThePlaceOfAnOldOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		n := newNode(s)
		n.local.Bans().Put(ratelimit.Ban{Key: figtree, Since: time.Now(), Until: time.Now().Add(time.Minute)})
		r := ratelimit.Request{Key: figtree, Ban: &trouble, Offence: true}
		n.take(t, t.Context(), r)
		s.set(faults{take: gone})
		if got, want := n.take(t, t.Context(), r).RetryAfter, time.Hour; got != want {
			t.Errorf("banned for an hour by the store, for a minute here: got %v, want %v", got, want)
		}
	})
}

func TestFailoverLiftsHereAndInTheStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		n := newNode(s)
		r := ratelimit.Request{Key: figtree, Ban: &trouble, Offence: true}
		ban := n.take(t, t.Context(), r).Ban
		if ban == nil || !n.banned() {
			t.Fatal("an offence brought no ban")
		}
		if err := n.Lift(t.Context(), *ban); err != nil {
			t.Errorf("Lift: %v", err)
		}
		if _, banned := s.memory.Bans().Find(figtree, "", time.Now()); banned || n.banned() {
			t.Errorf("after Lift: got banned %v in the store and %v here, want neither", banned, n.banned())
		}
	})
}

func TestFailoverLiftSaysThatTheStoreCouldNotBeTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		n := newNode(s)
		s.set(faults{take: gone, lift: gone})
		ban := n.take(t, t.Context(), ratelimit.Request{Key: figtree, Ban: &trouble, Offence: true}).Ban
		if ban == nil || !n.banned() {
			t.Fatal("an offence brought no ban")
		}
		if err := n.Lift(t.Context(), *ban); !errors.Is(err, errGone) {
			t.Errorf("Lift: got %v, want %v", err, errGone)
		}
		if n.banned() {
			t.Error("after Lift: still banned here")
		}
	})
}

func TestFailoverAForeignKeyIsNoLoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		n := newNode(s)
		s.set(faults{take: foreign})
		for i, want := range []time.Duration{0, 10 * time.Second} {
			if got := n.ask(t); got != want {
				t.Errorf("request %d: got refused for %v, want %v", i, got, want)
			}
		}
		if n.Down() || s.takes.Load() != 2 {
			t.Errorf("got down %v and %d requests put to the store, want a store that is asked each time", n.Down(), s.takes.Load())
		}
		n.want(t, ratelimit.ErrKey)
	})
}

func TestFailoverACallerThatLeavesIsNoLoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		n := newNode(s)
		s.set(faults{take: hang})
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		for i, want := range []time.Duration{0, 10*time.Second - time.Millisecond} {
			if got := n.take(t, ctx, ratelimit.Request{Key: figtree, Limit: delay}).RetryAfter; got != want {
				t.Errorf("request %d: got refused for %v, want %v", i, got, want)
			}
		}
		if n.Down() {
			t.Error("got the store lost, want it not blamed")
		}
		n.want(t)
	})
}

func TestFailoverDoesNotAllocate(t *testing.T) {
	policy := ratelimit.BanPolicy{Offences: 1, Within: time.Minute, For: 1 << 60}
	paced := ratelimit.Request{Key: figtree, Limit: delay, Ban: &policy}
	for name, c := range map[string]struct {
		fault func(context.Context) error
		first ratelimit.Request
	}{
		"well":   {nil, paced},
		"lost":   {gone, paced},
		"banned": {nil, ratelimit.Request{Key: figtree, Ban: &policy, Offence: true}},
	} {
		s := newStore()
		s.set(faults{take: c.fault})
		n := newNode(s)
		now := time.Now()
		n.Take(t.Context(), c.first, now)
		if got := testing.AllocsPerRun(100, func() {
			now = now.Add(10 * time.Second)
			n.Take(t.Context(), paced, now)
		}); got != 0 {
			t.Errorf("allocations of Take, %s: got %v, want none", name, got)
		}
	}
}

func BenchmarkFailover(b *testing.B) {
	for _, c := range []struct {
		name  string
		fault func(context.Context) error
	}{{"well", nil}, {"lost", gone}} {
		b.Run(c.name, func(b *testing.B) {
			s := newStore()
			s.set(faults{take: c.fault})
			n := newNode(s)
			r := ratelimit.Request{Key: figtree, Limit: delay}
			now := time.Now()
			b.ReportAllocs()
			for b.Loop() {
				n.Take(b.Context(), r, now)
			}
		})
	}
}
