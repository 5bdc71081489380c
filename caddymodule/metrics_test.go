package caddymodule

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/caddy-robots/caddy-robots/crawler"
	"github.com/caddy-robots/caddy-robots/internal/enforce"
)

// series are samples by name and labels, as in `caddy_robots_policy_rules site=*`.
type series map[string]float64

// gather returns what a registry that obeys all rules is told of sh.
func gather(t *testing.T, sh *shared) series {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	if err := sh.register(registry); err != nil {
		t.Fatal(err)
	}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	all := make(series)
	for _, family := range families {
		for _, m := range family.GetMetric() {
			name := family.GetName()
			for _, l := range m.GetLabel() {
				name += " " + l.GetName() + "=" + l.GetValue()
			}
			all[name] = m.GetCounter().GetValue() + m.GetGauge().GetValue()
		}
	}
	return all
}

// of returns those of one metric.
func (s series) of(name string) series {
	some := make(series)
	for key, value := range s {
		if found, labels, _ := strings.Cut(key, " "); found == name {
			some[labels] = value
		}
	}
	return some
}

// expect fails the test unless a metric has just these samples.
func (s series) expect(t *testing.T, name string, want series) {
	t.Helper()
	if got := fmt.Sprint(s.of(name)); got != fmt.Sprint(want) {
		t.Errorf("%s: got %s, want %v", name, got, want)
	}
}

// begin is the moment at which Caddy has started all that is in its config.
func (th *testHandler) begin(t *testing.T) {
	t.Helper()
	if err := th.watched.events.app.Start(); err != nil {
		t.Fatal(err)
	}
	th.watched.events.app.Emit(th.watched.events.ctx, startedEvent, nil)
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
	all := gather(t, th.shared)
	all.expect(t, "caddy_robots_requests_total", series{
		"robot=GPTBot site=* verdict=disallowed": 2, "robot=GPTBot site=* verdict=allowed": 1, "robot=GPTBot site=* verdict=too_fast": 1,
		"robot=CCBot site=* verdict=allowed": 1, "robot=other site=* verdict=allowed": 1, "robot=other site=* verdict=disallowed": 1,
		"robot=other site=* verdict=exempt": 1,
	})
	all.expect(t, "caddy_robots_robots_txt_reads_total", series{"robot=GPTBot site=*": 1, "robot=other site=*": 1})
}

