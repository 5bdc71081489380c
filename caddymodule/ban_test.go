package caddymodule

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-robots/caddy-robots/internal/proof"
	"github.com/caddy-robots/caddy-robots/internal/storage"
)

// thrice bans with the third disobedient request in a minute, for an hour.
func thrice() *Ban {
	return &Ban{Offences: 3, Within: caddy.Duration(time.Minute), For: caddy.Duration(time.Hour)}
}

func TestBan(t *testing.T) {
	const robotsTxt = "User-agent: CCBot\nCrawl-delay: 10\n\nUser-agent: *\nDisallow: /private/\n"
	const hour = 3600
	for name, script := range map[string][]visit{
		"begins after so many": {
			{0, "/private/", gptBot, 403, 0}, {0, "/private/", gptBot, 403, 0}, {0, "/", gptBot, 200, 0},
			{0, "/private/", gptBot, 403, 0}, {0, "/", gptBot, 403, hour},
		},
		"ends": {
			{0, "/private/", gptBot, 403, 0}, {0, "/private/", gptBot, 403, 0}, {0, "/private/", gptBot, 403, 0},
			{hour*second - 1, "/", gptBot, 403, 1}, {1, "/", gptBot, 200, 0},
		},
		"does not grow with further requests": {
			{0, "/private/", gptBot, 403, 0}, {0, "/private/", gptBot, 403, 0}, {0, "/private/", gptBot, 403, 0},
			{hour / 2 * second, "/private/", gptBot, 403, hour / 2}, {0, "/", gptBot, 403, hour / 2},
		},
		"counts no offence that is long ago": {
			{0, "/private/", gptBot, 403, 0}, {0, "/private/", gptBot, 403, 0}, {61 * second, "/private/", gptBot, 403, 0}, {0, "/", gptBot, 200, 0},
		},
		"counts what is too fast": {
			{0, "/", ccBot, 200, 0}, {0, "/", ccBot, 429, 10}, {0, "/", ccBot, 429, 10}, {0, "/", ccBot, 429, 10}, {10 * second, "/", ccBot, 403, hour - 10},
		},
		"counts no request in its leeway": {
			{0, "/", ccBot, 200, 0}, {8 * second, "/", ccBot, 200, 0}, {8 * second, "/", ccBot, 200, 0}, {8 * second, "/", ccBot, 200, 0}, {10 * second, "/", ccBot, 200, 0},
		},
		"leaves /robots.txt": {
			{0, "/private/", gptBot, 403, 0}, {0, "/private/", gptBot, 403, 0}, {0, "/private/", gptBot, 403, 0}, {0, "/robots.txt", gptBot, 200, 0},
		},
		"is that robot's alone": {
			{0, "/private/", gptBot, 403, 0}, {0, "/private/", gptBot, 403, 0}, {0, "/private/", gptBot, 403, 0},
			{0, "/", ccBot, 200, 0}, {0, "/", chrome, 200, 0}, {0, "/", curl, 200, 0}, {0, "/", "", 200, 0},
		},
	} {
		t.Run(name, func(t *testing.T) {
			newTestHandler(t, robotsTxt, &Handler{Ban: thrice()}).follow(t, script)
		})
	}
}

func TestABanIsForTheAddressOfARobotThatIsNotVerified(t *testing.T) {
	th := newTestHandler(t, closedAll+"Allow: /open\n", &Handler{Ban: thrice()})
	for range 3 {
		th.ask("GET", "/", gptBot)
	}
	if got := th.ask("GET", "/open", gptBot).Code; got != 403 {
		t.Errorf("from the same address: got %d, want 403", got)
	}
	if got := th.visit("198.51.100.9", "/open", gptBot); got != 200 {
		t.Errorf("from another address: got %d, want 200: its name may have been taken", got)
	}
}

func TestABanIsForAVerifiedRobotAsAWhole(t *testing.T) {
	th := newTestHandler(t, closedAll+"Allow: /open\n", &Handler{
		Ban:    thrice(),
		Verify: &Verify{Claims: []proof.Claim{{Token: "GPTBot", Ranges: []string{"203.0.113.0/24"}}}},
	})
	for range 3 {
		th.ask("GET", "/", gptBot)
	}
	for address, want := range map[string]int{"203.0.113.99": 403, "198.51.100.9": 200} {
		if got := th.visit(address, "/open", gptBot); got != want {
			t.Errorf("from %s: got %d, want %d", address, got, want)
		}
	}
}

func TestImpostorsAreBanned(t *testing.T) {
	th := newTestHandler(t, "User-agent: *\nDisallow:\n", &Handler{
		Ban: thrice(), Impostors: "refuse",
		Verify: &Verify{Claims: []proof.Claim{{Token: "GPTBot", Ranges: []string{"198.51.100.0/24"}}}},
	})
	th.follow(t, []visit{{0, "/", gptBot, 403, 0}, {0, "/", gptBot, 403, 0}, {0, "/", gptBot, 403, 0}, {0, "/", gptBot, 403, 3600}})
}

// No browser is banned, not even where the owner has robots.txt bind it: others come from
// its address.
func TestNoBrowserIsEverBanned(t *testing.T) {
	th := newTestHandler(t, "User-agent: *\nDisallow: /private/\n", &Handler{Ban: thrice(), Unnamed: "everyone"})
	for range 5 {
		th.ask("GET", "/private/", chrome)
	}
	if got := th.ask("GET", "/", chrome).Code; got != 200 {
		t.Errorf("a page that is allowed: got %d, want 200", got)
	}
}

