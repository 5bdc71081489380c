package caddymodule

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/caddy-robots/caddy-robots/internal/cli"
)

// check says of each User-Agent that is known what the handler does with it, in whatever
// spelling the path comes.
func TestCheckAgreesWithTheHandler(t *testing.T) {
	const text = "User-agent: *\nDisallow: /private/\nDisallow: /*.pdf$\n\nUser-agent: GPTBot\nUser-agent: curl\nUser-agent: Mozilla\nDisallow: /\nAllow: /press/\n"
	targets := []string{"/", "/private/", "/private/?q=1", "/a/../private/", "/%70rivate/", "/press/a", "/press/../a", "/x.pdf", "/x.pdf?y", "/robots.txt"}
	rules := filepath.Join(t.TempDir(), "robots.txt")
	if err := os.WriteFile(rules, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	th := newTestHandler(t, text, &Handler{})
	asked := 0
	for _, row := range userAgents(t, "*.txt") {
		agent := row[2]
		if agent != "" && !strings.ContainsAny(agent, " \t/") {
			continue // which check takes for a robot's
		}
		var out bytes.Buffer
		cmd := &cobra.Command{SilenceUsage: true, SilenceErrors: true}
		cli.Command().CobraFunc(cmd)
		cmd.SetOut(&out)
		cmd.SetArgs(append([]string{"check", "--json", "--robots-txt", rules, "--user-agent", agent}, targets...))
		_ = cmd.Execute() // one of them is disallowed
		findings := json.NewDecoder(strings.NewReader(out.String()))
		for _, target := range targets {
			var f struct{ Verdict string }
			if err := findings.Decode(&f); err != nil {
				t.Fatalf("%q: %v: %s", agent, err, out.String())
			}
			want := map[int]string{http.StatusOK: "allowed", http.StatusForbidden: "disallowed"}[th.ask(http.MethodGet, target, agent).Code]
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
