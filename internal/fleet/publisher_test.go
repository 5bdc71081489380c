package fleet

import (
	"context"
	"errors"
	"io/fs"
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
	"github.com/caddy-robots/caddy-robots/internal/storage"
)

// memory is a storage.Store for one goroutine.
type memory map[string][]byte

func (m memory) Load(_ context.Context, key string) ([]byte, error) {
	if value, ok := m[key]; ok {
		return value, nil
	}
	return nil, fs.ErrNotExist
}

func (m memory) Store(_ context.Context, key string, value []byte) error {
	m[key] = value
	return nil
}

// brokenStore is a storage.Store that cannot be read.
type brokenStore struct{ memory }

func (brokenStore) Load(context.Context, string) ([]byte, error) {
	return nil, errors.New("input/output error")
}

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
	*Publisher
	keeper   *storage.Keeper
	revision atomic.Uint64
	log      *observer.ObservedLogs
	lost     atomic.Bool
	zap      *zap.Logger
}

func newTestNode(t *testing.T, name string, store storage.Store) *testNode {
	t.Helper()
	core, logs := observer.New(zap.DebugLevel)
	own := compliance.NewLedger(compliance.Options{})
	n := &testNode{log: logs, zap: zap.New(core)}
	n.keeper = &storage.Keeper{
		What: "figures", Key: func() string { return "robots/ledger" }, Every: 30 * time.Second,
		Revision: n.revision.Load, Now: time.Now,
		Encode: func() ([]byte, error) { return own.Marshal(), nil }, Decode: own.Unmarshal,
	}
	n.Publisher = &Publisher{
		Own: own, Complete: n.keeper.Complete, Revision: n.revision.Load,
		Name: func() (string, error) { return name, nil }, NameFile: "/data/instance.uuid",
	}
	n.keeper.Keep(store, n.zap)
	t.Cleanup(n.keeper.Close)
	return n
}

// join has the node join the fleet of a board, until the test ends or leave is called.
func (n *testNode) join(t *testing.T, b board) (m *member, leave func()) {
	t.Helper()
	m = &member{board: b, lost: n.lost.Load, log: func() *zap.Logger { return n.zap }}
	n.Publisher.join(m)
	leave = sync.OnceFunc(func() { n.Publisher.leave(m) })
	t.Cleanup(leave)
	return m, leave
}

// visit has robots come to the node.
func (n *testNode) visit(times int) {
	for range times {
		n.Own.Note(&compliance.Event{Time: time.Now(), Site: "site.example", Robot: "GPTBot", Class: "robot"})
		n.revision.Add(1)
	}
}

// expect fails the test unless so many requests to so many nodes are in the fleet's ledger.
func (n *testNode) expect(t *testing.T, what string, requests uint64, nodes int) {
	t.Helper()
	l, got, err := n.Ledger(t.Context())
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

func TestANodeThatStartsAgainIsNotCountedTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, disk := new(testBoard), memory{}
		before, other := newTestNode(t, "one", disk), newTestNode(t, "two", memory{})
		other.join(t, b)
		_, leave := before.join(t, b)
		before.visit(3)
		later(publishEvery)
		leave()
		before.keeper.Close()
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
		n := newTestNode(t, "one", brokenStore{memory{}})
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
			t.Errorf("published to two fleets: got %d and %d bytes, want the same memory", len(a), len(b))
		}
		n.expect(t, "both fleets", 1, 1)
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
					n.Name = c.node
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
