package caddymodule

import (
	"encoding/json"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-robots/caddy-robots/internal/enforce"
	"github.com/caddy-robots/caddy-robots/internal/policies"
)

const trapSite = "User-agent: *\nDisallow: /trap/\nDisallow: /private/\n\nUser-agent: GPTBot\nDisallow: /\n"

// visit asks as a client with an address, with extra headers "Name: value".
func (th *testHandler) visit(address, target, userAgent string, headers ...string) int {
	r := newRequest("GET", target, userAgent)
	caddyhttp.SetVar(r.Context(), caddyhttp.ClientIPVarKey, address)
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ": ")
		r.Header.Set(name, value)
	}
	return th.do(r).Code
}

func TestARobotThatCallsItselfABrowserIsTrapped(t *testing.T) {
	th := newTestHandler(t, trapSite, &Handler{Trap: []string{"/trap/"}})
	const robot, person = "198.51.100.1", "198.51.100.2"
	for _, step := range []struct {
		what, address, target, agent string
		want                         int
	}{
		{"before, anything", robot, "/private/", chrome, 200},
		{"into the trap, however it is spelt", robot, "/a/..//trap/x?y", chrome, 403},
		{"from then on, bound by *", robot, "/private/", chrome, 403},
		{"and no more than that", robot, "/open", chrome, 200},
		{"another address", person, "/private/", chrome, 200},
		{"another browser at the same address", robot, "/private/", chrome + " Edg/142.0.0.0", 200},
		{"another path that begins like it", person, "/trap", chrome, 200},
		{"an app goes into it", person, "/trap/", curl, 403},
		{"and is bound too", person, "/private/", curl, 403},
		{"a robot by name stays that robot", robot, "/open", gptBot, 403},
	} {
		if got := th.visit(step.address, step.target, step.agent); got != step.want {
			t.Errorf("%s: got %d, want %d", step.what, got, step.want)
		}
	}
	if got := th.logs.FilterMessage("robot trapped").Len(); got != 2 {
		t.Errorf("log lines with the evidence: got %d, want 2", got)
	}
}

func TestTheTrapLetsGoWhenItsTimeIsOver(t *testing.T) {
	th := newTestHandler(t, trapSite, &Handler{Trap: []string{"/trap/"}, TrapFor: 3600e9})
	th.visit("198.51.100.1", "/trap/", chrome)
	for _, step := range []struct {
		after time.Duration
		want  int
	}{{0, 403}, {time.Hour - 1, 403}, {1, 200}} {
		th.clock.advance(step.after)
		if got := th.visit("198.51.100.1", "/private/", chrome); got != step.want {
			t.Errorf("%s later: got %d, want %d", step.after, got, step.want)
		}
	}
}

func TestABrowserThatFetchesAheadIsNotTrapped(t *testing.T) {
	th := newTestHandler(t, trapSite, &Handler{Trap: []string{"/trap/"}})
	for _, header := range []string{
		"Sec-Purpose: prefetch", "Sec-Purpose: prefetch;prerender", "Purpose: prefetch", "X-Moz: prefetch", "X-Purpose: preview",
	} {
		if got := th.visit("198.51.100.1", "/trap/", chrome, header); got != 200 {
			t.Errorf("%s: got %d, want 200", header, got)
		}
	}
	if got := th.visit("198.51.100.1", "/private/", chrome); got != 200 {
		t.Errorf("afterwards: got %d, want 200", got)
	}
}

