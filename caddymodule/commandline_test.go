package caddymodule

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

var robotsCommands = []string{"check", "explain", "lint", "replay", "test"}

// complete returns what a shell is told to offer behind the words of a command.
func complete(t *testing.T, words ...string) []string {
	t.Helper()
	got := runRoot(t, nil, append([]string{"__completeNoDesc", "robots"}, words...)...)
	if got.status != 0 {
		t.Fatalf("__completeNoDesc %q: got %s", words, got)
	}
	offers, _, found := strings.Cut(got.out, "\n:") // what follows is an instruction
	if !found {
		return nil
	}
	return strings.Split(offers, "\n")
}

// check says of each User-Agent that is known what the handler does with it, in whatever
// spelling the path comes.
func TestCheckAgreesWithTheHandler(t *testing.T) {
	const text = "User-agent: *\nDisallow: /private/\nDisallow: /*.pdf$\n\nUser-agent: GPTBot\nUser-agent: curl\nUser-agent: Mozilla\nDisallow: /\nAllow: /press/\n"
	targets := []string{"/", "/private/", "/private/?q=1", "/a/../private/", "/%70rivate/", "/press/a", "/press/../a", "/x.pdf", "/x.pdf?y", "/robots.txt"}
	rules := write(t, t.TempDir(), "robots.txt", text)
	th := newTestHandler(t, text, &Handler{})
	asked := 0
	for _, row := range userAgents(t, "*.txt") {
		agent := row[2]
		if isName(agent) {
			continue // which check takes for a robot's
		}
		got := runCommand(t, nil, append([]string{"check", "--json", "--robots-txt", rules, "--user-agent", agent}, targets...)...)
		findings := json.NewDecoder(strings.NewReader(got.out))
		for _, target := range targets {
			var f finding
			if err := findings.Decode(&f); err != nil {
				t.Fatalf("%q: %v: %s", agent, err, got)
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