func TestAsWhomARobotIsCounted(t *testing.T) {
	for _, test := range []struct{ name, agent, token, want string }{
		{"the record that names it", "ExampleBot/1.0", "ExampleBot", "ExampleBot"},
		{"the record's token, not its own name", "ExampleBot/1.0", "example", "example"},
		{"a well-known token as its robot spells it", gptBot, "gptbot", "GPTBot"},
		{"its well-known name, bound by *", gptBot, "*", "GPTBot"},
		{"its well-known name, bound by nothing", gptBot, "", "GPTBot"},
		{"a stranger", "ExampleBot/1.0", "*", "other"},
		{"a robot without a name", "\xff bot", "*", "other"},
		{"a library that a record names", curl, "curl", "curl"},
		{"a library", curl, "*", "app"},
		{"a client that states nothing", "", "*", "unstated"},
		{"a browser, where all are bound", chrome, "*", "browser"},
		{"a token that is no text", "ExampleBot/1.0", "Ex\xffample", "Ex\uFFFDample"},
		{"a token that never ends", "ExampleBot/1.0", strings.Repeat("x", 1000), strings.Repeat("x", maxLabel)},
	} {
		who := crawler.Identify(test.agent)
		if got := countedAs(&who, test.token); got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}

func TestAnImpostorIsNotCountedAsWhomItClaimsToBe(t *testing.T) {
	th := newTestHandler(t, "User-agent: Googlebot\nDisallow: /private/\n", &Handler{Verify: googleRanges()})
	for _, address := range []string{real, real, fake} {
		r := newRequest("GET", "/", googlebot)
		caddyhttp.SetVar(r.Context(), caddyhttp.ClientIPVarKey, address)
		th.do(r)
	}
	all := gather(t, th.shared)
	all.expect(t, "caddy_robots_requests_total", series{"robot=Googlebot site=* verdict=allowed": 2, "robot=impostor site=* verdict=allowed": 1})
	all.expect(t, "caddy_robots_verifications_total", series{
		"result=verified robot=Googlebot": 2, "result=impostor robot=Googlebot": 1, "result=unverified robot=Googlebot": 0,
	})
}

func TestAMillionMadeUpNamesAndHostsMakeNoSeries(t *testing.T) {
	th := newTestHandler(t, "User-agent: *\nDisallow: /search\n", &Handler{})
	r := newRequest("GET", "/", gptBot)
	for i := range 1_000_000 {
		name := fmt.Sprint("MadeUpBot", i)
		who := crawler.Identity{Class: crawler.Robot, Name: name, Key: strings.ToLower(name), Hash: uint64(i) | 1}
		th.count(r, name+".example", &judgement{who: &who})
	}
	gather(t, th.shared).expect(t, "caddy_robots_requests_total", series{"robot=other site=* verdict=allowed": 1_000_000})
}

// Somebody's robots.txt, or the config, names new ones for years.
func TestAMillionTokensAndSitesKeepTheMetricsBounded(t *testing.T) {
	m := newMetrics()
	who := crawler.Identify("ExampleBot/1.0")
	for i := range 1_000_000 {
		name := fmt.Sprint("x", i)
		m.countsOf(m.site(name), &who, name).readings.Add(1)
	}
	if got, most := int(m.robots.Load()), maxRobotsCounted+maxSitesCounted+1; got > most {
		t.Errorf("robots: got %d, want at most %d", got, most)
	}
	if got, want := len(m.sites), maxSitesCounted+1; got != want {
		t.Errorf("sites: got %d, want %d", got, want)
	}
	sum := uint64(0)
	for _, site := range m.allSites() {
		for _, robot := range site.robots {
			sum += robot.readings.Load()
		}
	}
	if sum != 1_000_000 {
		t.Errorf("counted: got %d, want all 1000000", sum)
	}
}

func TestCountersOutliveAReload(t *testing.T) {
	first := newTestHandler(t, closedAll, &Handler{})
	first.ask("GET", "/", gptBot)
	second := newTestHandler(t, closedAll, &Handler{})
	if err := first.Handler.Cleanup(); err != nil {
		t.Fatal(err)
	}
	first.leave, first.Handler.shared = nil, nil // it is gone
	second.ask("GET", "/", gptBot)
	gather(t, second.shared).expect(t, "caddy_robots_requests_total", series{"robot=GPTBot site=* verdict=disallowed": 2})
}

func TestHandlersOfOneConfigShareItsRegistry(t *testing.T) {
	th := newTestHandler(t, closedAll, &Handler{})
	registry := prometheus.NewPedanticRegistry()
	for range 2 {
		if err := th.shared.register(registry); err != nil {
			t.Errorf("got error %v, want none", err)
		}
	}
}

func TestPolicyMetrics(t *testing.T) {
	th := newTestHandler(t, "User-agent: *\nDisallow: /a\nDisallow: /b\nnonsense\n", &Handler{})
	th.begin(t)
	s := th.loader.site("")
	th.clock.advance(90 * time.Second)
	all := gather(t, th.shared)
	all.expect(t, "caddy_robots_policy_age_seconds", series{"site=*": 90})
	all.expect(t, "caddy_robots_policy_rules", series{"site=*": 2})
	all.expect(t, "caddy_robots_policy_diagnostics", series{
		"severity=info site=*": 0, "severity=warning site=*": 1, "severity=error site=*": 0,
	})
	th.loader.enforce(s, errRedirect)
	th.loader.enforce(s, nil)
	all = gather(t, th.shared)
	all.expect(t, "caddy_robots_policy_loads_total", series{"result=changed site=*": 1, "result=unchanged site=*": 1, "result=failed site=*": 1})
	all.expect(t, "caddy_robots_policy_age_seconds", series{"site=*": 0})
}

func TestAPolicyThatNeverLoadedHasNoAge(t *testing.T) {
	th := newTestHandler(t, "", &Handler{Sources: []policies.Source{{File: t.TempDir() + "/missing"}}})
	th.begin(t)
	all := gather(t, th.shared)
	all.expect(t, "caddy_robots_policy_age_seconds", series{})
	all.expect(t, "caddy_robots_policy_rules", series{"site=*": 0})
	all.expect(t, "caddy_robots_policy_loads_total", series{"result=changed site=*": 0, "result=unchanged site=*": 0, "result=failed site=*": 1})
}

func TestBansAndCachesAreShown(t *testing.T) {
	th := newTestHandler(t, closedAll, &Handler{Ban: thrice()})
	th.Handler.now = time.Now
	for range 3 {
		th.ask("GET", "/", gptBot)
	}
	all := gather(t, th.shared)
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

func TestTheNameOfAShareHoldsNoPassword(t *testing.T) {
	for address, want := range map[string]string{
		"redis://user:secret@127.0.0.1:6379/2?x=y": "127.0.0.1:6379", "rediss://:p%40ss@redis.example": "redis.example",
		"unix://user:secret@/run/redis.sock?db=1": "/run/redis.sock", "redis://user:sec\x7fret@h": "",
	} {
		if got := sharePlace(address); got != want {
			t.Errorf("%s: got %q, want %q", address, got, want)
		}
	}
}

func TestALostShareIsDown(t *testing.T) {
	const url = "redis://:secret@127.0.0.1:1"
	th := newTestHandler(t, "User-agent: *\nCrawl-delay: 1\n", &Handler{Share: &Share{URL: url}})
	th.ask("GET", "/", gptBot)
	gather(t, th.shared).expect(t, "caddy_robots_share_up", series{"share=127.0.0.1:1": 0})
}

func TestCountingDoesNotAllocate(t *testing.T) {
	th := newTestHandler(t, manyRecords(), &Handler{})
	r := newRequest("GET", "/", gptBot)
	who := th.app.crawlers.Identify(gptBot)
	j := &judgement{who: who}
	j.decision.Binding = th.loader.inForce(r, "site.example").find(who)
	if got := testing.AllocsPerRun(200, func() { th.count(r, "site.example", j) }); got != 0 {
		t.Errorf("got %v allocations, want 0", got)
	}
}

// BenchmarkCount is what the metrics add to a judged request.
func BenchmarkCount(b *testing.B) {
	th := newTestHandler(b, manyRecords(), &Handler{})
	p := &places{exact: map[string]*siteCounts{}, any: th.app.counts.site(anySite)}
	p.exact["site.example"] = th.app.counts.site("site.example")
	th.watched.places.Store(p)
	for name, agent := range map[string]string{"named": gptBot, "by_default_record": ccBot, "stranger": "MadeUpBot/1.0"} {
		b.Run(name, func(b *testing.B) {
			r := newRequest("GET", "/", agent)
			who := th.app.crawlers.Identify(agent)
			j := &judgement{who: who}
			if j.decision.Binding = th.loader.inForce(r, "site.example").find(who); j.decision.Binding == nil {
				j.decision.Binding = th.loader.inForce(r, "site.example").policy.Default()
			}
			b.ReportAllocs()
			for b.Loop() {
				th.count(r, "site.example", j)
			}
		})
	}
}

// BenchmarkScrape is what a scrape costs with the usual sites and robots.
func BenchmarkScrape(b *testing.B) {
	th := newTestHandler(b, manyRecords(), &Handler{})
	for site := range 20 {
		for robot := range 100 {
			th.app.counts.robot(th.app.counts.site(fmt.Sprint(site)), fmt.Sprint(robot)).requests[Allowed].Add(1)
		}
	}
	registry := prometheus.NewRegistry()
	if err := th.shared.register(registry); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := registry.Gather(); err != nil {
			b.Fatal(err)
		}
	}
}

// Anybody can sign, by the name of any host of his own.
func TestSignaturesAreCountedTogether(t *testing.T) {
	th := newTestHandler(t, closedAll, &Handler{Verify: &Verify{Signature: true}})
	for _, host := range []string{"a.example", "b.example"} {
		th.countProof(&judgement{proof: proof{claimed: host, status: enforce.Verified}})
	}
	gather(t, th.shared).expect(t, "caddy_robots_verifications_total", series{
		"result=verified robot=signature": 2, "result=impostor robot=signature": 0, "result=unverified robot=signature": 0,
	})
}
