package ratelimit_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/caddy-robots/caddy-robots/internal/ratelimit"
)

// These tests are of the watch on bans that Failover.Run keeps.

func TestFailoverLearnsOfBansElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		n := newNode(s)
		go n.Run(t.Context())
		ban := ratelimit.Ban{Key: figtree, Since: time.Now(), Until: time.Now().Add(time.Hour)}
		for _, lifted := range []bool{false, true} {
			s.events <- ratelimit.BanEvent{Ban: ban, Lifted: lifted}
			synctest.Wait()
			if got, want := n.banned(), !lifted; got != want {
				t.Errorf("banned here after an event with Lifted %v: got %v, want %v", lifted, got, want)
			}
		}
	})
}

func TestFailoverTellsOfALossWithoutRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		n := newNode(s)
		s.set(faults{watch: slow})
		go n.Run(t.Context())
		synctest.Wait()
		s.set(faults{watch: gone, ping: gone})
		time.Sleep(time.Second)
		n.want(t, errGone)
	})
}

func TestFailoverAWatchThatFailsIsNoLoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		n := newNode(s)
		s.set(faults{watch: gone})
		go n.Run(t.Context())
		n.within(t, time.Minute)
		n.want(t, ratelimit.ErrWatch)
		if n.Down() {
			t.Error("got the store lost, want it well")
		}
		if got := s.watches.Load(); got < 10 || got > 13 {
			t.Errorf("watches begun in a minute: got %d, want one every five seconds", got)
		}
	})
}

func TestFailoverOfALossTellsNothingOfTheWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		n := newNode(s)
		s.set(faults{watch: gone})
		go n.Run(t.Context())
		time.Sleep(time.Second)
		s.set(faults{watch: gone, ping: gone})
		time.Sleep(time.Minute)
		n.want(t, errGone)
	})
}

func TestFailoverAWatchMayEndNowAndThen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		n := newNode(s)
		s.set(faults{watch: func(context.Context) error { time.Sleep(time.Minute); return errGone }})
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		n.Run(ctx)
		n.want(t)
		if got := s.watches.Load(); got < 50 {
			t.Errorf("watches of a minute begun in an hour: got %d, want more than 50", got)
		}
	})
}

func TestFailoverAWatchThatEndsIsBegunAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		n := newNode(s)
		s.set(faults{watch: slow})
		go n.Run(t.Context())
		synctest.Wait()
		s.set(faults{})
		s.events <- ratelimit.BanEvent{Ban: ratelimit.Ban{Key: figtree, Since: time.Now(), Until: time.Now().Add(time.Hour)}}
		synctest.Wait()
		if !n.banned() {
			t.Error("after a ban elsewhere: got not banned here")
		}
		n.want(t)
	})
}

func TestFailoverWatchesAgainAfterALoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		n := newNode(s)
		go n.Run(t.Context())
		synctest.Wait()
		s.set(faults{take: gone})
		n.ask(t)
		s.set(faults{})
		n.within(t, time.Second)
		if n.Down() || s.watches.Load() != 2 {
			t.Errorf("after a loss: got down %v and %d watches begun, want a store that is back and its second watch", n.Down(), s.watches.Load())
		}
	})
}

// lateStore is a store whose first Watch ends, and tells, only when it is released.
type lateStore struct {
	*store
	release chan struct{}
}

func (s lateStore) Watch(ctx context.Context, tell func(ratelimit.BanEvent)) error {
	<-s.release
	tell(ratelimit.BanEvent{Ban: ratelimit.Ban{Key: figtree, Since: time.Now(), Until: time.Now().Add(time.Hour)}})
	return s.store.Watch(ctx, tell)
}

func TestFailoverDoesNotWaitForAWatchToEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := lateStore{newStore(), make(chan struct{})}
		n := newNode(s)
		ctx, cancel := context.WithCancel(t.Context())
		go n.Run(ctx)
		synctest.Wait()
		s.set(faults{take: gone})
		n.ask(t)
		s.set(faults{})
		time.Sleep(time.Second)
		n.want(t, errGone, nil)
		cancel()
		close(s.release)
		synctest.Wait()
		if n.banned() {
			t.Error("told of a ban by a watch that was over: got banned, want not")
		}
	})
}

func TestFailoverRunEndsAfterItsWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		n := newNode(s)
		s.set(faults{watch: func(ctx context.Context) error {
			<-ctx.Done()
			time.Sleep(time.Second)
			return ctx.Err()
		}})
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		begun := time.Now()
		n.Run(ctx)
		if got, want := time.Since(begun), 2*time.Second; got != want {
			t.Errorf("Run with a watch that ends after 2s: got ended after %v", got)
		}
	})
}
