package caddymodule

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/caddy-robots/caddy-robots/internal/metrics"
)

// statusOfAdmin returns what the admin API says of this Caddy.
func statusOfAdmin(t *testing.T, method, target string) (rec statusRecord) {
	t.Helper()
	code, body := admin(t, method, target)
	if err := json.Unmarshal([]byte(body), &rec); err != nil || code != 200 {
		t.Fatalf("%s %s: got %d %s, error %v", method, target, code, body, err)
	}
	return rec
}

func TestObserveIsSwitchedWhileRunning(t *testing.T) {
	th := newTestHandler(t, "User-agent: *\nDisallow: /private/\nCrawl-delay: 10\n", &Handler{Ban: thrice(), TooFast: "wait", MaxWait: 1e9})
	th.clock.advance(time.Since(th.clock.now())) // the API's clock is the real one
	for range 3 {
		th.ask("GET", "/private/", ccBot)
	}
	if got := th.ask("GET", "/", ccBot).Code; got != 403 {
		t.Fatalf("CCBot after three offences: got %d, want a ban", got)
	}

	if rec := statusOfAdmin(t, "POST", "/robots/observe?set=on"); !rec.Observe || rec.Directives != 1 || rec.Observing != 0 || rec.Bans != 1 {
		t.Errorf("switched on: got %+v", rec)
	}
	for range 5 { // more than make a ban, and at any pace
		if private, other := th.ask("GET", "/private/", gptBot).Code, th.ask("GET", "/", gptBot).Code; private != 200 || other != 200 {
			t.Fatalf("GPTBot while it is on: got %d and %d, want 200", private, other)
		}
	}
	if got := th.ask("GET", "/", ccBot).Code; got != 200 {
		t.Errorf("CCBot, banned before it was switched on: got %d, want 200", got)
	}
	said := th.logs.FilterMessage("robot observed, not refused").Len()
	if refused := th.logs.FilterMessage("robot refused").Len(); said < 5 || refused != 4 {
		t.Errorf("the log: got %d lines of observed and %d of refused, want at least 5 and the 4 of before", said, refused)
	}
	if th.logs.FilterMessage("robot observed, not banned").Len() != 1 || th.logs.FilterMessage("robot banned").Len() != 1 {
		t.Error("the log: want one ban of before, and one that is only observed")
	}

	if rec := statusOfAdmin(t, "POST", "/robots/observe?set=off"); rec.Observe {
		t.Errorf("switched off: got %+v", rec)
	}
	if private, other := th.ask("GET", "/private/", gptBot).Code, th.ask("GET", "/", gptBot).Code; private != 403 || other != 200 {
		t.Errorf("GPTBot after it: got %d and %d, want 403 and 200: nothing that was observed counts", private, other)
	}
	if got := th.ask("GET", "/", ccBot).Code; got != 403 {
		t.Errorf("CCBot after it: got %d, want the ban of before", got)
	}
}

// Another config has an app of its own, which does not know of the switch.
func TestASwitchedObserveEndsWithItsConfig(t *testing.T) {
	newTestHandler(t, closedAll, &Handler{})
	statusOfAdmin(t, "POST", "/robots/observe?set=on")
	if got := observingMetric(t); got != 1 {
		t.Errorf("caddy_robots_observing: got %v, want 1", got)
	}
	next := newTestHandler(t, closedAll, &Handler{})
	if rec := statusOfAdmin(t, "GET", "/robots/status"); rec.Observe {
		t.Errorf("after a reload: got %+v", rec)
	}
	if got := next.ask("GET", "/", gptBot).Code; got != 403 {
		t.Errorf("after a reload: got %d, want 403", got)
	}
	if got := observingMetric(t); got != 0 {
		t.Errorf("caddy_robots_observing after a reload: got %v, want 0", got)
	}
}

// observingMetric returns caddy_robots_observing.
func observingMetric(t *testing.T) float64 {
	t.Helper()
	app := lastApp.Load()
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(metrics.Collector{Counts: app.counts, State: app.metricsState})
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		if family.GetName() == "caddy_robots_observing" {
			return family.GetMetric()[0].GetGauge().GetValue()
		}
	}
	t.Fatal("there is no caddy_robots_observing")
	return 0
}

func TestTheStatusSaysHowThisCaddyIs(t *testing.T) {
	if rec := statusOfAdmin(t, "GET", "/robots/status"); rec.Directives != 0 || rec.Observe {
		t.Errorf("without a handler: got %+v", rec)
	}
	if code, body := admin(t, "POST", "/robots/observe?set=on"); code != 409 {
		t.Errorf("observe without a handler: got %d %s, want 409", code, body)
	}
	newTestHandler(t, closedAll, &Handler{Observe: true, Trap: []string{"/trap"}}).ask("GET", "/trap", chrome)
	rec := statusOfAdmin(t, "GET", "/robots/status")
	if rec.Directives != 1 || rec.Observing != 1 || rec.Observe || rec.Sites["loaded"] != 1 || len(rec.Shares) != 0 {
		t.Errorf("got %+v, want one site, which observes by its config", rec)
	}
}

// An observe that is switched costs an ordinary request nothing: there is no other way through the
// handler for browsers, and robots read one more word.
func TestTheSwitchAllocatesNothing(t *testing.T) {
	th := newTestHandler(t, "User-agent: *\nAllow: /\n", &Handler{})
	r := newRequest("GET", "/", gptBot)
	ask := func() float64 { return testing.AllocsPerRun(100, func() { th.do(r) }) }
	before := ask()
	statusOfAdmin(t, "POST", "/robots/observe?set=on")
	if after := ask(); after > before {
		t.Errorf("allocations of a request: got %v, before the switch %v", after, before)
	}
}
