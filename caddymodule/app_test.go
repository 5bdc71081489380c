package caddymodule

import (
	"slices"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/caddy-robots/caddy-robots/internal/policies"
)

// newTestHandlerIn is newTestHandler in a config that has other handlers, too.
func newTestHandlerIn(t *testing.T, ctx caddy.Context, robotsTxt string, h *Handler) *testHandler {
	t.Helper()
	th := &testHandler{Handler: h, clock: newTestClock(time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC))}
	h.now, h.Sources = th.clock.now, []policies.Source{{Text: robotsTxt}}
	t.Cleanup(func() {
		if err := h.Cleanup(); err != nil {
			t.Error(err)
		}
	})
	if err := h.Provision(ctx); err != nil {
		t.Fatal(err)
	}
	core, logs := observer.New(zap.DebugLevel)
	th.logs, h.log = logs, sampled(zap.New(core))
	h.policies.PolicyFor(t.Context(), "")
	return th
}

// newSharingHandler is newTestHandler in a config that counts together with others.
func newSharingHandler(t *testing.T, share *Share, robotsTxt string, h *Handler) *testHandler {
	t.Helper()
	ctx := contextWithStorage(t)
	app, err := appOf(ctx)
	if err != nil {
		t.Fatal(err)
	}
	app.Share = share
	if err := app.joinFleet(); err != nil {
		t.Fatal(err)
	}
	return newTestHandlerIn(t, ctx, robotsTxt, h)
}

// nowhere is a Redis that is not there: no server listens at the port.
const nowhere = "redis://127.0.0.1:1"

func TestARequestDoesNotFailForARedisThatIsGone(t *testing.T) {
	th := newSharingHandler(t, &Share{URL: nowhere}, "User-agent: *\nCrawl-delay: 10\nDisallow: /private/\n", &Handler{Ban: thrice()})
	th.follow(t, []visit{
		{0, "/", gptBot, 200, 0}, {0, "/", gptBot, 429, 10}, {0, "/private/", gptBot, 403, 0}, {0, "/private/", gptBot, 403, 0},
		{0, "/", gptBot, 403, 3600}, {0, "/", chrome, 200, 0},
	})
}

func TestHandlersWithTheSameURLShareOneStore(t *testing.T) {
	one := newSharingHandler(t, &Share{URL: nowhere}, closedAll, &Handler{})
	two := newSharingHandler(t, &Share{URL: nowhere}, closedAll, &Handler{})
	other := newSharingHandler(t, &Share{URL: nowhere + "/1"}, closedAll, &Handler{})
	if one.engine.Limiter != two.engine.Limiter {
		t.Error("the same URL: got two stores, want one")
	}
	if one.engine.Limiter == other.engine.Limiter {
		t.Error("another database: got the same store, want another")
	}
}

// A request is not held longer for it that its Redis does not answer.
func TestHeldRequestsWithoutRedis(t *testing.T) {
	th := newSharingHandler(t, &Share{URL: nowhere}, "User-agent: *\nCrawl-delay: 10\n", &Handler{TooFast: "wait", MaxWait: 5e9})
	th.follow(t, []visit{{0, "/", gptBot, 200, 0}, {1 * time.Second, "/", gptBot, 429, 9}})
}

func TestTheNewestHandlerComesFirstUntilItLeaves(t *testing.T) {
	a := new(App)
	first, second, third := new(siteIndex), new(siteIndex), new(siteIndex)
	a.add(first)
	leave := a.add(second)
	a.add(third)
	leave()
	leave() // once more changes nothing
	if got := a.all(); len(got) != 2 || got[0] != third || got[1] != first {
		t.Errorf("got %v, want the third and the first", got)
	}
}

func TestAHandlerIsLiveFromProvisionToCleanup(t *testing.T) {
	th := newTestHandler(t, closedAll, &Handler{})
	if got := th.app.all(); len(got) != 1 || got[0] != th.observers.sites {
		t.Errorf("provisioned: got %v, want the handler", got)
	}
	if err := th.Handler.Cleanup(); err != nil {
		t.Fatal(err)
	}
	th.leave = nil
	if got := th.app.all(); len(got) != 0 {
		t.Errorf("gone: got %v, want none", got)
	}
}

func TestHandlersOfOneConfigShareItsRegistry(t *testing.T) {
	ctx := contextWithStorage(t)
	one, two := newTestHandlerIn(t, ctx, closedAll, &Handler{}), newTestHandlerIn(t, ctx, closedAll, &Handler{})
	if one.app != two.app {
		t.Error("got two apps, want one")
	}
	families, err := ctx.GetMetricsRegistry().Gather()
	if err != nil {
		t.Errorf("got error %v, want none", err)
	}
	for _, family := range families {
		if family.GetName() == "caddy_robots_bans" {
			return
		}
	}
	t.Error("the registry of the config lacks caddy_robots_bans")
}

func TestOfTwoHandlersOfASiteTheNewestIsShown(t *testing.T) {
	ctx := contextWithStorage(t)
	newTestHandlerIn(t, ctx, "User-agent: *\nDisallow: /a\n", &Handler{})
	newest := newTestHandlerIn(t, ctx, "User-agent: *\nDisallow: /a\nDisallow: /b\n", &Handler{})
	newest.begin(t)
	gather(t, newest.app).Expect(t, "caddy_robots_policy_rules", series{"site=*": 2})
}

// While Caddy changes from one config to the next, both show their own rules.
func TestDuringAReloadTheNewestRulesAreShown(t *testing.T) {
	before := newTestHandler(t, "User-agent: *\nDisallow: /a\n", &Handler{})
	before.begin(t)
	after := newTestHandler(t, "User-agent: *\nDisallow: /a\nDisallow: /b\n", &Handler{})
	gather(t, before.app).Expect(t, "caddy_robots_policy_rules", series{"site=*": 1}) // the other has not started
	after.begin(t)
	gather(t, after.app).Expect(t, "caddy_robots_policy_rules", series{"site=*": 2})
}

func TestWhatWaitsForTheStartIsCalledInItsOrder(t *testing.T) {
	var s started
	var called []int
	s.then(func() {
		s.then(func() { called = append(called, 3) }) // as a load that ends at this moment
		called = append(called, 1)
	})
	s.then(func() { called = append(called, 2) })
	if len(called) != 0 {
		t.Errorf("before the start: got %v, want nothing called", called)
	}
	if err := s.Handle(t.Context(), caddy.Event{}); err != nil {
		t.Fatal(err)
	}
	s.then(func() { called = append(called, 4) })
	if want := []int{1, 2, 3, 4}; !slices.Equal(called, want) {
		t.Errorf("got %v, want %v", called, want)
	}
}

func TestAConfigThatNeverStartsPilesUpNoMoreThanItsBound(t *testing.T) {
	var s started
	for range 2 * maxWaiting {
		s.then(func() {})
	}
	if got := len(s.waiting); got != maxWaiting {
		t.Errorf("got %d waiting, want %d", got, maxWaiting)
	}
}