func TestABanIsOverForWhomNoRecordBindsAnyMore(t *testing.T) {
	th := newTestHandler(t, "User-agent: GPTBot\nDisallow: /\n", &Handler{Ban: thrice(), Unnamed: "nobody"})
	for range 3 {
		th.ask("GET", "/", gptBot)
	}
	other := newTestHandler(t, "User-agent: CCBot\nDisallow: /\n", &Handler{Ban: thrice(), Unnamed: "nobody"})
	if got := other.ask("GET", "/", gptBot).Code; got != 200 {
		t.Errorf("under rules that do not name it: got %d, want 200", got)
	}
}

func TestABanExplainsItself(t *testing.T) {
	th := newTestHandler(t, "User-agent: GPTBot\nComment: Write to us.\nDisallow: /private/\n", &Handler{Ban: thrice()})
	for range 3 {
		th.ask("GET", "/private/a", gptBot)
	}
	got := th.ask("GET", "/", gptBot)
	want := `403 Forbidden

GPTBot disobeyed the robots.txt of this site again and again, and is refused for a time.

Taken for:  GPTBot (robot)
Record:     User-agent: GPTBot (line 1)
Line 3:     Disallow: /private/
Come back:  in 3600 seconds, at Sun, 01 Nov 2026 13:00:00 GMT
Comment:    Write to us.
Rules:      /robots.txt
`
	if got.Body.String() != want {
		t.Errorf("body: got\n%s\nwant\n%s", got.Body, want)
	}
	entries := th.logs.FilterMessage("robot banned").All()
	if len(entries) != 1 {
		t.Fatalf("bans in the log: got %d, want 1", len(entries))
	}
	fields := entries[0].ContextMap()
	if fields["robot"] != "GPTBot" || fields["address"] != "203.0.113.7" || fields["line"] != int64(3) || fields["rule"] != "Disallow: /private/" {
		t.Errorf("log: got %v, want who and why", fields)
	}
}

func TestObserveBansNobody(t *testing.T) {
	th := newTestHandler(t, "User-agent: *\nDisallow: /private/\n", &Handler{Ban: thrice(), Observe: true})
	for range 4 {
		th.ask("GET", "/private/", gptBot)
	}
	if got := th.ask("GET", "/", gptBot).Code; got != 200 {
		t.Errorf("observed: got %d, want 200", got)
	}
	if got := len(th.logs.FilterMessage("robot observed, not banned").All()); got != 1 {
		t.Errorf("would-be bans in the log: got %d, want 1", got)
	}
	enforcing := newTestHandler(t, "User-agent: *\nDisallow: /private/\n", &Handler{Ban: thrice()})
	if got := enforcing.ask("GET", "/", gptBot).Code; got != 200 {
		t.Errorf("once observe has ended: got %d, want 200", got)
	}
}

func TestWhatIsOnlyObservedCountsTowardsNoBan(t *testing.T) {
	th := newTestHandler(t, "User-agent: *\nDisallow: /private/\n", &Handler{Ban: thrice(), Disallowed: "observe"})
	for range 5 {
		th.ask("GET", "/private/", gptBot)
	}
	if got := th.ask("GET", "/", gptBot).Code; got != 200 {
		t.Errorf("got %d, want 200", got)
	}
}

func TestTheAdminAPIListsAndLiftsBans(t *testing.T) {
	api := func(method, query string) (int, string) {
		rec := httptest.NewRecorder()
		err := testAPI().bans(rec, httptest.NewRequest(method, "/robots/bans"+query, nil))
		if apiErr, ok := err.(caddy.APIError); ok {
			return apiErr.HTTPStatus, apiErr.Message
		}
		return rec.Code, strings.TrimSpace(rec.Body.String())
	}
	if code, body := api("GET", ""); code != 200 || body != "[]" {
		t.Errorf("without a handler: got %d %s, want an empty list", code, body)
	}
	th := newTestHandler(t, "User-agent: *\nDisallow: /private/\n", &Handler{Ban: thrice()})
	th.clock.advance(time.Since(th.clock.now())) // the API's clock is the real one
	banned := func(agent string) bool { return th.ask("GET", "/", agent).Code == 403 }
	for range 3 {
		th.ask("GET", "/private/", gptBot)
		th.ask("GET", "/private/", ccBot)
	}
	_, body := api("GET", "?")
	var list []storage.BanRecord
	if err := json.Unmarshal([]byte(body), &list); err != nil || len(list) != 2 {
		t.Fatalf("list: got %s, error %v; want two bans", body, err)
	}
	for _, rec := range list {
		if rec.Site != "site.example" || rec.Address != "203.0.113.7" || rec.Line != 2 || rec.Rule != "Disallow: /private/" || rec.Until.Sub(rec.Since) != time.Hour {
			t.Errorf("list: got %+v, want who, why and until when", rec)
		}
	}
	if code, _ := api("DELETE", ""); code != http.StatusBadRequest {
		t.Errorf("lifting without saying whose: got %d, want 400", code)
	}
	if code, _ := api("DELETE", "?robot=gptbot&address=198.51.100.1"); code != http.StatusNotFound {
		t.Errorf("lifting a ban that is not: got %d, want 404", code)
	}
	if code, body := api("DELETE", "?robot=GPTBot&address=::ffff:203.0.113.7"); code != 200 || !strings.Contains(body, `"robot":"gptbot"`) {
		t.Errorf("lifting: got %d %s, want 200 and the ban", code, body)
	}
	if banned(gptBot) || !banned(ccBot) {
		t.Errorf("after one of two was lifted: GPTBot banned %t, CCBot banned %t", banned(gptBot), banned(ccBot))
	}
	if code, _ := api("DELETE", "?site=site.example"); code != 200 || banned(ccBot) {
		t.Errorf("lifting all of a site: got %d, CCBot banned %t", code, banned(ccBot))
	}
	if code, _ := api("POST", ""); code != http.StatusMethodNotAllowed {
		t.Errorf("POST: got %d, want 405", code)
	}
}
