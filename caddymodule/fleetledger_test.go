package caddymodule

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/caddy-robots/caddy-robots/internal/compliance"
	"github.com/caddy-robots/caddy-robots/internal/ratelimit"
	"github.com/caddy-robots/caddy-robots/internal/ratelimit/redis"
)

// testBoard is a board in memory.
type testBoard struct {
	times atomic.Int32 // it was published to
	reads atomic.Int32 // it was read

	mu        sync.Mutex // guards the fields below
	published map[string][]byte
	err       error // of both
	hangs     bool  // until the context is done
}

func (b *testBoard) Publish(ctx context.Context, node string, data []byte, _ time.Duration) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.times.Add(1)
	if b.published == nil {
		b.published = make(map[string][]byte)
	}
	if b.err == nil || errors.Is(b.err, redis.ErrName) {
		b.published[node] = data
	}
	return b.err
}

func (b *testBoard) Published(ctx context.Context, except string, tell func(string, []byte, error)) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.reads.Add(1)
	if b.hangs {
		<-ctx.Done()
		return ctx.Err()
	}
	for node, data := range b.published {
		switch {
		case node == except:
		case data == nil:
			tell(node, nil, ratelimit.ErrKey)
		default:
			tell(node, data, nil)
		}
	}
	return b.err
}

// fail has all that follows end like this.
func (b *testBoard) fail(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.err = err
}

// testNode is one Caddy of a fleet, at noon and with what its storage has.
type testNode struct {
	*shared
	log  *observer.ObservedLogs
	lost atomic.Bool
	zap  *zap.Logger
}

func newTestNode(t *testing.T, name string, where storage) *testNode {
	t.Helper()
	core, logs := observer.New(zap.DebugLevel)
	n := &testNode{log: logs, zap: zap.New(core)}
	l := newLedger()
	l.key = func() string { return ledgerKey }
	n.shared = &shared{
		ledger: l, gathered: newGathered(),
		publisher: publisher{ledger: l, name: func() (string, error) { return name, nil }},
	}
	l.keep(where, n.zap)
	t.Cleanup(l.close)
	return n
}

// join has the node join the fleet of a board, until the test ends or leave is called.
func (n *testNode) join(t *testing.T, b board) (m *member, leave func()) {
	t.Helper()
	m = &member{board: b, lost: n.lost.Load, log: func() *zap.Logger { return n.zap }}
	n.publisher.join(m)
	leave = sync.OnceFunc(func() { n.publisher.leave(m) })
	t.Cleanup(leave)
	return m, leave
}

// visit has robots come to the node.
func (n *testNode) visit(times int) {
	for range times {
		n.ledger.note(&compliance.Event{Time: time.Now(), Site: "site.example", Robot: "GPTBot", Class: "robot"})
	}
}

// expect fails the test unless so many requests to so many nodes are in the fleet's ledger.
func (n *testNode) expect(t *testing.T, what string, requests uint64, nodes int) {
	t.Helper()
	l, got, err := n.fleetLedger(t.Context())
	if err != nil {
		t.Errorf("%s: %v", what, err)
	}
	if total := l.Snapshot(time.Now()).Total.Requests; total != requests || got != nodes {
		t.Errorf("%s: got %d requests to %d nodes, want %d to %d", what, total, got, requests, nodes)
	}
}

// later lets time pass.
func later(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func TestTheLedgerOfAFleetIsTheSumOfAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := new(testBoard)
		one, two, three := newTestNode(t, "one", memory{}), newTestNode(t, "two", memory{}), newTestNode(t, "three", memory{})
		for i, n := range []*testNode{one, two, three} {
			n.join(t, b)
			n.visit(i + 1)
		}
		later(publishEvery)
		for _, n := range []*testNode{one, two, three} {
			n.expect(t, "all", 6, 3)
		}
		two.visit(10)
		later(publishEvery)
		one.expect(t, "after more requests", 16, 3)
	})
}

func TestWithoutAFleetTheLedgerIsTheOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newTestNode(t, "one", memory{})
		if l, nodes, err := n.fleetLedger(t.Context()); l != n.ledger.Ledger || nodes != 1 || err != nil {
			t.Errorf("got %p of %d nodes, error %v, want this process's own, %p", l, nodes, err, n.ledger.Ledger)
		}
	})
}

