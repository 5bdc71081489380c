package caddymodule

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// visit is one request of a script: how long after the one before, what and by whom, and
// its answer. A zero retry is none.
type visit struct {
	after  time.Duration
	target string
	agent  string
	want   int
	retry  int
}

// follow plays a script.
func (th *testHandler) follow(t *testing.T, script []visit) {
	t.Helper()
	for i, v := range script {
		th.clock.advance(v.after)
		got := th.ask("GET", v.target, v.agent)
		retry := ""
		if v.retry > 0 {
			retry = fmt.Sprint(v.retry)
		}
		if got.Code != v.want || got.Header().Get("Retry-After") != retry {
			t.Errorf("request %d, %s by %.40q: got %d, Retry-After %q; want %d, %q",
				i+1, v.target, v.agent, got.Code, got.Header().Get("Retry-After"), v.want, retry)
		}
	}
}

const second = time.Second

func TestDefaultPace(t *testing.T) {
	const robotsTxt = "User-agent: CCBot\nCrawl-delay: 2\n\nUser-agent: *\nDisallow: /private/\n"
	for name, test := range map[string]struct {
		robotsTxt, unnamed string
		script             []visit
	}{
		"holds for a record that states none":       {robotsTxt, "", []visit{{0, "/", gptBot, 200, 0}, {1 * second, "/", gptBot, 429, 9}, {9 * second, "/", gptBot, 200, 0}}},
		"does not replace the pace of a record":     {robotsTxt, "", []visit{{0, "/", ccBot, 200, 0}, {2 * second, "/", ccBot, 200, 0}}},
		"holds for a robot that no record binds":    {"User-agent: CCBot\n", "", []visit{{0, "/", gptBot, 200, 0}, {0, "/", gptBot, 429, 10}}},
		"leaves an app alone that no record names":  {robotsTxt, "", []visit{{0, "/", curl, 200, 0}, {0, "/", curl, 200, 0}}},
		"leaves browsers alone":                     {robotsTxt, "", []visit{{0, "/", chrome, 200, 0}, {0, "/", chrome, 200, 0}}},
		"leaves those alone whom * does not bind":   {"User-agent: CCBot\n", "nobody", []visit{{0, "/", gptBot, 200, 0}, {0, "/", gptBot, 200, 0}}},
		"is not spent by what is disallowed anyway": {robotsTxt, "", []visit{{0, "/private/", gptBot, 403, 0}, {0, "/", gptBot, 200, 0}}},
	} {
		t.Run(name, func(t *testing.T) {
			newTestHandler(t, test.robotsTxt, &Handler{DefaultPace: "1/10s", Unnamed: test.unnamed}).follow(t, test.script)
		})
	}
}

func TestARefusalByTheDefaultPaceNamesIt(t *testing.T) {
	th := newTestHandler(t, "User-agent: *\nDisallow:\n", &Handler{DefaultPace: "1/10s"})
	th.ask("GET", "/", gptBot)
	body := th.ask("GET", "/", gptBot).Body.String()
	if !strings.Contains(body, "Because:    default_pace 1/10s\n") {
		t.Errorf("body: got\n%s\nwant the option that states the pace", body)
	}
}

func TestDisallowedPace(t *testing.T) {
	const robotsTxt = "User-agent: CCBot\nCrawl-delay: 100\nDisallow: /private/\n\nUser-agent: *\nDisallow: /private/\n"
	for name, script := range map[string][]visit{
		"serves at the rate":                    {{0, "/private/", gptBot, 200, 0}, {1 * second, "/private/", gptBot, 429, 9}, {9 * second, "/private/", gptBot, 200, 0}},
		"leaves what is allowed alone":          {{0, "/private/", gptBot, 200, 0}, {0, "/", gptBot, 200, 0}, {0, "/", gptBot, 200, 0}},
		"gives way to a slower record":          {{0, "/private/", ccBot, 200, 0}, {10 * second, "/private/", ccBot, 429, 90}},
		"has a budget of its own":               {{0, "/", ccBot, 200, 0}, {0, "/private/", ccBot, 200, 0}, {0, "/", ccBot, 429, 100}},
		"is a budget for each robot":            {{0, "/private/", gptBot, 200, 0}, {0, "/private/", ccBot, 200, 0}},
		"is nothing to people, least a refusal": {{0, "/private/", chrome, 200, 0}, {0, "/private/", chrome, 200, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			newTestHandler(t, robotsTxt, &Handler{Disallowed: "pace", DisallowedPace: "1/10s"}).follow(t, script)
		})
	}
}

func TestARefusalByTheDisallowedPaceNamesTheLine(t *testing.T) {
	th := newTestHandler(t, "User-agent: *\nDisallow: /private/\n", &Handler{Disallowed: "pace", DisallowedPace: "1/10s"})
	th.ask("GET", "/private/", gptBot)
	body := th.ask("GET", "/private/", gptBot).Body.String()
	for _, want := range []string{"429 Too Many Requests", "Line 2:     Disallow: /private/", "Pace:       disallowed pace 1/10s"} {
		if !strings.Contains(body, want) {
			t.Errorf("body lacks %q:\n%s", want, body)
		}
	}
	entries := th.logs.FilterMessage("robot refused").All()
	if len(entries) != 1 {
		t.Fatalf("refusals in the log: got %d, want 1", len(entries))
	}
	const reason = `too fast: disallowed by line 2 "Disallow: /private/" in the record for "*" (line 1), and such pages are served at "disallowed pace 1/10s"`
	if got := entries[0].ContextMap()["reason"]; got != reason {
		t.Errorf("reason: got\n%s\nwant\n%s", got, reason)
	}
}

// What is only watched must not take from what is enforced: an owner who ends observe begins
// with a clean slate.
func TestObserveKeepsBudgetsOfItsOwn(t *testing.T) {
	const robotsTxt = "User-agent: *\nCrawl-delay: 10\n"
	watching := newTestHandler(t, robotsTxt, &Handler{Observe: true})
	enforcing := newTestHandler(t, robotsTxt, &Handler{})
	watching.ask("GET", "/", gptBot)
	watching.ask("GET", "/", gptBot)
	if got := len(watching.logs.FilterMessage("robot observed, not refused").All()); got != 1 {
		t.Errorf("observed: got %d too fast, want 1", got)
	}
	enforcing.follow(t, []visit{{0, "/", gptBot, 200, 0}, {0, "/", gptBot, 429, 10}})
}
