package enforce

import (
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/crawler"
	"github.com/caddy-robots/caddy-robots/internal/ratelimit"
	"github.com/caddy-robots/caddy-robots/robotsrules"
)

// engineFor judges by a robots.txt, with a prover that finds this of every claim.
func engineFor(robotsTxt string, proof Proof) *Engine {
	compiled := robotsrules.Compile(robotsrules.Parse([]byte(robotsTxt), robotsrules.Options{}), robotsrules.MatchSubstring)
	return &Engine{
		Policies: &onePolicy{Policy{Rules: &Rules{Compiled: compiled}}}, Prover: oneProof{proof},
		Limiter: ratelimit.NewMemory(100), Bans: ratelimit.NewMemory(8).Bans(), Traps: NewTraps(),
	}
}

const strictForOthers = "User-agent: *\nDisallow: /private/\nCrawl-delay: 10\n\nUser-agent: Googlebot\nDisallow: /search\n"

func TestADoubtedClaimBuysNoMoreThanNoName(t *testing.T) {
	who := crawler.AsRobot("Googlebot")
	noon := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		what    string
		doubted bool
		unnamed Unnamed
		paths   []string
		want    []Kind
	}{
		{"its own record", false, UnnamedRobots, []string{"/search", "/private/", "/a", "/a"}, []Kind{Disallowed, Allowed, Allowed, Allowed}},
		{"the stricter of both", true, UnnamedRobots, []string{"/search", "/private/", "/a", "/a"}, []Kind{Disallowed, Disallowed, Allowed, TooFast}},
		{"where * binds nobody, its own", true, UnnamedNobody, []string{"/search", "/private/", "/a", "/a"}, []Kind{Disallowed, Allowed, Allowed, Allowed}},
	} {
		e := engineFor(strictForOthers, Proof{Claimed: "Googlebot", Doubted: test.doubted})
		e.Unnamed = test.unnamed
		for i, path := range test.paths {
			r := Request{Method: "GET", Host: "a.example", UserAgent: "Googlebot/2.1", Origin: OriginAt("203.0.113.7"), At: noon}
			r.SetTarget(path)
			if v := e.Decide(t.Context(), &r, &who); v.Kind != test.want[i] {
				t.Errorf("%s: %s: got %s, want %s", test.what, path, v.Kind, test.want[i])
			}
		}
	}
}

func TestADoubtedServiceStaysOne(t *testing.T) {
	e := engineFor("User-agent: *\nDisallow: /\n", Proof{Claimed: "Stripe", Doubted: true})
	who := crawler.Identity{Class: crawler.Service, Name: "Stripe", Key: "stripe", Text: "Stripe/1.0", Products: []string{"Stripe"}}
	r := Request{Method: "GET", Host: "a.example", Target: "/hook", Path: "/hook", Origin: OriginAt("203.0.113.7")}
	if v := e.Decide(t.Context(), &r, &who); v.Kind != Allowed {
		t.Errorf("got %s, want it allowed", v.Kind)
	}
}

