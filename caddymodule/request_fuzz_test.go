package caddymodule

import (
	"bufio"
	"net/http"
	"net/http/httptest"
	"path"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-robots/caddy-robots/crawler"
	"github.com/caddy-robots/caddy-robots/internal/enforce"
	"github.com/caddy-robots/caddy-robots/internal/policies"
)

// FuzzRequest sends request lines, hosts and User-Agents as they come over the wire through a handler.
// It holds seven properties:
//
//   - served: whoever is bound is refused what a file server would serve from the disallowed folder;
//   - plain: a path of letters, digits and single slashes that is not in that folder is allowed;
//   - browser: a person's browser is refused nothing;
//   - robots.txt: everybody may have it;
//   - host: its case, a port and a final dot make no other host of it;
//   - matcher: robots_disallows says of each path what robots check says;
//   - answer: it is a page or a 403, and no header of it has a second line.
func FuzzRequest(f *testing.F) {
	for _, target := range []string{
		"/", "/private/", "/a/../private/x", "//private//x", "/%70rivate/x", "/%2e%2e/private/x", "/private%2fx", "/open%2f..%2fprivate/x",
		"/private/?a=/../", "http://other.example/private/x", "*", "/a#/../private/x", "/.//private/x", "/privat%E9/", "/%00/../private/x", "/open",
	} {
		f.Add(target, "site.example", ccBot)
	}
	f.Add("/private/x", "[::1]:8080", "")
	f.Add("/private/x", "SITE.example.:443", "x\x00\xff()/")
	th := newTestHandler(f, "User-agent: *\nDisallow: /private/\n", &Handler{})
	rules, anyRobot := th.policies.PolicyFor(f.Context(), "").Policy.Rules, crawler.AsRobot("AnyRobot")
	f.Add("/.well-known/acme-challenge/../../private/x", "site.example", "")
	f.Fuzz(func(t *testing.T, target, host, agent string) {
		r, ok := received(target, host, agent)
		if !ok {
			t.Skip()
		}
		sent, _ := userAgent(r)
		who := crawler.Identify(sent)
		bound := who.Class == crawler.Robot || who.Class == crawler.Unstated
		served, original := path.Clean("/"+r.URL.Path), *r
		if asked := (enforce.Request{Method: r.Method}); strings.HasPrefix(target, "/") && !strings.Contains(target, "#") && asked.SetTarget(target) {
			want := new(enforce.Engine).ByRules(rules, &asked, &anyRobot).Kind == enforce.Disallowed
			if got := th.disallows(prepared(r.Clone(t.Context())), &anyRobot); got != (want && !asked.IsChallenge()) {
				t.Errorf("matcher: %q: got %t, want %t", target, got, want)
			}
		}
		got := th.do(prepared(r)).Result()
		if got.StatusCode != http.StatusOK && got.StatusCode != http.StatusForbidden {
			t.Errorf("answer: %q: got %d", target, got.StatusCode)
		}
		for name, values := range got.Header {
			if strings.ContainsAny(strings.Join(values, ""), "\r\n\x00") {
				t.Errorf("answer: %q for %q: header %s: got %q", target, agent, name, values)
			}
		}
		if bound && strings.HasPrefix(served, "/private/") && got.StatusCode != http.StatusForbidden {
			t.Errorf("served: %q on %q for %q, which is %q: got %d, want 403", target, host, agent, served, got.StatusCode)
		}
		if isPlain(target) && !strings.HasPrefix(target, "/private/") && got.StatusCode != http.StatusOK {
			t.Errorf("plain: %q for %q: got %d, want 200", target, agent, got.StatusCode)
		}
		r = &original
		r.Header.Set("User-Agent", chrome)
		if got := th.do(prepared(r)).Code; got != http.StatusOK {
			t.Errorf("browser: %q on %q: got %d, want 200", target, host, got)
		}
		if r, ok := received("/robots.txt", host, agent); ok {
			if got := th.do(prepared(r)).Code; got != http.StatusOK {
				t.Errorf("robots.txt: on %q for %q: got %d, want 200", host, agent, got)
			}
		}
		checkHost(t, host)
	})
}

// received is a request as it comes over the wire, if a server takes it for one.
func received(target, host, agent string) (*http.Request, bool) {
	if target == "" || strings.ContainsAny(target, " \r\n") || strings.ContainsAny(host+agent, "\r\n") {
		return nil, false
	}
	wire := "GET " + target + " HTTP/1.1\r\nHost: " + host + "\r\nUser-Agent: " + agent + "\r\n\r\n"
	r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(wire)))
	return r, err == nil
}

// prepared is a request as Caddy's server hands it on.
func prepared(r *http.Request) *http.Request {
	r.RemoteAddr = "203.0.113.7:4711"
	r = caddyhttp.PrepareRequest(r, caddy.NewReplacer(), httptest.NewRecorder(), new(caddyhttp.Server))
	caddyhttp.SetVar(r.Context(), caddyhttp.ClientIPVarKey, "203.0.113.7")
	return r
}

// isPlain tells whether a target can be read in one way only.
func isPlain(target string) bool {
	return strings.HasPrefix(target, "/") && !strings.Contains(target, "//") &&
		strings.Trim(target, "/abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") == ""
}

func checkHost(t *testing.T, host string) {
	t.Helper()
	name := strings.ToLower(host)
	if name == "" || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789.-") != "" || strings.HasSuffix(name, ".") {
		return
	}
	for _, spelling := range []string{host, name, strings.ToUpper(name), name + ":8080", host + ":1"} {
		if got := policies.Host(spelling); got != name {
			t.Errorf("host: %q is %q, want %q", spelling, got, name)
		}
	}
}
