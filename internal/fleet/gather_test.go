package fleet

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/caddy-robots/caddy-robots/internal/compliance"
)

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
		if l, nodes, err := n.Ledger(t.Context()); l != n.Own || nodes != 1 || err != nil {
			t.Errorf("got %p of %d nodes, error %v, want this process's own, %p", l, nodes, err, n.Own)
		}
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
		later(rememberSum)
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
				l, nodes, err := n.Ledger(t.Context())
				if l != n.Own || nodes != 1 || err == nil {
					t.Errorf("got %p of %d nodes, error %v, want the own ledger %p and an error", l, nodes, err, n.Own)
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
		go func() { _, _, _ = n.Ledger(context.Background()) }()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		begun := time.Now()
		if l, _, err := n.Ledger(ctx); l != n.Own || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got error %v, want that the time is over, with the own ledger", err)
		}
		if took := time.Since(begun); took != time.Second {
			t.Errorf("waited %s, want a second", took)
		}
		later(gatherTime + rememberSum)
	})
}

func TestAPublishedLedgerThatCannotBeReadIsToldOnceAndLeftOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, other := newTestNode(t, "one", memory{}), newTestNode(t, "two", memory{})
		other.visit(4)
		b := &testBoard{published: map[string][]byte{
			"two": other.Own.Marshal(), "broken": other.Own.Marshal()[:40], "foreign": nil,
		}}
		n.join(t, b)
		n.visit(1)
		for range 3 {
			n.expect(t, "all that can be read", 5, 2)
			later(rememberSum)
		}
		if got := n.log.FilterMessageSnippet("cannot be read; the report leaves it out").All(); len(got) != 2 {
			t.Errorf("log: got %v, want one line for each of two nodes", got)
		}
		b.published["broken"] = other.Own.Marshal()
		n.expect(t, "after it was mended", 9, 3)
		later(rememberSum)
		b.published["broken"] = []byte("again")
		n.expect(t, "broken again", 5, 2)
		if got := n.log.FilterMessageSnippet("cannot be read; the report leaves it out").Len(); got != 3 {
			t.Errorf("log lines after it was mended and broken again: got %d, want 3", got)
		}
	})
}
