package caddymodule

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"
)

// asTo is the matcher robots_disallows of the site that a handler stands in.
func asTo(t testing.TB, th *testHandler, robot string) *MatchDisallows {
	t.Helper()
	m := &MatchDisallows{Robot: robot}
	if err := m.Provision(th.ctx); err != nil {
		t.Fatal(err)
	}
	m.sites.Store(serverSitesOf(th.app, th.Handler))
	return m
}

// serverSitesOf are the sites of a server in whose one site the handlers stand.
func serverSitesOf(app *App, handlers ...*Handler) *serverSites {
	f := newSiteFinder(nil)
	for _, h := range handlers {
		f.lookAt(h, nil)
	}
	return app.sitesIn(f)
}

func TestRobotsDisallows(t *testing.T) {
	const rules = "User-agent: GPTBot\nDisallow: /for-gpt/\n\nUser-agent: *\nUser-agent: costly\nDisallow: /private/\nDisallow: /*/blame/\nAllow: /private/open\n\n" +
		"User-agent: *\nDisallow: /api/\n"
	th := newTestHandler(t, rules, &Handler{Unnamed: "nobody"})
	for target, want := range map[string]string{
		"/": "", "/private/": "* costly", "/private/open.html": "", "/a/b/blame/x.go?y": "* costly", "/api/v1": "*", "/for-gpt/": "GPTBot",
		"//private//x": "* costly", "/%70rivate/": "* costly", "/a/../private/x": "* costly", "/robots.txt": "", "/PRIVATE/": "",
	} {
		var got []string
		for _, robot := range []string{"*", "costly", "GPTBot"} {
			m := asTo(t, th, robot)
			for _, agent := range []string{chrome, gptBot, curl, ""} {
				matches, err := m.MatchWithError(newRequest("GET", target, agent))
				if err != nil {
					t.Fatal(err)
				}
				if matches && agent == chrome {
					got = append(got, robot)
				}
				if by := m.Match(newRequest("GET", target, chrome)); by != matches {
					t.Errorf("%s as to %s: %t for %q, %t for a browser", target, robot, matches, agent, by)
				}
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: got %q, want %q", target, got, want)
		}
	}
}

func TestRobotsDisallowsIsNotAskedByCaddyItself(t *testing.T) {
	th := newTestHandler(t, closedAll, &Handler{})
	m := asTo(t, th, "")
	if !m.Match(newRequest("GET", "/page", chrome)) {
		t.Error("a page: got no match, want one")
	}
	if m.Match(newRequest("GET", "/.well-known/acme-challenge/token", "")) {
		t.Error("the answer to an ACME challenge: got a match, want none")
	}
	inner := newRequest("GET", "/page", chrome)
	original := *inner
	original.RequestURI = "" // it came with no request line
	inner = inner.WithContext(context.WithValue(inner.Context(), caddyhttp.OriginalRequestCtxKey, original))
	if m.Match(inner) {
		t.Error("a part of a page: got a match, want none")
	}
}

// It waits for nothing, and matches nothing before there are rules, also under unreachable deny.
func TestRobotsDisallowsNothingWithoutRules(t *testing.T) {
	th := newTestHandler(t, "", &Handler{Unreachable: "deny"})
	if asTo(t, th, "").Match(newRequest("GET", "/page", chrome)) {
		t.Error("got a match, want none")
	}
	alone := asTo(t, th, "")
	alone.sites.Store(serverSitesOf(th.app))
	if alone.Match(newRequest("GET", "/page", chrome)) {
		t.Error("without a handler: got a match, want none")
	}
}

func TestRobotsDisallowsAllocatesLittle(t *testing.T) {
	th := newTestHandler(t, manyRecords(), &Handler{})
	m, r := asTo(t, th, ""), newRequest("GET", "/search?q=x", chrome)
	if !m.Match(r) {
		t.Fatal("got no match, want one")
	}
	if n := testing.AllocsPerRun(100, func() { m.Match(r) }); n > 2 {
		t.Errorf("got %v allocations, want 2 at the most", n)
	}
}

// The same config in JSON, where matchers may stand in the routes of the server itself.
func TestRobotsDisallowsInJSON(t *testing.T) {
	for _, test := range []struct{ name, routes, want string }{
		{"beside a host", `[{"match":[{"host":["a.test"],"robots_disallows":{"robot":"GPTBot"}}]},{"match":[{"host":["A.test"]}],"handle":[{"handler":"robots"}]}]`, ""},
		{"beside another host", `[{"match":[{"host":["b.test"],"robots_disallows":{}}]},{"match":[{"host":["a.test"]}],"handle":[{"handler":"robots"}]}]`, "the site b.test"},
		{"behind a handler that is provisioned", `[{"handle":[{"handler":"robots"}]},{"handle":[{"handler":"subroute","routes":[{"match":[{"robots_disallows":{}}]}]}]}]`, ""},
		{"without a handler", `[{"handle":[{"handler":"subroute","routes":[{"match":[{"not":[{"robots_disallows":{}}]}]}]}]}]`, "the site of all other hosts"},
		{"a number", `[{"match":[{"robots_disallows":{"robot":1}}]}]`, "decoding module config"},
		{"an unknown option", `[{"match":[{"robots_disallows":{"robots":["a"]}}],"handle":[{"handler":"robots"}]}]`, "robots"},
		{"a purpose", `[{"match":[{"robots_disallows":{"robot":"Search"}}],"handle":[{"handler":"robots"}]}]`, `"Search" is a kind of robots`},
	} {
		var cfg caddy.Config
		text := `{"admin":{"disabled":true},"apps":{"http":{"servers":{"one":{"listen":["127.0.0.1:0"],"automatic_https":{"disable":true},"routes":` + test.routes + `}}}}}`
		if err := json.Unmarshal([]byte(text), &cfg); err != nil {
			t.Fatal(err)
		}
		err := caddy.Validate(&cfg)
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s: got error %v, want %q", test.name, err, test.want)
		}
	}
}

