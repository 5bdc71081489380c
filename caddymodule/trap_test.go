package caddymodule

import (
	"crypto/tls"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-robots/caddy-robots/internal/enforce"
	"github.com/caddy-robots/caddy-robots/internal/policies"
)

const trapSite = "User-agent: *\nDisallow: /trap/\nDisallow: /private/\n\nUser-agent: GPTBot\nDisallow: /\n"

// visit asks as a client with an address, with extra headers "Name: value"; over TLS where the target
// begins so.
func (th *testHandler) visit(address, target, userAgent string, headers ...string) int {
	r := newRequest("GET", target, userAgent)
	if strings.HasPrefix(target, "https:") {
		r.TLS = &tls.ConnectionState{HandshakeComplete: true}
	}
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
		{"a library goes into it", person, "/trap/", curl, 200},
		{"and is bound by nothing", person, "/private/", curl, 200},
		{"so does an app", person, "/trap/", someApp, 200},
		{"and a service", person, "/trap/", "Stripe/1.0 (+https://stripe.com/docs/webhooks)", 200},
		{"and is bound by nothing either", person, "/private/", "Stripe/1.0 (+https://stripe.com/docs/webhooks)", 200},
		{"a robot by name stays that robot", robot, "/open", gptBot, 403},
		{"also in the trap", person, "/trap/", ccBot, 403},
		{"a client that states nothing goes into it", person, "/trap/", "", 403},
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

func TestWhatAPersonMayBeBehindIsNoTrap(t *testing.T) {
	th := newTestHandler(t, trapSite, &Handler{Trap: []string{"/trap/"}})
	const own = "Sec-Fetch-Site: same-origin"
	for _, headers := range [][]string{
		{own, "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document", "Sec-Fetch-User: ?1"},
		{"Sec-Fetch-Site: none", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document"},
		{"Sec-Fetch-Site: none"}, {"Sec-Fetch-Site: cross-site"}, {"Sec-Fetch-Site: same-site"},
		{own, "Sec-Fetch-Dest: image"}, {own, "Sec-Fetch-Dest: iframe"}, {own, "Sec-Fetch-Dest: empty"},
		{own, "Sec-Fetch-Mode: no-cors"}, {own, "Sec-Fetch-Mode: cors"},
		{own, "Sec-Purpose: prefetch"}, {own, "Sec-Purpose: prefetch;prerender"}, {own, "Purpose: prefetch"},
		{own, "X-Moz: prefetch"}, {own, "X-Purpose: preview"},
	} {
		for _, agent := range []string{chrome, ""} {
			if got := th.visit("198.51.100.1", "https://site.example/trap/", agent, headers...); got != 200 {
				t.Errorf("%s as %q: got %d, want 200", headers, agent, got)
			}
		}
	}
	for _, headers := range [][]string{
		{"Referer: https://other.example/"}, {"Referer: https://www.site.example/page"}, {"Referer: android-app://com.example.mail/"},
		{"Origin: null"}, {"Origin: https://other.example"},
		{"Accept: image/avif,image/webp,*/*;q=0.8"}, {"Accept: text/css,*/*;q=0.1"},
	} {
		if got := th.visit("198.51.100.1", "/trap/", chrome, headers...); got != 200 {
			t.Errorf("%s over plain HTTP: got %d, want 200", headers, got)
		}
		address := "2001:db8::" + strconv.Itoa(len(headers[0]))
		if got := th.visit(address, "https://site.example/trap/", chrome, headers...); got != 403 {
			t.Errorf("%s over TLS: got %d, want 403", headers, got)
		}
	}
	if got := th.visit("198.51.100.1", "/private/", chrome); got != 200 {
		t.Errorf("afterwards: got %d, want 200", got)
	}
}

func TestWhatNoPersonIsBehindIsTrapped(t *testing.T) {
	th := newTestHandler(t, trapSite, &Handler{Trap: []string{"/trap/"}})
	for i, headers := range [][]string{
		{},
		{"Sec-Fetch-Site: same-origin", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document"},
		{"Accept: */*"}, {"Accept: text/html,application/xhtml+xml"},
		{"Referer: http://site.example/page"}, {"Referer: http://SITE.example:8080/"}, {"Referer: /page"}, {"Referer: %"},
		{"Sec-GPC: 1", "DNT: 1"},
	} {
		address := "198.51.100." + strconv.Itoa(i)
		if got := th.visit(address, "http://site.example/trap/", chrome, headers...); got != 403 {
			t.Errorf("%s: got %d, want 403", headers, got)
		}
		if got := th.visit(address, "/private/", chrome); got != 403 {
			t.Errorf("%s, afterwards: got %d, want 403", headers, got)
		}
	}
}

func TestTheExemptAreNotTrapped(t *testing.T) {
	th := newTestHandler(t, trapSite, &Handler{Trap: []string{"/trap/"}, Exempt: []string{"198.51.100.0/24"}})
	for _, target := range []string{"/trap/", "/private/"} {
		if got := th.visit("198.51.100.1", target, chrome); got != 200 {
			t.Errorf("%s: got %d, want 200", target, got)
		}
	}
}

func TestWhoIsTrappedIsBoundByTheDefaultRecordAndNoMore(t *testing.T) {
	th := newTestHandler(t, trapSite, &Handler{
		Trap: []string{"/trap/"}, DefaultPace: "1/1h",
		Ban: &Ban{Offences: 2, Within: caddy.Duration(time.Hour), For: caddy.Duration(time.Hour)},
	})
	for _, agent := range []string{chrome, ""} {
		for range 5 {
			for _, step := range []struct {
				target string
				want   int
			}{{"/trap/", 403}, {"/private/", 403}, {"/open", 200}} {
				if got := th.visit("198.51.100.1", step.target, agent); got != step.want {
					t.Errorf("%s as %q: got %d, want %d", step.target, agent, got, step.want)
				}
			}
		}
	}
	if got := th.logs.FilterMessage("robot banned").Len(); got != 0 {
		t.Errorf("bans: got %d, want none", got)
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
	at := th.clock.now().UTC()
	for _, want := range []string{
		"does not allow a client caught in a trap to fetch this page.",
		"Taken for:  a client caught in a trap (robot)",
		`Which:      fetched "/trap/", where no link leads people, from this address with this User-Agent on ` + at.Format(http.TimeFormat) +
			"; it counts as a robot until " + at.Add(24*time.Hour).Format(http.TimeFormat),
	} {
		if !strings.Contains(body, want) {
			t.Errorf("body lacks %q:\n%s", want, body)
		}
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
