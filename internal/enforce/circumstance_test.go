package enforce

import (
	"testing"

	"github.com/caddy-robots/caddy-robots/crawler"
	"github.com/caddy-robots/caddy-robots/robotsrules"
)

// Who sends no User-Agent is bound by "*", unless the request shows that it is no robot's.
func TestAClientWithoutAUserAgentIsKnownByItsCircumstances(t *testing.T) {
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
	} {
		who := crawler.Identify(c.agent)
		r := Request{Method: c.method, Host: "a.example", Target: "/x", Path: "/x", UserAgent: c.agent, Header: c.header}
		if v := e.Decide(t.Context(), &r, &who); v.Who.Class != c.class || v.Kind != c.kind {
			t.Errorf("%s: got %s, %s; want %s, %s", name, v.Who.Class, v.Kind, c.class, c.kind)
		}
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