func TestAPathThatRobotsTxtAllowsIsNoTrap(t *testing.T) {
	name := filepath.Join(t.TempDir(), "robots.txt")
	if err := os.WriteFile(name, []byte("User-agent: *\nDisallow: /private/\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	th := newTestHandler(t, "", &Handler{Trap: []string{"/trap/"}, Sources: []policies.Source{{File: name}}})
	for _, target := range []string{"/trap/", "/private/"} {
		if got := th.visit("198.51.100.1", target, chrome); got != 200 {
			t.Errorf("%s: got %d, want 200", target, got)
		}
	}
}

func TestTrappedClientsArePacedByAddress(t *testing.T) {
	th := newTestHandler(t, trapSite[:strings.Index(trapSite, "\n\n")]+"\nCrawl-delay: 10\n", &Handler{Trap: []string{"/trap/"}})
	for _, step := range []struct {
		address, target string
		want            int
	}{
		{"198.51.100.1", "/trap/", 403}, {"198.51.100.2", "/trap/", 403},
		{"198.51.100.1", "/open", 200}, {"198.51.100.2", "/open", 200}, {"198.51.100.1", "/open", 429},
	} {
		if got := th.visit(step.address, step.target, chrome); got != step.want {
			t.Errorf("%s %s: got %d, want %d", step.address, step.target, got, step.want)
		}
	}
}

func TestATrappedClientIsToldWhy(t *testing.T) {
	th := newTestHandler(t, trapSite, &Handler{Trap: []string{"/trap/"}})
	r := newRequest("GET", "/trap/", chrome)
	body := th.do(r).Body.String()
	if want := "Taken for:  a robot that fetched a page no person is led to (robot)"; !strings.Contains(body, want) {
		t.Errorf("body lacks %q:\n%s", want, body)
	}
}

func TestTrappedClientsSurviveAReloadOfTheConfig(t *testing.T) {
	before := newTestHandler(t, trapSite, &Handler{Trap: []string{"/trap/"}})
	before.visit("198.51.100.1", "/trap/", chrome)
	after := newTestHandler(t, trapSite, &Handler{Trap: []string{"/trap/"}})
	if got := after.visit("198.51.100.1", "/private/", chrome); got != 403 {
		t.Errorf("got %d, want 403", got)
	}
}

func TestTheAdminAPIListsAndReleasesTrappedClients(t *testing.T) {
	api := func(method, query string) (int, string) {
		rec := httptest.NewRecorder()
		err := testAPI().trapped(rec, httptest.NewRequest(method, "/robots/trapped"+query, nil))
		if apiErr, ok := err.(caddy.APIError); ok {
			return apiErr.HTTPStatus, apiErr.Message
		}
		return rec.Code, strings.TrimSpace(rec.Body.String())
	}
	if code, body := api("GET", ""); code != 200 || body != "[]" {
		t.Errorf("without a handler: got %d %s, want an empty list", code, body)
	}
	th := newTestHandler(t, trapSite, &Handler{Trap: []string{"/trap/"}})
	th.clock.advance(time.Since(th.clock.now()))
	th.visit("198.51.100.1", "/trap/x", chrome)
	var list []enforce.Capture
	_, body := api("GET", "")
	if err := json.Unmarshal([]byte(body), &list); err != nil {
		t.Fatal(err)
	}
	if len(list) != 1 || list[0].Address != "198.51.100.1" || list[0].Path != "/trap/x" || list[0].UserAgent != chrome || list[0].Host != "site.example" {
		t.Errorf("list: got %+v", list)
	}
	for _, test := range []struct {
		method, query string
		want          int
	}{{"DELETE", "", 400}, {"DELETE", "?address=198.51.100.2", 404}, {"POST", "", 405}, {"DELETE", "?address=[::ffff:198.51.100.1]", 204}, {"DELETE", "?address=198.51.100.1", 404}} {
		if got, _ := api(test.method, test.query); got != test.want {
			t.Errorf("%s %s: got %d, want %d", test.method, test.query, got, test.want)
		}
	}
	if got := th.visit("198.51.100.1", "/private/", chrome); got != 200 {
		t.Errorf("released: got %d, want 200", got)
	}
}

func TestTreatAsRobot(t *testing.T) {
	const hidden = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36 Probely/1.0"
	th := newTestHandler(t, "User-agent: *\nDisallow: /private/\n\nUser-agent: Probely\nDisallow: /\n", &Handler{TreatAsRobot: []string{"probely", "ExampleReader"}})
	for _, test := range []struct {
		agent, target string
		want          int
	}{
		{hidden, "/open", 403}, {hidden, "/open", 403}, {someApp, "/private/", 403}, {someApp, "/open", 200}, {chrome, "/private/", 200}, {curl, "/private/", 200},
	} {
		if got := th.ask("GET", test.target, test.agent).Code; got != test.want {
			t.Errorf("%s as %q: got %d, want %d", test.target, test.agent, got, test.want)
		}
	}
}