func TestANodeThatStartsAgainIsNotCountedTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, disk := new(testBoard), memory{}
		before, other := newTestNode(t, "one", disk), newTestNode(t, "two", memory{})
		other.join(t, b)
		_, leave := before.join(t, b)
		before.visit(3)
		later(publishEvery)
		leave()
		before.ledger.close()
		after := newTestNode(t, "one", disk)
		after.join(t, b)
		after.visit(1)
		other.expect(t, "before it publishes", 3, 2)
		later(publishEvery)
		other.expect(t, "after it has published", 4, 2)
		after.expect(t, "the node itself", 4, 2)
	})
}

// A node whose storage cannot be read yet would replace what it had published by less.
func TestALedgerThatIsNotCompleteIsNotPublished(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := new(testBoard)
		n := newTestNode(t, "one", brokenStorage{memory{}})
		n.join(t, b)
		n.visit(1)
		later(time.Minute)
		if got := b.times.Load(); got != 0 {
			t.Errorf("published: got %d times, want never", got)
		}
		n.expect(t, "the node itself", 1, 1)
	})
}

func TestTheLastCountsOfANodeThatStopsStayVisible(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := new(testBoard)
		one, two := newTestNode(t, "one", memory{}), newTestNode(t, "two", memory{})
		two.join(t, b)
		_, leave := one.join(t, b)
		later(publishEvery)
		one.visit(5)
		leave()
		two.expect(t, "after the other has stopped", 5, 2)
	})
}

// A config may be checked, or refused, while another Caddy or config goes on.
func TestAFleetThatNeverWasHearsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := new(testBoard)
		n := newTestNode(t, "one", memory{})
		synctest.Wait()
		n.visit(1)
		_, leave := n.join(t, b)
		leave()
		if got := b.times.Load(); got != 0 {
			t.Errorf("published: got %d times, want never", got)
		}
	})
}

func TestALedgerIsPublishedWhenItHasChangedAndEveryHour(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := new(testBoard)
		n := newTestNode(t, "one", memory{})
		m, leave := n.join(t, b)
		want := func(what string, times int) {
			t.Helper()
			synctest.Wait()
			if int(b.times.Load()) != times {
				t.Errorf("%s: got published %d times, want %d", what, b.times.Load(), times)
			}
		}
		later(publishEvery)
		want("first", 1)
		later(renewEvery - publishEvery)
		want("nothing has changed", 1)
		later(publishEvery)
		want("nothing has changed for an hour", 2)
		n.visit(3)
		later(publishEvery)
		want("it has changed", 3)
		m.forgotten.Store(true)
		later(publishEvery)
		want("the store was lost", 4)
		n.visit(1)
		n.lost.Store(true)
		later(time.Minute)
		want("the store is lost", 4)
		n.lost.Store(false)
		b.fail(errors.New("full"))
		later(3 * publishEvery)
		want("it fails", 7)
		b.fail(nil)
		later(publishEvery)
		want("it is tried again", 8)
		m.forgotten.Store(true)
		b.fail(errors.New("lost again"))
		later(publishEvery)
		b.fail(nil)
		later(2 * publishEvery)
		want("nothing has changed, and it failed once", 10)
		leave()
		want("it stops, and nothing has changed", 10)
		later(time.Minute)
		want("it has stopped", 10)
	})
}

func TestOneChangeIsEncodedOnceForAllFleets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		boards := [2]testBoard{}
		n := newTestNode(t, "one", memory{})
		for i := range boards {
			n.join(t, &boards[i])
		}
		n.visit(1)
		later(publishEvery)
		a, b := boards[0].published["one"], boards[1].published["one"]
		if len(a) == 0 || len(b) == 0 || &a[0] != &b[0] {
			t.Errorf("published to two fleets: got %d and %d octets, want the same memory", len(a), len(b))
		}
		n.expect(t, "both fleets", 1, 1)
	})
}

func TestANodeOfTwoFleetsIsCountedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		boards := [2]testBoard{}
		one, two := newTestNode(t, "one", memory{}), newTestNode(t, "two", memory{})
		for i := range boards {
			one.join(t, &boards[i])
			two.join(t, &boards[i])
		}
		one.visit(2)
		two.visit(3)
		later(publishEvery)
		one.expect(t, "both fleets", 5, 2)
	})
}

func TestTheSumIsRememberedForAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := new(testBoard)
		one, two := newTestNode(t, "one", memory{}), newTestNode(t, "two", memory{})
		one.join(t, b)
		two.join(t, b)
		two.visit(1)
		later(publishEvery)
		var readers sync.WaitGroup
		for range 20 {
			readers.Go(func() { one.expect(t, "at once", 1, 2) })
		}
		readers.Wait()
		if got := b.reads.Load(); got != 1 {
			t.Errorf("reads for 20 reports: got %d, want 1", got)
		}
		later(rememberFleet)
		one.expect(t, "later", 1, 2)
		if got := b.reads.Load(); got != 2 {
			t.Errorf("reads after a while: got %d, want 2", got)
		}
	})
}

func TestAFleetWhoseStoreIsLostShowsThisCaddy(t *testing.T) {
	for name, lose := range map[string]func(*testNode, *testBoard){
		"lost":  func(n *testNode, _ *testBoard) { n.lost.Store(true) },
		"fails": func(_ *testNode, b *testBoard) { b.err, b.published = errors.New("refused"), nil },
		"hangs": func(_ *testNode, b *testBoard) { b.hangs = true },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := &testBoard{published: map[string][]byte{"two": compliance.NewLedger(compliance.Options{}).Marshal()}}
				n := newTestNode(t, "one", memory{})
				n.join(t, b)
				n.visit(2)
				lose(n, b)
				begun := time.Now()
				l, nodes, err := n.fleetLedger(t.Context())
				if l != n.ledger.Ledger || nodes != 1 || err == nil {
					t.Errorf("got %p of %d nodes, error %v, want the own ledger %p and an error", l, nodes, err, n.ledger.Ledger)
				}
				if took := time.Since(begun); took > gatherTime {
					t.Errorf("got that after %s, want it within %s", took, gatherTime)
				}
			})
		})
	}
}

func TestAReaderWhoLeavesDoesNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &testBoard{hangs: true}
		n := newTestNode(t, "one", memory{})
		n.join(t, b)
		go func() { _, _, _ = n.fleetLedger(context.Background()) }()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		begun := time.Now()
		if l, _, err := n.fleetLedger(ctx); l != n.ledger.Ledger || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got error %v, want that the time is over, with the own ledger", err)
		}
		if took := time.Since(begun); took != time.Second {
			t.Errorf("waited %s, want a second", took)
		}
		later(gatherTime + rememberFleet)
	})
}

func TestAPublishedLedgerThatCannotBeReadIsToldOnceAndLeftOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, other := newTestNode(t, "one", memory{}), newTestNode(t, "two", memory{})
		other.visit(4)
		b := &testBoard{published: map[string][]byte{
			"two": other.ledger.Marshal(), "broken": other.ledger.Marshal()[:40], "foreign": nil,
		}}
		n.join(t, b)
		n.visit(1)
		for range 3 {
			n.expect(t, "all that can be read", 5, 2)
			later(rememberFleet)
		}
		if got := n.log.FilterMessageSnippet("cannot be read; the report leaves it out").All(); len(got) != 2 {
			t.Errorf("log: got %v, want one line for each of two nodes", got)
		}
		b.published["broken"] = other.ledger.Marshal()
		n.expect(t, "after it was mended", 9, 3)
		later(rememberFleet)
		b.published["broken"] = []byte("again")
		n.expect(t, "broken again", 5, 2)
		if got := n.log.FilterMessageSnippet("cannot be read; the report leaves it out").Len(); got != 3 {
			t.Errorf("log lines after it was mended and broken again: got %d, want 3", got)
		}
	})
}

func TestWhatKeepsALedgerFromBeingPublishedIsToldOnce(t *testing.T) {
	for name, c := range map[string]struct {
		node func() (string, error)
		err  error
		want string
	}{
		"the store refuses it":   {nil, errors.New("NOPERM"), "cannot be shown to the fleet"},
		"another has its name":   {nil, redis.ErrName, "another Caddy has the name of this one"},
		"it has no lasting name": {func() (string, error) { return "", errors.New("read-only") }, nil, "cannot be shown to the fleet"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := &testBoard{err: c.err}
				n := newTestNode(t, "one", memory{})
				if c.node != nil {
					n.publisher.name = c.node
				}
				n.join(t, b)
				for range 5 {
					n.visit(1)
					later(publishEvery)
				}
				all := n.log.FilterLevelExact(zap.WarnLevel).All()
				if len(all) != 1 || !strings.Contains(all[0].Message, c.want) {
					t.Errorf("log: got %v, want one line that says %q", all, c.want)
				}
			})
		})
	}
}
