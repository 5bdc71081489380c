package policies

import (
	"cmp"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/robotsrules"
)

func TestStatusTable(t *testing.T) {
	for _, test := range []struct {
		status     int
		dialect    string
		disallowed bool
	}{
		{200, "", true}, {203, "", true}, {206, "", true},
		{400, "", false}, {401, "", false}, {403, "", false}, {404, "", false}, {410, "", false},
		{401, "draft1996", true}, {403, "draft1996", true}, {404, "draft1996", false},
		{401, "norobots1994", false}, {403, "norobots1994", false},
	} {
		t.Run(fmt.Sprint(test.status, " ", test.dialect), func(t *testing.T) {
			ts := newTestSiteWith(t, Config{Reading: robotsrules.Options{Dialect: dialectOf(t, test.dialect)}}, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(test.status)
				if test.status < 300 {
					_, _ = io.WriteString(w, closedSite)
				}
			}))
			ts.expect(t, "loaded", test.disallowed)
			ts.logged(t, couldNot, 0)
		})
	}
}

func TestConditionalRequests(t *testing.T) {
	var conditions []string
	ts := newTestSite(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conditions = append(conditions, r.Header.Get("If-None-Match"))
		w.Header().Set("ETag", `"v1"`)
		if r.Header.Get("If-None-Match") == `"v1"` {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		_, _ = io.WriteString(w, closedSite)
	}))
	for range 3 {
		ts.expect(t, "loaded", true)
	}
	if got := strings.Join(conditions, " "); got != ` "v1" "v1"` {
		t.Errorf("If-None-Match: got %q", got)
	}
	ts.logged(t, "robots.txt changed", 0)
}

func TestLifetime(t *testing.T) {
	for _, test := range []struct {
		header, value string
		want          time.Duration
	}{
		{"Cache-Control", "max-age=600", 10 * time.Minute},
		{"Cache-Control", "public, Max-Age=600", 10 * time.Minute},
		{"Cache-Control", "max-age=5", time.Minute},
		{"Cache-Control", "max-age=999999999", 24 * time.Hour},
		{"Cache-Control", "max-age=99999999999999999999", time.Minute},
		{"Cache-Control", "max-age=-1", time.Minute},
		{"Cache-Control", "no-cache, max-age=600", time.Minute},
		{"Expires", "Sun, 01 Nov 2026 13:00:00 GMT", time.Hour},
		{"Expires", "Sun, 01 Nov 2026 11:00:00 GMT", time.Minute},
		{"Expires", "0", time.Minute},
	} {
		ts := newTestSite(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set(test.header, test.value)
			_, _ = io.WriteString(w, closedSite)
		}))
		ts.loadNow()
		got := ts.site.state().Due.Sub(ts.cfg.Now())
		if got != test.want {
			t.Errorf("%s: %s: loaded again after %s, want %s", test.header, test.value, got, test.want)
		}
	}
}

func TestFileSource(t *testing.T) {
	name := filepath.Join(t.TempDir(), "robots.txt")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(closedSite)
	ts := newTestSite(t, nil, Source{File: name})
	ts.expect(t, "at first", true)

	write("User-agent: *\nAllow: /\n")
	ts.expect(t, "changed", false)
	write(closedSite)
	ts.expect(t, "and back", true)

	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	ts.expect(t, "deleted", true)
	if err := os.Mkdir(name, 0o700); err != nil {
		t.Fatal(err)
	}
	ts.expect(t, "replaced by a folder, which cannot be read as a file", true)
	ts.logged(t, couldNot, 1)
}

// dialectOf is the dialect of this name; "" is RFC 9309.
func dialectOf(t *testing.T, name string) robotsrules.Dialect {
	t.Helper()
	dialect, err := robotsrules.ParseDialect(cmp.Or(name, "rfc9309"))
	if err != nil {
		t.Fatal(err)
	}
	return dialect
}
