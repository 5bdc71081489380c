package caddymodule

import (
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/caddyserver/caddy/v2"
)

// steps are how far a clock is set right, or wrong, at once.
var steps = map[string]time.Duration{"back": -5 * time.Hour, "ahead": 5 * time.Hour}

// expect sends a GET and compares the status.
func (th *testHandler) expect(t *testing.T, target, agent string, want int) *httptest.ResponseRecorder {
	t.Helper()
	rec := th.ask("GET", target, agent)
	if rec.Code != want {
		t.Errorf("GET %s at %s: got %d, want %d", target, th.clock.now().Format(time.TimeOnly), rec.Code, want)
	}
	return rec
}

func TestAHeldRequestIsServedThoughTheClockSteps(t *testing.T) {
	for name, step := range steps {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				th := waitingHandler(t, tenSeconds, 30*time.Second)
				var stepped atomic.Int64
				th.now = func() time.Time { return time.Now().Round(0).Add(time.Duration(stepped.Load())) }
				th.send(t.Context(), gptBot)
				late := th.send(t.Context(), gptBot)
				time.Sleep(time.Second)
				stepped.Store(int64(step))
				time.Sleep(time.Minute)
				synctest.Wait()
				// The clock that stepped back has it wait for one more interval.
				if late.code != 200 || late.after > 20*time.Second {
					t.Errorf("got %d after %s, want 200 within two intervals", late.code, late.after)
				}
				if n := th.app.queue.Len(); n != 0 {
					t.Errorf("requests that are held: got %d, want none", n)
				}
			})
		})
	}
}

func TestARobotIsRefusedForOneIntervalWhenTheClockStepsBack(t *testing.T) {
	th := newTestHandler(t, tenSeconds, &Handler{})
	th.expect(t, "/", gptBot, 200)
	th.clock.advance(steps["back"])
	th.expect(t, "/", gptBot, 429)
	th.clock.advance(10 * time.Second)
	th.expect(t, "/", gptBot, 200)
}

func TestABanIsNoLongerWhenTheClockStepsBack(t *testing.T) {
	th := newTestHandler(t, closedAll, &Handler{
		Ban: &Ban{Offences: 1, Within: caddy.Duration(time.Minute), For: caddy.Duration(time.Hour)},
	})
	isBanned := func() bool {
		return strings.Contains(th.expect(t, "/", gptBot, 403).Body.String(), "again and again")
	}
	isBanned() // by this request
	th.clock.advance(steps["back"])
	if !isBanned() {
		t.Error("the clock that stepped back has lifted the ban")
	}
	th.clock.advance(time.Hour)
	if isBanned() {
		t.Error("the ban goes on for longer than its hour")
	}
}

func TestVisitTimeGoesByTheClockAsItIs(t *testing.T) {
	th := newTestHandler(t, "User-agent: *\nVisit-time: 1100-1300\n", &Handler{})
	th.expect(t, "/", gptBot, 200) // at 12:00
	for name, step := range steps {
		th.clock.advance(step)
		if rec := th.expect(t, "/", gptBot, 429); rec.Header().Get("Retry-After") == "" {
			t.Errorf("%s: got no Retry-After", name)
		}
		th.clock.advance(-step)
		th.expect(t, "/", gptBot, 200)
	}
}

func TestTheAgeOfRulesIsNeverNegative(t *testing.T) {
	th := newTestHandler(t, closedAll, &Handler{})
	if err := th.app.started.Handle(t.Context(), caddy.Event{}); err != nil {
		t.Fatal(err)
	}
	th.clock.advance(steps["back"])
	figures := th.observers.sites.figures()
	if len(figures) == 0 {
		t.Fatal("no figures")
	}
	for site, f := range figures {
		if f.Age != 0 {
			t.Errorf("age of the rules of %s: got %s, want 0", site, f.Age)
		}
	}
}

func TestTheReportCountsOnWhenTheClockSteps(t *testing.T) {
	for name, step := range steps {
		t.Run(name, func(t *testing.T) {
			th := newTestHandler(t, closedAll, &Handler{})
			before := th.app.ledger.Snapshot(th.clock.now()).Total.Requests
			th.expect(t, "/", gptBot, 403)
			th.clock.advance(step)
			th.expect(t, "/", gptBot, 403)
			if got := th.app.ledger.Snapshot(th.clock.now()).Total.Requests - before; got != 2 {
				t.Errorf("requests: got %d, want 2", got)
			}
		})
	}
}