func TestEarlyDataIsSentAgainWhereTheAddressDecides(t *testing.T) {
	noon := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	google, other, nobody := crawler.AsRobot("Googlebot"), crawler.AsRobot("ExampleBot"), crawler.Identity{Class: crawler.Unstated}
	bing := crawler.AsRobot("bingbot")
	for _, test := range []struct {
		what    string
		who     *crawler.Identity
		proof   Proof
		origin  string
		path    string
		options Options
		early   bool
		kind    Kind
	}{
		{"a claim, where both records allow", &google, Proof{Claimed: "Googlebot"}, "203.0.113.7", "/a", Options{}, false, Allowed},
		{"a claim, where the records differ", &google, Proof{Claimed: "Googlebot"}, "203.0.113.7", "/private/", Options{}, true, Allowed},
		{"a claim, where impostors are refused", &google, Proof{Claimed: "Googlebot"}, "203.0.113.7", "/a", Options{Impostors: ImpostorsRefuse}, true, Allowed},
		{"a claim behind a proxy", &google, Proof{Claimed: "Googlebot"}, "127.0.0.1", "/private/", Options{Impostors: ImpostorsRefuse}, false, Allowed},
		{"no claim", &other, Proof{}, "203.0.113.7", "/private/", Options{}, false, Disallowed},
		{"robots.txt", &google, Proof{Claimed: "Googlebot"}, "203.0.113.7", "/robots.txt", Options{Impostors: ImpostorsRefuse}, false, Allowed},
		{"a pace by address", &nobody, Proof{}, "203.0.113.7", "/a", Options{DefaultPace: robotsrules.Rate{Documents: 1, Period: time.Minute}}, true, Allowed},
		{"a pace by name", &other, Proof{}, "203.0.113.7", "/a", Options{DefaultPace: robotsrules.Rate{Documents: 1, Period: time.Minute}}, false, Allowed},
		{"nobody's pace", &nobody, Proof{}, "127.0.0.1", "/a", Options{DefaultPace: robotsrules.Rate{Documents: 1, Period: time.Minute}}, false, Allowed},
		{"exempt, and allowed", &other, Proof{}, "203.0.113.7", "/a", Options{Exempt: exempting("203.0.113.0/24")}, false, Allowed},
		{"exempt once it is verified", &bing, Proof{Claimed: "bingbot"}, "203.0.113.7", "/private/", Options{Exempt: exempting("verified")}, true, Allowed},
		{"not exempt, also verified", &bing, Proof{Claimed: "bingbot"}, "203.0.113.7", "/private/", Options{Exempt: exempting("seo")}, false, Disallowed},
		{"exempt, else refused", &other, Proof{}, "203.0.113.7", "/private/", Options{Exempt: exempting("203.0.113.0/24")}, true, Allowed},
	} {
		e := engineFor("User-agent: *\nDisallow: /private/\n\nUser-agent: Googlebot\nAllow: /\n", test.proof)
		e.Options = test.options
		r := Request{Method: "GET", Host: "a.example", UserAgent: test.who.Text, Origin: OriginAt(test.origin), EarlyData: true, At: noon}
		r.SetTarget(test.path)
		if v := e.Decide(t.Context(), &r, test.who); v.TooEarly != test.early || v.Kind != test.kind {
			t.Errorf("%s: got too early: %t, %s; want %t, %s", test.what, v.TooEarly, v.Kind, test.early, test.kind)
		}
	}
}

func exempting(value string) Exemptions {
	e, err := ParseExemptions([]string{value}, nil)
	if err != nil {
		panic(err)
	}
	return e
}

func TestNothingIsChargedInEarlyData(t *testing.T) {
	e := engineFor("User-agent: *\nDisallow: /trap/\nDisallow: /private/\n", Proof{})
	e.Ban, e.Trap, e.TrapFor = &ratelimit.BanPolicy{Offences: 1, Within: time.Hour, For: time.Hour}, []string{"/trap/"}, time.Hour
	browser, robot := crawler.Identity{Class: crawler.Browser}, crawler.AsRobot("ExampleBot")
	r := Request{Method: "GET", Host: "a.example", UserAgent: chrome, Origin: OriginAt("203.0.113.7"), EarlyData: true, At: time.Unix(1e9, 0)}
	r.SetTarget("/trap/x")
	if v := e.Decide(t.Context(), &r, &browser); !v.TooEarly || e.Traps.Len() != 0 {
		t.Errorf("into a trap: got too early: %t, and %d caught; want true, and nobody", v.TooEarly, e.Traps.Len())
	}
	r.SetTarget("/private/x")
	if v := e.Decide(t.Context(), &r, &robot); v.Kind != Disallowed || e.Bans.Len(r.At) != 0 {
		t.Errorf("disobedience: got %s, and %d banned; want disallowed, and nobody", v.Kind, e.Bans.Len(r.At))
	}
	r.EarlyData = false
	r.SetTarget("/trap/x")
	e.Decide(t.Context(), &r, &browser)
	r.EarlyData = true
	for path, want := range map[string]bool{"/private/x": true, "/a": false} {
		r.SetTarget(path)
		if v := e.Decide(t.Context(), &r, &browser); v.TooEarly != want {
			t.Errorf("one that was caught asks for %s: got too early: %t, want %t", path, v.TooEarly, want)
		}
	}
}
