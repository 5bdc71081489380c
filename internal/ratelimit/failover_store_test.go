package ratelimit_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/internal/ratelimit"
)

// errGone is what a store that is lost says.
var errGone = errors.New("connection refused")

// store is a Shared in this process, and fails as a test tells it to.
type store struct {
	memory *ratelimit.Memory
	events chan ratelimit.BanEvent // to be told of by Watch

	mu     sync.Mutex
	faults faults

	takes, pings, watches atomic.Int64
	probing, overlaps     atomic.Int64 // pings under way, and those that were not alone
}

// faults are what the methods of a store do; those that are nil do well.
type faults struct {
	take, ping, watch, lift func(context.Context) error
}

// gone fails at once, hang when the caller gives up, and slow after as long as
// a store with a bound of its own takes.
func gone(context.Context) error { return errGone }

func hang(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

func slow(context.Context) error {
	time.Sleep(50 * time.Millisecond)
	return errGone
}

// foreign finds somebody else's data.
func foreign(context.Context) error { return fmt.Errorf("robots:x: %w", ratelimit.ErrKey) }

func newStore() *store {
	return &store{memory: ratelimit.NewMemory(1024), events: make(chan ratelimit.BanEvent)}
}

// set has the store fail in this way from now on.
func (s *store) set(f faults) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = f
}

// fault runs the fault that pick picks.
func (s *store) fault(ctx context.Context, pick func(*faults) func(context.Context) error) error {
	s.mu.Lock()
	fault := pick(&s.faults)
	s.mu.Unlock()
	if fault == nil {
		return nil
	}
	return fault(ctx)
}

func (s *store) Take(ctx context.Context, r ratelimit.Request, now time.Time) (ratelimit.Result, error) {
	s.takes.Add(1)
	if err := s.fault(ctx, func(f *faults) func(context.Context) error { return f.take }); err != nil {
		return ratelimit.Result{}, err
	}
	return s.memory.Take(ctx, r, now)
}

func (s *store) Ping(ctx context.Context) error {
	s.pings.Add(1)
	if s.probing.Add(1) > 1 {
		s.overlaps.Add(1)
	}
	defer s.probing.Add(-1)
	return s.fault(ctx, func(f *faults) func(context.Context) error { return f.ping })
}

func (s *store) Lift(ctx context.Context, b ratelimit.Ban) error {
	if err := s.fault(ctx, func(f *faults) func(context.Context) error { return f.lift }); err != nil {
		return err
	}
	s.memory.Bans().Lift(b.Key, b.Address)
	return nil
}

func (s *store) Watch(ctx context.Context, tell func(ratelimit.BanEvent)) error {
	s.watches.Add(1)
	if err := s.fault(ctx, func(f *faults) func(context.Context) error { return f.watch }); err != nil {
		return err
	}
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case e := <-s.events:
			tell(e)
		}
	}
}

// news is what a Failover has told: nil stands for "back".
type news struct {
	mu   sync.Mutex
	told []error
}

func (n *news) tell(err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.told = append(n.told, err)
}

// want checks that exactly this was told, errors by errors.Is.
func (n *news) want(t *testing.T, want ...error) {
	t.Helper()
	n.mu.Lock()
	defer n.mu.Unlock()
	same := len(n.told) == len(want)
	for i := range min(len(n.told), len(want)) {
		same = same && errors.Is(n.told[i], want[i])
	}
	if !same {
		t.Errorf("told: got %v, want %v", n.told, want)
	}
}

// delay is the pace of the tests, and figtree the robot that keeps it or not.
var (
	delay   = ratelimit.PerPeriod(1, 10*time.Second)
	figtree = ratelimit.Key{Site: "one.example", Robot: "figtree"}
	trouble = ratelimit.BanPolicy{Offences: 1, Within: time.Minute, For: time.Hour}
)

// node is a Failover over a store, with what it told.
type node struct {
	*ratelimit.Failover
	news
	local *ratelimit.Memory
}

func newNode(s ratelimit.Shared) *node {
	n := &node{local: ratelimit.NewMemory(1024)}
	n.Failover = ratelimit.NewFailover(s, n.local, n.tell)
	return n
}

// ask puts one request of figtree, and returns for how long it is refused.
func (n *node) ask(t *testing.T) time.Duration {
	t.Helper()
	return n.take(t, t.Context(), ratelimit.Request{Key: figtree, Limit: delay}).RetryAfter
}

func (n *node) take(t *testing.T, ctx context.Context, r ratelimit.Request) ratelimit.Result {
	t.Helper()
	result, err := n.Take(ctx, r, time.Now())
	if err != nil {
		t.Errorf("Take: got error %v, want none", err)
	}
	return result
}

// banned reports whether figtree is banned as far as this node knows by itself.
func (n *node) banned() bool {
	_, banned := n.local.Bans().Find(figtree, "", time.Now())
	return banned
}
