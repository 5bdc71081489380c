package caddymodule

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-robots/caddy-robots/internal/policies"
)

// changing is a site whose robots.txt is a list that the test changes.
type changing struct {
	*testHandler
	list *listServer
}

func newChanging(t *testing.T, robotsTxt string, h *Handler) *changing {
	t.Helper()
	list := newListServer(t, text(robotsTxt))
	h.Sources = []policies.Source{{URL: list.URL}}
	return &changing{newTestHandler(t, "", h), list}
}

// change has another robots.txt in force at once.
func (c *changing) change(t *testing.T, robotsTxt string) {
	t.Helper()
	c.list.set(text(robotsTxt))
	st, err := c.policies.Refresh(context.Background(), "")
	if err != nil || st.Policy.Rules.Text != robotsTxt {
		t.Fatalf("changed: got %q, %v", st.Policy.Rules.Text, err)
	}
}

// a day of grace.
func graceful() *Handler { return &Handler{Grace: caddy.Duration(24 * time.Hour)} }

func TestGraceIsForWhatTheTextBeforeAllowed(t *testing.T) {
	const open, closed = "User-agent: *\nDisallow:\n", "User-agent: *\nDisallow: /\n"
	for name, c := range map[string]struct {
		before, after string
		script        []visit // after the change
	}{
		"a page":            {open, closed, []visit{{0, "/", gptBot, 200, 0}}},
		"until it is over":  {open, closed, []visit{{86399 * second, "/", gptBot, 200, 0}, {second, "/", gptBot, 403, 0}}},
		"until it was read": {open, closed, []visit{{0, "/", gptBot, 200, 0}, {second, "/robots.txt", gptBot, 200, 0}, {0, "/", gptBot, 403, 0}}},
		"each robot's own":  {open, closed, []visit{{second, "/robots.txt", ccBot, 200, 0}, {0, "/", ccBot, 403, 0}, {0, "/", gptBot, 200, 0}}},
		"not what it disallowed as well": {
			"User-agent: *\nDisallow: /a\n", "User-agent: *\nDisallow: /a\nDisallow: /b\n",
			[]visit{{0, "/a", gptBot, 403, 0}, {0, "/b", gptBot, 200, 0}},
		},
		"never of what is allowed now": {closed, open, []visit{{0, "/", gptBot, 200, 0}}},
		"a pace": {
			open, "User-agent: *\nCrawl-delay: 10\n",
			[]visit{{0, "/", gptBot, 200, 0}, {0, "/", gptBot, 200, 0}, {second, "/robots.txt", gptBot, 200, 0}, {0, "/", gptBot, 200, 0}, {0, "/", gptBot, 429, 10}},
		},
		"the faster pace of two": {
			"User-agent: *\nCrawl-delay: 10\n", "User-agent: *\nCrawl-delay: 100\n",
			[]visit{{0, "/", gptBot, 200, 0}, {0, "/", gptBot, 429, 10}, {10 * second, "/", gptBot, 200, 0}},
		},
		"an hour of visits": {
			"User-agent: *\nVisit-time: 1100-1300\n", "User-agent: *\nVisit-time: 0100-0200\n",
			[]visit{{0, "/", gptBot, 200, 0}, {2 * 3600 * second, "/", gptBot, 429, 11*3600 - 1}},
		},
		"of a record of its own": {
			"User-agent: GPTBot\nDisallow:\n\nUser-agent: *\nDisallow: /\n", "User-agent: *\nDisallow: /\n",
			[]visit{{0, "/", gptBot, 200, 0}, {0, "/", ccBot, 403, 0}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			site := newChanging(t, c.before, graceful())
			site.ask("GET", "/robots.txt", gptBot)
			site.ask("GET", "/robots.txt", ccBot)
			site.clock.advance(time.Second)
			site.change(t, c.after)
			site.follow(t, c.script)
		})
	}
}

func TestWithoutGraceAChangeHoldsAtOnce(t *testing.T) {
	site := newChanging(t, "User-agent: *\nDisallow:\n", &Handler{})
	if got := site.ask("GET", "/", gptBot).Code; got != 200 {
		t.Fatalf("before the change: got %d, want 200", got)
	}
	site.change(t, closedAll)
	if got := site.ask("GET", "/", gptBot).Code; got != 403 {
		t.Errorf("after it: got %d, want 403", got)
	}
}

func TestTheFirstRulesOfASiteHaveNoGrace(t *testing.T) {
	th := newTestHandler(t, closedAll, graceful())
	if got := th.ask("GET", "/", gptBot).Code; got != 403 {
		t.Errorf("got %d, want 403", got)
	}
}

func TestWhatIsAllowedByGraceIsNotedAsAllowed(t *testing.T) {
	site := newChanging(t, "User-agent: *\nDisallow:\n", graceful())
	site.change(t, closedAll)
	site.ask("GET", "/", gptBot)
	if got := site.noted(); !strings.Contains(got, "1 allowed") || strings.Contains(got, "disallowed") {
		t.Errorf("got %q, want a request that is allowed", got)
	}
}

func TestGraceSurvivesAReload(t *testing.T) {
	site := newChanging(t, "User-agent: *\nDisallow:\n", graceful())
	site.change(t, closedAll)
	h := graceful()
	h.Sources = site.Sources
	after := newTestHandler(t, "", h)
	after.clock.advance(time.Minute)
	if got := after.ask("GET", "/", gptBot).Code; got != 200 {
		t.Errorf("got %d, want 200", got)
	}
	after.clock.advance(24 * time.Hour)
	if got := after.ask("GET", "/", gptBot).Code; got != 403 {
		t.Errorf("when it is over: got %d, want 403", got)
	}
}
