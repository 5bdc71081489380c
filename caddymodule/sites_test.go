package caddymodule

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-robots/caddy-robots/internal/metrics"
	"github.com/caddy-robots/caddy-robots/internal/policies"
	"github.com/caddy-robots/caddy-robots/internal/testutil"
)

type series = testutil.Samples

// gather returns what a registry that obeys all rules is told of the app.
func gather(t *testing.T, a *App) series {
	t.Helper()
	return testutil.Gather(t, metrics.Collector{Counts: a.counts, State: a.metricsState})
}

// begin is the moment at which Caddy has started all that is in its config.
func (th *testHandler) begin(t *testing.T) {
	t.Helper()
	if err := th.app.events.Start(); err != nil {
		t.Fatal(err)
	}
	th.app.events.Emit(th.app.ctx, startedEvent, nil)
}

func TestRequestsAreCountedByRobotAndVerdict(t *testing.T) {
	th := newTestHandler(t, "User-agent: GPTBot\nDisallow: /private/\nCrawl-delay: 3600\n\nUser-agent: *\nDisallow: /search\n",
		&Handler{Exempt: []string{"FriendBot"}})
	for _, request := range []string{
		"GET /private/ " + gptBot, "GET /private/ " + gptBot, "GET / " + gptBot, "GET / " + gptBot,
		"GET / " + ccBot, "GET / MadeUpBot/1.0", "GET /search OtherBot/1.0", "GET / FriendBot/1.0",
		"GET /robots.txt " + gptBot, "GET /robots.txt MadeUpBot/1.0", "HEAD /robots.txt " + gptBot,
		"GET / " + chrome, "GET / " + curl, "GET /robots.txt " + chrome,
	} {
		parts := strings.SplitN(request, " ", 3)
		th.ask(parts[0], parts[1], parts[2])
	}
	all := gather(t, th.app)
	all.Expect(t, "caddy_robots_requests_total", series{
		"outcome=refused robot=GPTBot site=* verdict=disallowed": 2, "outcome=passed robot=GPTBot site=* verdict=allowed": 1, "outcome=refused robot=GPTBot site=* verdict=too_fast": 1,
		"outcome=passed robot=CCBot site=* verdict=allowed": 1, "outcome=passed robot=other site=* verdict=allowed": 1, "outcome=refused robot=other site=* verdict=disallowed": 1,
		"outcome=passed robot=other site=* verdict=exempt": 1,
	})
	all.Expect(t, "caddy_robots_robots_txt_reads_total", series{"robot=GPTBot site=*": 1, "robot=other site=*": 1})
}

func TestAnImpostorIsNotCountedAsWhomItClaimsToBe(t *testing.T) {
	th := newTestHandler(t, "User-agent: Googlebot\nDisallow: /private/\n", &Handler{Verify: googleRanges()})
	for _, address := range []string{real, real, fake} {
		r := newRequest("GET", "/", googlebot)
		caddyhttp.SetVar(r.Context(), caddyhttp.ClientIPVarKey, address)
		th.do(r)
	}
	all := gather(t, th.app)
	all.Expect(t, "caddy_robots_requests_total", series{"outcome=passed robot=Googlebot site=* verdict=allowed": 2, "outcome=passed robot=impostor site=* verdict=allowed": 1})
	all.Expect(t, "caddy_robots_verifications_total", series{
		"result=verified robot=Googlebot": 2, "result=impostor robot=Googlebot": 1, "result=unverified robot=Googlebot": 0,
	})
}

func TestCountersOutliveAReload(t *testing.T) {
	first := newTestHandler(t, closedAll, &Handler{})
	first.ask("GET", "/", gptBot)
	second := newTestHandler(t, closedAll, &Handler{})
	if err := errors.Join(first.Handler.Cleanup(), first.app.Cleanup()); err != nil {
		t.Fatal(err)
	}
	first.leave, first.app.leave = nil, nil // it is gone
	second.ask("GET", "/", gptBot)
	gather(t, second.app).Expect(t, "caddy_robots_requests_total", series{"outcome=refused robot=GPTBot site=* verdict=disallowed": 2})
}

func write(tb testing.TB, folder, name, text string) string {
	tb.Helper()
	name = filepath.Join(folder, name)
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		tb.Fatal(err)
	}
	return name
}

