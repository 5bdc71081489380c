package cli

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/caddy-robots/caddy-robots/internal/enforce"
	"github.com/caddy-robots/caddy-robots/robotsrules"
)

var robotsCommands = []string{"check", "explain", "lint", "replay", "test"}

func TestHelpFitsInto80Columns(t *testing.T) {
	for _, command := range append(robotsCommands, "") {
		got := runCommand(nil, strings.Fields(command+" --help")...)
		if got.status != 0 || !strings.Contains(got.out, "Usage:") {
			t.Errorf("%q --help: got %s", command, got)
		}
		for line := range strings.Lines(got.out) {
			if width := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); width > 80 {
				t.Errorf("%q --help: a line is %d columns wide: %s", command, width, line)
			}
		}
	}
}

// complete returns what a shell is told to offer behind the words of a command.
func complete(t *testing.T, words ...string) []string {
	t.Helper()
	got := runRoot(nil, append([]string{"__completeNoDesc", "robots"}, words...)...)
	if got.status != 0 {
		t.Fatalf("__completeNoDesc %q: got %s", words, got)
	}
	offers, _, found := strings.Cut(got.out, "\n:") // what follows is an instruction
	if !found {
		return nil
	}
	return strings.Split(offers, "\n")
}

func TestShellsCompleteTheCommands(t *testing.T) {
	if got := complete(t, ""); !slices.Equal(got, robotsCommands) {
		t.Errorf("got %q, want %q", got, robotsCommands)
	}
}

func TestShellsCompleteWhatFlagsMayBe(t *testing.T) {
	for _, command := range robotsCommands {
		for flag, want := range map[string][]string{
			"--dialect": {"rfc9309", "draft1996", "norobots1994"},
			"--match":   {"substring", "token"},
		} {
			if got := complete(t, command, flag, ""); !slices.Equal(got, want) {
				t.Errorf("%s %s: got %q, want %q", command, flag, got, want)
			}
		}
	}
}

// What the flags may be is what the directive may be told.
func TestCompletedDialectsAndMatchesExist(t *testing.T) {
	for _, word := range complete(t, "check", "--dialect", "") {
		if _, err := robotsrules.ParseDialect(word); err != nil {
			t.Error(err)
		}
	}
	for _, word := range complete(t, "check", "--match", "") {
		if _, err := robotsrules.ParseMatch(word); err != nil {
			t.Error(err)
		}
	}
}

func TestLintOfTheExampleSite(t *testing.T) {
	const want = `../../example/robots.txt:5: info: robots that follow another standard decide otherwise: for "*", /private/press.html is allowed by rfc9309 (line 5) and disallowed by draft1996 (line 4) and norobots1994 (line 4). So it is with 1 more line; --json lists all.
4 records, 6 rules: 0 errors, 0 warnings, 2 notes
`
	if got := runCommand(nil, "lint", "../../example/robots.txt"); got.out != want || got.status != 0 {
		t.Errorf("got %s\nwant\n%s", got, want)
	}
}

func TestRulesFromAURL(t *testing.T) {
	for _, tc := range []struct {
		name, dialect string
		serve         http.HandlerFunc
		want          ended // in which %s stands for the address
	}{
		{
			"the text", "rfc9309", func(w http.ResponseWriter, r *http.Request) {
				_, _ = w.Write([]byte("User-agent: *\nDisallow: /private/\n"))
			},
			ended{"disallowed  %s/private/  line 2 \"Disallow: /private/\" in the record for \"*\"\n", "", 1},
		},
		{
			"a redirect is followed", "rfc9309", func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == enforce.RobotsTxt {
					http.Redirect(w, r, "/elsewhere.txt", http.StatusFound)
					return
				}
				_, _ = w.Write([]byte("User-agent: *\nDisallow: /\n"))
			},
			ended{"disallowed  %s/private/  line 2 \"Disallow: /\" in the record for \"*\"\n", "", 1},
		},
		{
			"that there is none is told", "rfc9309", http.NotFound,
			ended{"allowed     %s/private/  no record binds this robot\n", "%s/robots.txt: there is no text, so nothing is disallowed\n", 0},
		},
		{
			"forbidden is nothing today", "rfc9309", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) },
			ended{"allowed     %s/private/  no record binds this robot\n", "", 0},
		},
		{
			"forbidden is all in 1996", "draft1996", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) },
			ended{"disallowed  %s/private/  " + "robots.txt is itself forbidden (401 or 403), which draft1996 reads as all disallowed" + "\n", "", 1},
		},
		{
			"a server in trouble", "rfc9309", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) },
			ended{"", "caddy robots check: %s/robots.txt: answered 502 Bad Gateway\n", 2},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			server := httptest.NewServer(tc.serve)
			defer server.Close()
			want := tc.want
			want.out, want.err = strings.ReplaceAll(want.out, "%s", server.URL), strings.ReplaceAll(want.err, "%s", server.URL)
			got := runCommand(nil, "check", "--dialect", tc.dialect, "--user-agent", "FriendlyBot", server.URL+"/private/")
			if got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}
