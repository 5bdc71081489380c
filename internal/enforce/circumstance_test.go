package enforce

import (
	"testing"

	"github.com/caddy-robots/caddy-robots/crawler"
	"github.com/caddy-robots/caddy-robots/robotsrules"
)

// Who sends no User-Agent, or gives the host that it asks as its address, is bound by "*", unless
// the request shows that it is no robot's.
func TestAClientIsKnownByItsCircumstances(t *testing.T) {
	compiled := robotsrules.Compile(robotsrules.Parse([]byte("User-agent: *\nDisallow: /\n"), robotsrules.Options{}), robotsrules.MatchSubstring)
	e := &Engine{Policies: &onePolicy{Policy{Rules: &Rules{Compiled: compiled}}}}
	for name, c := range map[string]struct {
		method, agent string
		header        map[string][]string
		class         crawler.Class
		kind          Kind
	}{
		"nothing at all":                      {"GET", "", nil, crawler.Unstated, Disallowed},
		"HEAD":                                {"HEAD", "", nil, crawler.Unstated, Disallowed},
		"a browser whose proxy strips it":     {"GET", "", map[string][]string{"Sec-Fetch-Mode": {"navigate"}}, crawler.Browser, Allowed},
		"a picture of its page":               {"GET", "", map[string][]string{"Sec-Fetch-Dest": {"image"}}, crawler.Browser, Allowed},
		"a webhook":                           {"POST", "", nil, crawler.Service, Allowed},
		"a robot that says that it navigates": {"GET", "GPTBot/1.0", map[string][]string{"Sec-Fetch-Mode": {"navigate"}}, crawler.Robot, Disallowed},
		"a robot that posts":                  {"POST", "GPTBot/1.0", nil, crawler.Robot, Disallowed},
		"the site's own server":               {"GET", "MyShop/1.0 (+https://A.example:8443/cron)", nil, crawler.Service, Allowed},
		"the same by its other name":          {"GET", "MyShop/1.0; https://www.a.example", nil, crawler.Service, Allowed},
		"the same by its library":             {"POST", "python-requests/2.31 (https://a.example)", nil, crawler.Service, Allowed},
		"in a robot's form":                   {"GET", "Mozilla/5.0 (compatible; MyShop/1.0; +https://a.example/)", nil, crawler.Service, Allowed},
		"WordPress":                           {"GET", "WordPress/6.8.2; https://a.example", nil, crawler.Service, Allowed},
		"another site's":                      {"GET", "MyShop/1.0 (+https://b.example/)", nil, crawler.Robot, Disallowed},
		"a site's whose name only ends so":    {"GET", "MyShop/1.0 (+https://ba.example/)", nil, crawler.Robot, Disallowed},
		"a robot that gives the site's":       {"GET", "GPTBot/1.0 (+https://a.example/)", nil, crawler.Robot, Disallowed},
		"one that says that it is a robot":    {"GET", "MyShopBot/1.0 (+https://a.example/)", nil, crawler.Robot, Disallowed},
		"in a browser's form":                 {"GET", "Mozilla/5.0 (X11; Linux) MyShop/1.0 https://a.example/", nil, crawler.Service, Allowed},
	} {
		who := crawler.Identify(c.agent)
		r := Request{Method: c.method, Host: "a.example", Target: "/x", Path: "/x", UserAgent: c.agent, Header: c.header}
		if v := e.Decide(t.Context(), &r, &who); v.Who.Class != c.class || v.Kind != c.kind {
			t.Errorf("%s: got %s, %s; want %s, %s", name, v.Who.Class, v.Kind, c.class, c.kind)
		}
	}
}

// What the owner knows of a client, or what it cannot prove, outranks the address that it gives.
func TestAnAddressOutranksNothing(t *testing.T) {
	compiled := robotsrules.Compile(robotsrules.Parse([]byte("User-agent: *\nDisallow: /\n"), robotsrules.Options{}), robotsrules.MatchSubstring)
	policies := &onePolicy{Policy{Rules: &Rules{Compiled: compiled}}}
	const agent = "MyShop/1.0 (+https://a.example/)"
	who := crawler.Identify(agent)
	for name, e := range map[string]*Engine{
		"treat_as_robot":  {Options: Options{TreatAsRobot: []string{"MyShop"}}, Policies: policies},
		"a false claim":   {Policies: policies, Prover: liars{}},
		"unnamed clients": {Options: Options{Unnamed: UnnamedClients}, Policies: policies},
	} {
		r := Request{Method: "GET", Host: "a.example", Target: "/x", Path: "/x", UserAgent: agent}
		if v := e.Decide(t.Context(), &r, &who); v.Kind != Disallowed {
			t.Errorf("%s: got %s as %s, want disallowed", name, v.Kind, v.Who.Class)
		}
	}
	if who.Class != crawler.Robot {
		t.Errorf("the Identity that all share became a %s", who.Class)
	}
}

func TestOnlyTheAnswerToAChallengeIsNeverJudged(t *testing.T) {
	const token = "/.well-known/acme-challenge/LoqXcYV8q5ONbJQxbmR7SCTNo3tiAXDfowyjxAjEuX0"
	for target, want := range map[string]bool{
		token: true, token + "?x": false, token + "/": false, token + "/x": false, token + "%2fx": false, token + ".txt": false,
		"/.well-known/acme-challenge/": false, "/.well-known/acme-challenge/..": false, "/.well-known/acme-challenge/../private": false,
		"/.well-known/acme-challenge//x": false, "/x" + token: false, "//" + token: false, "/.Well-known/acme-challenge/x": false,
	} {
		if r := (Request{Method: "GET", Target: target}); r.IsChallenge() != want {
			t.Errorf("%s: got %t, want %t", target, !want, want)
		}
	}
	if r := (Request{Method: "POST", Target: token}); r.IsChallenge() {
		t.Error("POST: got true, want false")
	}
}
