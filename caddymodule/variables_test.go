package caddymodule

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-robots/caddy-robots/internal/proof"
)

// A proxy that dials may read a request's variables in the background until long after it has
// answered, so none is written from when the request is passed on.
func TestNoVariableIsSetOnceARequestIsPassedOn(t *testing.T) {
	for name, c := range map[string]struct {
		h             Handler
		target, agent string
	}{
		"allowed":    {Handler{}, "/", gptBot},
		"with pace":  {Handler{DefaultPace: "1/1s"}, "/", gptBot},
		"observed":   {Handler{Observe: true}, "/private/", gptBot},
		"exempt":     {Handler{Exempt: []string{"203.0.113.0/24"}}, "/private/", gptBot},
		"robots.txt": {Handler{}, "/robots.txt", gptBot},
		"a person":   {Handler{}, "/", chrome},
		"verified":   {Handler{Verify: &Verify{Claims: []proof.Claim{{Token: "GPTBot", Ranges: []string{"203.0.113.0/24"}}}}}, "/", gptBot},
		"throttled":  {Handler{Disallowed: "pace", DisallowedPace: "1/1s"}, "/private/", gptBot},
		"held":       {Handler{TooFast: "wait", MaxWait: caddy.Duration(1e9), DefaultPace: "1/1s"}, "/", gptBot},
		"announced":  {Handler{Announce: everyStatement}, "/", gptBot},
	} {
		t.Run(name, func(t *testing.T) {
			th := newTestHandler(t, "User-agent: *\nDisallow: /private/\n", &c.h)
			var vars, passed map[string]any
			next := caddyhttp.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) error {
				vars = allVariables(r)
				passed = maps.Clone(vars)
				r.Host, r.Method = "elsewhere.example", "POST" // as rewrites and proxies may
				return nil
			})
			if err := th.ServeHTTP(httptest.NewRecorder(), newRequest("GET", c.target, c.agent), next); err != nil || passed == nil {
				t.Fatalf("the request is not passed on: %v", err)
			}
			if !maps.Equal(vars, passed) {
				t.Errorf("variables: got %v, want %v as they were", vars, passed)
			}
			for _, site := range th.app.ledger.Snapshot(th.clock.now()).Sites {
				if site.Site != "site.example" {
					t.Errorf("noted: got site %s, want the one that was asked", site.Site)
				}
			}
		})
	}
}
