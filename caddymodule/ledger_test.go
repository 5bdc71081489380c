package caddymodule

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-robots/caddy-robots/internal/compliance"
	"github.com/caddy-robots/caddy-robots/internal/enforce"
)

// noted returns what the ledger holds, a line for each robot.
func (th *testHandler) noted() string {
	var lines []string
	for _, site := range th.app.ledger.Snapshot(th.clock.now()).Sites {
		for _, robot := range site.Robots {
			line := strings.TrimSpace(fmt.Sprintf("%s %s %s %s %s:", site.Site, robot.Robot, robot.Class, robot.Standing, robot.Record))
			for v := range compliance.Banned + 1 {
				if count := robot.Of(v); count.Requests > 0 {
					line += fmt.Sprintf(" %d %s, %d refused;", count.Requests, v, count.Refused)
				}
			}
			if robot.Fetches > 0 {
				line += fmt.Sprintf(" %d readings", robot.Fetches)
			}
			lines = append(lines, strings.Join(strings.Fields(line), " "))
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

func TestNoted(t *testing.T) {
	const robotsTxt = "User-agent: CCBot\nCrawl-delay: 10\n\nUser-agent: curl\nDisallow: /private/\n\nUser-agent: *\nDisallow: /private/\n"
	for name, c := range map[string]struct {
		h    Handler
		asks string // a request a line: method, target, User-Agent
		want string
	}{
		"what is allowed":     {asks: "GET / " + gptBot, want: "site.example GPTBot robot *: 1 allowed, 0 refused;"},
		"what is refused":     {asks: "GET /private/ " + gptBot, want: "site.example GPTBot robot *: 1 disallowed, 1 refused;"},
		"what is too fast":    {asks: "GET / " + ccBot + "\nGET / " + ccBot, want: "site.example CCBot robot CCBot: 1 allowed, 0 refused; 1 too_fast, 1 refused;"},
		"what is observed":    {h: Handler{Observe: true}, asks: "GET /private/ " + gptBot, want: "site.example GPTBot robot *: 1 disallowed, 0 refused;"},
		"what is exempt":      {h: Handler{Exempt: []string{"203.0.113.0/24"}}, asks: "GET /private/ " + gptBot, want: "site.example GPTBot robot : 1 exempt, 0 refused;"},
		"a client of no name": {asks: "GET / ", want: "site.example unstated *: 1 allowed, 0 refused;"},
		"an app with a record": {
			asks: "GET / " + curl + "\nGET /robots.txt " + curl, want: "site.example curl app curl: 1 allowed, 0 refused; 1 readings",
		},
		"no app without one":              {asks: "GET / " + someApp + "\nGET /robots.txt " + someApp},
		"no browser":                      {asks: "GET / " + chrome + "\nGET /robots.txt " + chrome},
		"a browser that robots.txt binds": {h: Handler{Unnamed: "everyone"}, asks: "GET /private/ " + chrome, want: "site.example browser *: 1 disallowed, 1 refused;"},
		"a robot that is not bound":       {h: Handler{Unnamed: "nobody"}, asks: "GET /private/ " + gptBot, want: "site.example GPTBot robot : 1 allowed, 0 refused;"},
		"who reads robots.txt":            {asks: "GET /robots.txt " + gptBot, want: "site.example GPTBot robot *: 1 readings"},
		"also where it is served":         {h: Handler{Serve: true}, asks: "GET /robots.txt " + gptBot, want: "site.example GPTBot robot *: 1 readings"},
		"not who only asks if it is there": {
			asks: "HEAD /robots.txt " + gptBot,
		},
		"what follows a ban": {
			h: Handler{Ban: thrice()}, asks: strings.Repeat("GET /private/ "+gptBot+"\n", 4),
			want: "site.example GPTBot robot *: 3 disallowed, 3 refused; 1 banned, 1 refused;",
		},
		"who was caught in a trap": {
			h: Handler{Trap: []string{"/private/"}}, asks: "GET /private/ " + chrome + "\nGET /open " + chrome + "\nGET /private/ MadeUpBot/1.0",
			want: "site.example MadeUpBot robot *: 1 disallowed, 1 refused;\nsite.example trapped *: 1 allowed, 0 refused; 1 disallowed, 1 refused;",
		},
	} {
		t.Run(name, func(t *testing.T) {
			th := newTestHandler(t, robotsTxt, &c.h)
			for ask := range strings.Lines(c.asks) {
				method, rest, _ := strings.Cut(strings.TrimSuffix(ask, "\n"), " ")
				target, agent, _ := strings.Cut(rest, " ")
				th.ask(method, target, agent)
			}
			want := strings.ReplaceAll(c.want, " :", ":")
			if got := strings.ReplaceAll(th.noted(), " :", ":"); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// evidence returns the disobedient requests that are kept of the only robot there is.
func (th *testHandler) evidence(t *testing.T) []compliance.Evidence {
	t.Helper()
	sites := th.app.ledger.Snapshot(th.clock.now()).Sites
	if len(sites) != 1 || len(sites[0].Robots) != 1 {
		t.Fatalf("the ledger holds %+v, want one robot", sites)
	}
	return sites[0].Robots[0].Evidence
}

func TestEvidence(t *testing.T) {
	th := newTestHandler(t, "User-agent: *\nDisallow: /private/\n", &Handler{WholeQueries: true})
	th.ask("POST", "/private/a?b=c", gptBot)
	got := th.evidence(t)
	want := compliance.Evidence{
		Time: th.clock.now(), Method: "POST", Path: "/private/a?b=c", Status: 403, Verdict: enforce.Disallowed,
		Line: 2, Rule: "Disallow: /private/", Address: "203.0.113.0/24",
	}
	if len(got) != 1 || got[0] != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestEvidenceHoldsWholeAddressesWhereAsked(t *testing.T) {
	th := newTestHandler(t, closedAll, &Handler{WholeAddresses: true})
	th.ask("GET", "/", gptBot)
	if got := th.evidence(t)[0].Address; got != "203.0.113.7" {
		t.Errorf("got %s, want the whole address", got)
	}
}

// What a site did about a request that is only observed is known when it is done.
func TestEvidenceOfWhatIsObservedSaysWhatWasAnswered(t *testing.T) {
	for name, c := range map[string]struct {
		next caddyhttp.HandlerFunc
		want int
	}{
		"with a page": {func(w http.ResponseWriter, _ *http.Request) error { _, err := io.WriteString(w, "page"); return err }, 200},
		"elsewhere":   {func(w http.ResponseWriter, _ *http.Request) error { w.WriteHeader(301); return nil }, 301},
		"an error":    {func(http.ResponseWriter, *http.Request) error { return caddyhttp.Error(502, io.EOF) }, 502},
		"broken off":  {func(http.ResponseWriter, *http.Request) error { panic(http.ErrAbortHandler) }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			th := newTestHandler(t, closedAll, &Handler{Observe: true})
			func() {
				defer func() { _ = recover() }()
				_ = th.ServeHTTP(httptest.NewRecorder(), newRequest("GET", "/", gptBot), c.next)
			}()
			if got := th.evidence(t); len(got) != 1 || got[0].Status != c.want {
				t.Errorf("got %+v, want status %d", got, c.want)
			}
		})
	}
}

// A request that meets two handlers is one request, and what one of them finds against it
// counts.
func TestARequestIsNotedOnce(t *testing.T) {
	const open, closed = "User-agent: *\nDisallow:\n", "User-agent: *\nDisallow: /\n"
	for name, c := range map[string]struct {
		outer, inner string
		observe      bool
		want         string
	}{
		"allowed by both":            {open, open, false, "site.example GPTBot robot *: 1 allowed, 0 refused;"},
		"refused by the inner":       {open, closed, false, "site.example GPTBot robot *: 1 disallowed, 1 refused;"},
		"refused by the outer":       {closed, open, false, "site.example GPTBot robot *: 1 disallowed, 1 refused;"},
		"observed by the outer only": {closed, open, true, "site.example GPTBot robot *: 1 disallowed, 0 refused;"},
	} {
		t.Run(name, func(t *testing.T) {
			outer, inner := newTestHandler(t, c.outer, &Handler{Observe: c.observe}), newTestHandler(t, c.inner, &Handler{})
			next := caddyhttp.HandlerFunc(func(w http.ResponseWriter, r *http.Request) error { return inner.ServeHTTP(w, r, page) })
			if err := outer.ServeHTTP(httptest.NewRecorder(), newRequest("GET", "/", gptBot), next); err != nil {
				t.Fatal(err)
			}
			if got := outer.noted(); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

func TestAReadingBearsTheVersionThatIsInForce(t *testing.T) {
	th := newTestHandler(t, closedAll, &Handler{})
	th.ask("GET", "/robots.txt", gptBot)
	site := th.app.ledger.Snapshot(th.clock.now()).Sites[0]
	if want := th.policies.PolicyFor(t.Context(), "").Version; site.Robots[0].FetchedVersion != want || want == "" {
		t.Errorf("version that was read: got %q, want %q", site.Robots[0].FetchedVersion, want)
	}
}
