package cli

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/internal/enforce"
	"github.com/caddy-robots/caddy-robots/robotsrules"
)

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