// refresh has the handler load its robots.txt again.
func (th *testHandler) refresh(t *testing.T) policies.State {
	t.Helper()
	st, err := th.policies.Refresh(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	return st
}

func TestPolicyMetrics(t *testing.T) {
	const rules = "User-agent: *\nDisallow: /a\nDisallow: /b\nnonsense\n"
	name := write(t, t.TempDir(), "robots.txt", rules)
	th := newTestHandler(t, "", &Handler{Sources: []policies.Source{{File: name}}})
	th.begin(t)
	th.clock.advance(90 * time.Second)
	all := gather(t, th.app)
	all.Expect(t, "caddy_robots_policy_age_seconds", series{"site=*": 90})
	all.Expect(t, "caddy_robots_policy_rules", series{"site=*": 2})
	all.Expect(t, "caddy_robots_policy_diagnostics", series{
		"severity=info site=*": 0, "severity=warning site=*": 1, "severity=error site=*": 0,
	})
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	th.refresh(t)
	write(t, filepath.Dir(name), "robots.txt", rules)
	th.refresh(t)
	all = gather(t, th.app)
	all.Expect(t, "caddy_robots_policy_loads_total", series{"result=changed site=*": 1, "result=unchanged site=*": 1, "result=failed site=*": 1})
	all.Expect(t, "caddy_robots_policy_age_seconds", series{"site=*": 0})
}

func TestAPolicyThatNeverLoadedHasNoAge(t *testing.T) {
	th := newTestHandler(t, "", &Handler{Sources: []policies.Source{{File: t.TempDir() + "/missing"}}})
	th.begin(t)
	all := gather(t, th.app)
	all.Expect(t, "caddy_robots_policy_age_seconds", series{})
	all.Expect(t, "caddy_robots_policy_rules", series{"site=*": 0})
	all.Expect(t, "caddy_robots_policy_loads_total", series{"result=changed site=*": 0, "result=unchanged site=*": 0, "result=failed site=*": 1})
}

func TestBansAndCachesAreShown(t *testing.T) {
	th := newTestHandler(t, closedAll, &Handler{Ban: thrice()})
	th.Handler.now = time.Now
	for range 3 {
		th.ask("GET", "/", gptBot)
	}
	all := gather(t, th.app)
	for name, want := range map[string]float64{
		"caddy_robots_bans": 1, "caddy_robots_bans_total": 1, "caddy_robots_held_requests": 0,
		"caddy_robots_cache_entries cache=user_agents": 1, "caddy_robots_cache_entries cache=hosts": 1,
		"caddy_robots_cache_entries cache=ledger_rows": 1, "caddy_robots_cache_entries cache=trapped": 0,
	} {
		if got, ok := all[name]; !ok || got != want {
			t.Errorf("%s: got %v (%t), want %v", name, got, ok, want)
		}
	}
}

func TestALostShareIsDown(t *testing.T) {
	th := newSharingHandler(t, &Share{URL: "redis://:secret@127.0.0.1:1"}, "User-agent: *\nCrawl-delay: 1\n", &Handler{})
	th.ask("GET", "/", gptBot)
	gather(t, th.app).Expect(t, "caddy_robots_share_up", series{"share=127.0.0.1:1": 0})
}

// provisionedServer returns the server that a Caddyfile makes, and its handlers, the first
// site's first.
func provisionedServer(t *testing.T, caddyfile string) (*caddyhttp.Server, []*siteIndex) {
	t.Helper()
	adapted, _, err := caddyconfig.GetAdapter("caddyfile").Adapt([]byte(caddyfile), map[string]any{"filename": "Caddyfile"})
	if err != nil {
		t.Fatal(err)
	}
	cfg := config(t, adapted)
	cfg.StorageRaw = []byte(`{"module": "file_system", "root": "` + t.TempDir() + `"}`)
	ctx, err := caddy.ProvisionContext(cfg)
	if err != nil {
		t.Fatal(err)
	}
	robots, err := appOf(ctx)
	if err != nil {
		t.Fatal(err)
	}
	handlers := robots.all()
	slices.Reverse(handlers)
	t.Cleanup(func() {
		for _, h := range handlers {
			if err := h.handler.(*Handler).Cleanup(); err != nil {
				t.Error(err)
			}
		}
		if err := robots.Cleanup(); err != nil {
			t.Error(err)
		}
	})
	app, err := ctx.App("http")
	if err != nil {
		t.Fatal(err)
	}
	for _, server := range app.(*caddyhttp.App).Servers {
		return server, handlers
	}
	t.Fatal("the config has no server")
	return nil, nil
}

const severalSites = `{
	auto_https off
}
http://example.com:80, http://www.Example.com:80 {
	robots {
		source text "User-agent: *"
	}
}
http://*.wild.example:80, http://*.*.wild.example:80 {
	@shop host shop.wild.example
	handle @shop {
		robots
	}
	respond "others"
}
http://[2001:db8::1]:80 {
	robots
}
http://{$SITE_FROM_ENVIRONMENT:set.example}:80 {
	respond "no robots"
}
:80 {
	robots
}
`

func TestSitesAreNamedAsInTheConfig(t *testing.T) {
	server, handlers := provisionedServer(t, severalSites)
	sites := handlers[0].find(server)
	for host, want := range map[string]string{
		"example.com": "example.com", "www.example.com": "www.example.com", "shop.wild.example": "shop.wild.example",
		"any.wild.example": "*.wild.example", "a.b.wild.example": "*.*.wild.example", "set.example": "set.example",
		"[2001:db8::1]": "2001:db8::1", "made-up.example": "*", "a.b.c.wild.example": "*", "wild.example": "*",
		"": "*", "*": "*", "[": "*", "xexample.com": "*",
	} {
		if got := sites.Of(host).Name; got != want {
			t.Errorf("%q: got %q, want %q", host, got, want)
		}
	}
}

func TestAHandlerKnowsTheSitesItStandsIn(t *testing.T) {
	server, handlers := provisionedServer(t, severalSites)
	want := [][]string{{"example.com", "www.example.com"}, {"shop.wild.example"}, {"2001:db8::1"}, {"*"}}
	if len(handlers) != len(want) {
		t.Fatalf("got %d handlers, want %d", len(handlers), len(want))
	}
	var got [][]string
	for _, h := range handlers {
		var names []string
		h.find(server)
		for _, site := range h.own() {
			names = append(names, site.Name)
		}
		slices.Sort(names)
		got = append(got, names)
	}
	for _, names := range want {
		if !slices.ContainsFunc(got, func(g []string) bool { return slices.Equal(g, names) }) {
			t.Errorf("no handler stands in %q: got %q", names, got)
		}
	}
}

func TestARouteForAnyHostStandsInTheSiteAroundIt(t *testing.T) {
	server, handlers := provisionedServer(t, `{
	auto_https off
}
http://example.com:80 {
	handle /shop/* {
		robots
	}
}
`)
	handlers[0].find(server)
	own := handlers[0].own()
	if len(own) != 1 || own[0].Name != "example.com" {
		t.Errorf("got %d places, want just example.com", len(own))
	}
}
