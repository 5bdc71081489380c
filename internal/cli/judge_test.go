package cli

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/crawler"
	"github.com/caddy-robots/caddy-robots/internal/enforce"
	"github.com/caddy-robots/caddy-robots/internal/policies"
)

// check says of each User-Agent that is known what the engine decides in the server, in whatever
// spelling the path comes.
func TestCheckAgreesWithTheEngine(t *testing.T) {
	const text = "User-agent: *\nDisallow: /private/\nDisallow: /*.pdf$\n\nUser-agent: GPTBot\nUser-agent: curl\nUser-agent: Mozilla\nDisallow: /\nAllow: /press/\n"
	targets := []string{"/", "/private/", "/private/?q=1", "/a/../private/", "/%70rivate/", "/press/a", "/press/../a", "/x.pdf", "/x.pdf?y", "/robots.txt"}
	name := write(t, t.TempDir(), "robots.txt", text)
	var rd reader
	if err := rd.prepare(); err != nil {
		t.Fatal(err)
	}
	engine := enforce.Engine{Policies: &samePolicy{Rules: &rd.compile(policies.Document{Text: text}).Rules}}
	asked := 0
	for _, agent := range userAgents(t) {
		if isName(agent) {
			continue // which check takes for a robot's
		}
		got := runCommand(nil, append([]string{"check", "--json", "--robots-txt", name, "--user-agent", agent}, targets...)...)
		findings := json.NewDecoder(strings.NewReader(got.out))
		who := crawler.Identify(agent)
		for _, target := range targets {
			var f finding
			if err := findings.Decode(&f); err != nil {
				t.Fatalf("%q: %v: %s", agent, err, got)
			}
			r := enforce.Request{Method: http.MethodGet, UserAgent: agent}
			if !r.SetTarget(target) {
				t.Fatalf("%s is not a target", target)
			}
			want := map[bool]string{false: "allowed", true: "disallowed"}[engine.Decide(t.Context(), &r, &who).Refused]
			if f.Verdict != want {
				t.Errorf("%s for %q: got %q, want %q", target, agent, f.Verdict, want)
			}
			asked++
		}
	}
	if asked < 5000 {
		t.Errorf("got %d requests, want at least 5000", asked)
	}
}