// Of several handlers of a server, the one that stands in the site of the host answers.
func TestWhichHandlerAnswers(t *testing.T) {
	th := newTestHandler(t, closedAll, &Handler{})
	subroute := func(h caddyhttp.MiddlewareHandler) *caddyhttp.Subroute {
		return &caddyhttp.Subroute{Routes: caddyhttp.RouteList{{Handlers: []caddyhttp.MiddlewareHandler{h}}}}
	}
	site := func(pattern string, h caddyhttp.MiddlewareHandler) caddyhttp.Route {
		hosts := caddyhttp.MatchHost{pattern}
		return caddyhttp.Route{MatcherSets: caddyhttp.MatcherSets{{&hosts}}, Handlers: []caddyhttp.MiddlewareHandler{subroute(h)}}
	}
	one, wild, guard := new(Handler), new(Handler), new(Handler)
	server := &caddyhttp.Server{
		Routes: caddyhttp.RouteList{
			site("one.test", one), site("*.test", wild), site("one.test", new(Handler)),
			site("named.example", &caddyhttp.Invoke{Name: "guard"}), site("none.example", &caddyhttp.Invoke{Name: "other"}),
		},
		NamedRoutes: map[string]*caddyhttp.Route{"guard": {Handlers: []caddyhttp.MiddlewareHandler{guard, &caddyhttp.Invoke{Name: "guard"}}}},
	}
	th.app.log = zap.NewNop()
	sites := th.app.sitesOf(server)
	for host, want := range map[string]*Handler{"one.test": one, "two.test": wild, "named.example": guard, "none.example": nil, "a.b.test": nil, "": nil} {
		if got := sites.handlerOf(host); got != want {
			t.Errorf("%q: got %p, want %p", host, got, want)
		}
	}
}

func TestRobotsDisallowsRefusesWhatIsNoName(t *testing.T) {
	for matcher, want := range map[string]string{
		"robots_disallows":                "",
		"robots_disallows *":              "",
		"robots_disallows GPTBot":         "",
		`robots_disallows "Yahoo! Slurp"`: "",
		"robots_disallows costly":         "",
		"robots_disallows expensive":      "",
		`robots_disallows ""`:             "an empty name names no robot",
		`robots_disallows " "`:            "an empty name names no robot",
		`robots_disallows " GPTBot"`:      `" GPTBot" is no robot's name`,
		"robots_disallows GPT*":           "is no robot's name",
		"robots_disallows Mozilla/5.0":    "is no robot's name",
		"robots_disallows GPTBot,CCBot":   "is no robot's name",
		"robots_disallows Goglebot":       "did you mean Googlebot?",
		"robots_disallows trapped":        "crawler trapped beside it",
		"robots_disallows traped":         "did you mean trapped?",
		"robots_disallows ai-pages":       "",
		"robots_disallows a b":            "it asks for one robot",
	} {
		err := new(MatchDisallows).UnmarshalCaddyfile(dispense(matcher))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: got %v, want %q", matcher, err, want)
		}
	}
	bad := caddyhttp.MatchExpression{Expr: "robots_disallows('a', 'b')"}
	if err := bad.Provision(contextWithStorage(t)); err == nil || !strings.Contains(err.Error(), "it asks for one robot") {
		t.Errorf("two robots in an expression: got error %v", errors.Unwrap(err))
	}
}
