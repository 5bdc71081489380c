package caddymodule

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/caddy-robots/caddy-robots/robotsrules"
)

const closedSite = "User-agent: *\nDisallow: /closed/\n"

// testSite is a loader of one site, a clock that only the test moves, and its log.
type testSite struct {
	*loader
	site *site
	log  *observer.ObservedLogs
}

// newTestSite returns a site whose /robots.txt server answers, or that has the sources.
func newTestSite(t *testing.T, server http.Handler, sources ...Source) *testSite {
	t.Helper()
	return newTestSiteWith(t, &Handler{}, server, sources...)
}

func newTestSiteWith(t *testing.T, h *Handler, server http.Handler, sources ...Source) *testSite {
	t.Helper()
	s, err := h.readOptions()
	if err != nil {
		t.Fatal(err)
	}
	sh, err := acquireShared()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := releaseShared(); err != nil {
			t.Error(err)
		}
	})
	core, logs := observer.New(zap.DebugLevel)
	clock := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	l := newLoader(s, sources, sh, zap.New(core), func() time.Time { return clock })
	l.life = t.Context()
	if server != nil {
		l.origin.Store(&origin{server: server, name: t.Name()})
	}
	host := ""
	if l.perHost {
		host = "site.example"
	}
	return &testSite{loader: l, site: l.site(host), log: logs}
}

// rules returns the rules in force for a request.
func (ts *testSite) rules(r *http.Request) *ruleset { return ts.inForce(r, hostOf(r)).ruleset }

// disallows tells whether the rules in force keep robots from path.
func (ts *testSite) disallows(path string) bool {
	rules := ts.site.current.Load()
	return rules.denied != "" || !rules.policy.Default().Decide(path).Allowed()
}

// loadNow loads once, as begin does but for the waiting.
func (ts *testSite) loadNow() {
	if ts.site.current.Load() == nil {
		ts.recall(ts.site)
	}
	ts.load(ts.life, ts.site)
}

// settle waits until the first load has ended, and all is done that follows from it.
func (s *site) settle() {
	<-s.first
	if end := s.loading.Load(); end != nil {
		<-*end
	}
}

// expect loads once and checks whether /closed/ is disallowed after it.
func (ts *testSite) expect(t *testing.T, what string, disallowed bool) {
	t.Helper()
	ts.loadNow()
	if got := ts.disallows("/closed/"); got != disallowed {
		t.Errorf("%s: /closed/ disallowed: got %t, want %t", what, got, disallowed)
	}
}

// logged checks how often a message was logged.
func (ts *testSite) logged(t *testing.T, message string, want int) {
	t.Helper()
	if got := ts.log.FilterMessage(message).Len(); got != want {
		t.Errorf("log lines %q: got %d, want %d", message, got, want)
	}
}

const (
	couldNot = "robots.txt could not be loaded; what was loaded before holds"
	canAgain = "robots.txt can be loaded again"
)

func text(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, body) }
}

func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

// failures are the ways in which a robots.txt can fail to answer.
var failures = map[string]http.HandlerFunc{
	"500": status(http.StatusInternalServerError),
	"503": status(http.StatusServiceUnavailable),
	"cut off in mid-body by a handler that aborts": func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "User-agent: *\nDisallow:")
		panic(http.ErrAbortHandler)
	},
	"shorter than its Content-Length": func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		_, _ = io.WriteString(w, "User-agent: *\nDisallow: /\n")
	},
	"compressed without being asked to be": func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "br")
		_, _ = io.WriteString(w, "\x0b\x02\x80")
	},
	"redirect to itself": func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/robots.txt", http.StatusFound)
	},
	"endless redirects": func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, r.URL.Path+"x", http.StatusFound)
	},
	"redirect to nowhere": func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", "http://[::1")
		w.WriteHeader(http.StatusFound)
	},
}

func TestAFailedLoadNeverUnloads(t *testing.T) {
	for name, failure := range failures {
		t.Run(name, func(t *testing.T) {
			answer := text(closedSite)
			ts := newTestSite(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { answer(w, r) }))
			ts.expect(t, "at first", true)
			answer = failure
			for range 3 {
				ts.expect(t, "while it fails", true)
			}
			ts.logged(t, couldNot, 1)
			answer = text(closedSite + "Disallow: /more/\n")
			ts.expect(t, "when it is back", true)
			if !ts.disallows("/more/") {
				t.Error("the new text is not in force")
			}
			ts.logged(t, canAgain, 1)
			ts.logged(t, "robots.txt changed", 1)
		})
	}
}

func TestUnreachableSaysWhatHoldsBeforeTheFirstGoodLoad(t *testing.T) {
	for name, failure := range failures {
		t.Run(name, func(t *testing.T) {
			for word, denied := range map[string]bool{"": false, "allow": false, "deny": true} {
				ts := newTestSiteWith(t, &Handler{Unreachable: word}, failure)
				ts.expect(t, "unreachable "+word, denied)
				ts.logged(t, couldNot, 1)
			}
		})
	}
}

func TestALoadThatHangsIsGivenUpAndNotPiledUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		var hanging atomic.Bool
		var calls atomic.Int32
		ts := newTestSite(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if hanging.Load() {
				calls.Add(1)
				<-release // heeds no context
			}
			_, _ = io.WriteString(w, closedSite)
		}))
		ts.expect(t, "at first", true)
		hanging.Store(true)
		began := time.Now()
		ts.expect(t, "while it hangs", true)
		if took := time.Since(began); took != loadTimeout {
			t.Errorf("given up after %s, want %s", took, loadTimeout)
		}
		ts.expect(t, "the next time", true)
		if got := calls.Load(); got != 1 {
			t.Errorf("hanging calls: got %d, want 1", got)
		}
		ts.logged(t, couldNot, 1)
		hanging.Store(false)
		close(release)
		synctest.Wait()
		ts.expect(t, "when it answers again", true)
		ts.logged(t, canAgain, 1)
	})
}

func TestStatusTable(t *testing.T) {
	for _, test := range []struct {
		status     int
		dialect    string
		disallowed bool
	}{
		{200, "", true}, {203, "", true}, {206, "", true},
		{400, "", false}, {401, "", false}, {403, "", false}, {404, "", false}, {410, "", false}, {429, "", false},
		{401, "draft1996", true}, {403, "draft1996", true}, {404, "draft1996", false},
		{401, "norobots1994", false}, {403, "norobots1994", false},
	} {
		t.Run(fmt.Sprint(test.status, " ", test.dialect), func(t *testing.T) {
			ts := newTestSiteWith(t, &Handler{Dialect: test.dialect}, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
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

func TestA404UnloadsTheRules(t *testing.T) {
	answer := text(closedSite)
	ts := newTestSite(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { answer(w, r) }))
	ts.expect(t, "at first", true)
	answer = status(http.StatusNotFound)
	ts.expect(t, "taken away", false)
}

func TestGarbageAndBack(t *testing.T) {
	for name, garbage := range map[string]string{
		"HTML":   "<!DOCTYPE html>\n<title>User-agent: *</title>\nUser-agent: *\nDisallow: /\n",
		"binary": "\x7fELF\x00\x01\xff\xfe" + strings.Repeat("\x00\x90", 4096),
		"UTF-16": "\xff\xfeU\x00s\x00e\x00r\x00",
		"empty":  "",
	} {
		t.Run(name, func(t *testing.T) {
			answer := text(closedSite)
			ts := newTestSite(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { answer(w, r) }))
			ts.expect(t, "at first", true)
			answer = text(garbage)
			ts.expect(t, "garbage", false)
			answer = text(closedSite)
			ts.expect(t, "and back", true)
		})
	}
}

func TestHTMLIsReported(t *testing.T) {
	ts := newTestSite(t, text("<!doctype html><h1>Page not found</h1>"))
	ts.loadNow()
	ts.logged(t, "robots.txt diagnostic", 1)
}

func TestATextOfTenMegabytesIsCutAtAWholeLine(t *testing.T) {
	line := "Disallow: /closed/\n"
	big := "User-agent: *\n" + strings.Repeat(line, 10<<20/len(line))
	ts := newTestSite(t, text(big))
	ts.expect(t, "loaded", true)
	if got, most := len(ts.site.current.Load().text), robotsrules.DefaultMaxBytes+1; got > most {
		t.Errorf("octets kept: got %d, want at most %d", got, most)
	}
	ts.logged(t, couldNot, 0)
	ts.logged(t, "robots.txt diagnostic", 1)
}

func TestAnEndlessTextIsCutToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ts := newTestSite(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, closedSite)
			for r.Context().Err() == nil {
				_, _ = io.WriteString(w, strings.Repeat("# and on\n", 1<<13))
				time.Sleep(10 * time.Millisecond) // of the bubble's clock
			}
		}))
		ts.loadNow()
		ts.logged(t, couldNot, 1) // it never ended: not a text to trust
		time.Sleep(time.Second)   // of the bubble's clock: let the handler see that it is over
	})
}

func TestRedirectsOnTheSameHostGoThroughTheServer(t *testing.T) {
	mux := http.NewServeMux()
	mux.Handle("/robots.txt", http.RedirectHandler("/seo/robots.txt", http.StatusMovedPermanently))
	mux.Handle("/seo/robots.txt", http.RedirectHandler("http://site.example/seo/2026.txt", http.StatusFound))
	mux.Handle("/seo/2026.txt", text(closedSite))
	ts := newTestSite(t, mux)
	ts.expect(t, "two redirects", true)
}

func TestARedirectToAnotherHostGoesOverHTTP(t *testing.T) {
	var ts *testSite
	var agent string
	var marked bool
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		agent, marked = r.UserAgent(), ts.shared.isMark(r.Header.Get(markHeader))
		_, _ = io.WriteString(w, closedSite)
	}))
	defer elsewhere.Close()
	ts = newTestSite(t, http.RedirectHandler(elsewhere.URL+"/r.txt", http.StatusFound))
	ts.expect(t, "redirected", true)
	if agent != fetcherName || !marked {
		t.Errorf("our request says %q, marked %t; want %q and true", agent, marked, fetcherName)
	}
}

func TestARedirectFromThePublicInternetLeadsIntoNoOtherNetwork(t *testing.T) {
	asked := 0
	inside := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked++
		_, _ = io.WriteString(w, closedSite)
	}))
	defer inside.Close()
	outside := httptest.NewServer(http.RedirectHandler(inside.URL+"/r.txt", http.StatusFound))
	defer outside.Close()
	for name, public := range map[string]bool{"from inside": false, "from outside": true} {
		asked = 0
		sh := &shared{isPublic: func(netip.Addr) bool { return public }}
		doc, err := fetch(t.Context(), sh, outside.URL, 1000, maxRedirects, nil, time.Now())
		switch {
		case !public && (err != nil || doc.text != closedSite || asked != 1):
			t.Errorf("%s: got %q and %v", name, doc.text, err)
		case public && (err == nil || !strings.Contains(err.Error(), "not a public one") || asked != 0):
			t.Errorf("%s: got %q, %v and %d requests, want an error and none", name, doc.text, err, asked)
		}
	}
}

func TestTheRequestForTheOwnRobotsTxt(t *testing.T) {
	var got *http.Request
	ts := newTestSite(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r
		_, _ = io.WriteString(w, closedSite)
	}))
	ts.loadNow()
	if got.Method != "GET" || got.RequestURI != "/robots.txt" || got.Host != "site.example" || got.TLS != nil {
		t.Errorf("got %s %s of %s, TLS %v", got.Method, got.RequestURI, got.Host, got.TLS)
	}
	if own, _ := got.Context().Value(ownFetchKey{}).(bool); !own {
		t.Error("the request is not marked as our own")
	}
}

func TestARedirectFromHTTPToHTTPSOfTheSameHost(t *testing.T) {
	ts := newTestSite(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.TLS == nil {
			http.Redirect(w, r, "https://"+r.Host+r.RequestURI, http.StatusMovedPermanently)
			return
		}
		_, _ = io.WriteString(w, closedSite)
	}))
	ts.expect(t, "behind a proxy that ends TLS", true)
}

func TestARequestWithoutHostHasRulesToo(t *testing.T) {
	var got *http.Request
	ts := newTestSite(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r
		_, _ = io.WriteString(w, closedSite)
	}))
	rules := ts.rules(&http.Request{})
	if rules.policy.Default().Decide("/closed/").Allowed() {
		t.Error("no rules")
	}
	if got.Host != "" || got.ProtoMajor != 1 || got.ProtoMinor != 0 {
		t.Errorf("got host %q, HTTP/%d.%d; want none, HTTP/1.0", got.Host, got.ProtoMajor, got.ProtoMinor)
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
		got := time.Unix(0, ts.site.due.Load()).Sub(ts.now()) + ts.tick()
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
	write("<html>")
	ts.expect(t, "replaced by garbage", false)
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

func TestFileSourcePerHost(t *testing.T) {
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "site.example.txt"), []byte(closedSite), 0o600); err != nil {
		t.Fatal(err)
	}
	src := Source{File: filepath.Join(folder, hostPlaceholder+".txt")}
	ts := newTestSite(t, nil, src)
	ts.expect(t, "the host's own file", true)
	for _, host := range []string{"../x", `..\x`, "a/b", ".."} {
		if place, err := src.place(host); err == nil {
			t.Errorf("host %q leads to %s", host, place)
		}
	}
}

func TestURLSource(t *testing.T) {
	answer := text(closedSite)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { answer(w, r) }))
	defer server.Close()
	ts := newTestSite(t, nil, Source{URL: server.URL})
	ts.expect(t, "at first", true)
	answer = func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		_, _ = io.WriteString(w, "User-agent: *")
	}
	ts.expect(t, "cut short", true)
	answer = status(http.StatusNotFound)
	ts.expect(t, "taken away", false)
	answer = text(closedSite)
	ts.expect(t, "back", true)
	server.Close()
	ts.expect(t, "server gone", true)
	ts.logged(t, couldNot, 2)
}

func TestSourcesAreJoinedInOrder(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing.txt")
	ts := newTestSite(t, nil,
		Source{Text: "User-agent: a\nDisallow: /a"},
		Source{File: missing},
		Source{Text: closedSite})
	ts.expect(t, "with a part missing", true)
	want := "# from this site\nUser-agent: a\nDisallow: /a\n\n# from this site\n" + closedSite
	if got := ts.site.current.Load().text; got != want {
		t.Errorf("joined text: got %q, want %q", got, want)
	}
	ts.logged(t, couldNot, 1)
}

// A list that is only to keep some robots out must not keep all of them out.
func TestALimitedPartThatIsForbiddenDisallowsNothing(t *testing.T) {
	list := newListServer(t, status(http.StatusForbidden))
	for limited, disallowed := range map[bool]bool{true: false, false: true} {
		ts := newTestSiteWith(t, &Handler{Dialect: "draft1996"}, nil,
			Source{Text: "User-agent: *\nDisallow: /other/\n"}, Source{URL: list.URL, OnlyDisallowAll: limited})
		ts.expect(t, fmt.Sprintf("only_disallow_all %t", limited), disallowed)
	}
}

func TestAReloadOfTheConfigForgetsNoRules(t *testing.T) {
	before := newTestSite(t, text(closedSite))
	before.expect(t, "before the reload", true)
	after := newTestSite(t, status(http.StatusInternalServerError))
	after.expect(t, "after it, with robots.txt down", true)
}

func TestAHandlerThatGoesAwayStillHasRules(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ts := newTestSite(t, text(closedSite))
		life, end := context.WithCancel(t.Context())
		ts.life = life
		end()
		began := time.Now()
		rules := ts.rules(&http.Request{Host: "site.example"})
		if rules.policy.Default().Decide("/closed/").Allowed() || time.Since(began) != 0 {
			t.Errorf("a request that is still in it has no rules, after %s", time.Since(began))
		}
		synctest.Wait()
		if ts.shared.lastGood.weight != 0 {
			t.Error("what it loads is handed on")
		}
	})
}

func TestRulesOfAnEarlierHandlerAreInForceAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		before := newTestSite(t, text(closedSite))
		before.loadNow()
		after := newTestSite(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
		for range cap(after.slots) {
			after.slots <- struct{}{} // and no load can begin
		}
		began := time.Now()
		rules := after.rules(&http.Request{Host: "site.example"})
		if rules.policy.Default().Decide("/closed/").Allowed() || time.Since(began) != 0 {
			t.Errorf("waited %s for rules that were known", time.Since(began))
		}
		for range cap(after.slots) {
			<-after.slots
		}
		time.Sleep(2 * loadTimeout) // of the bubble's clock: let the load end
	})
}

func TestATextOfAnotherHandlerIsNeverRecalled(t *testing.T) {
	before := newTestSite(t, nil, Source{Text: closedSite})
	before.loadNow()
	after := newTestSite(t, nil, Source{Text: "User-agent: *\nAllow: /\n"})
	if after.recall(after.site) {
		t.Error("a handler with a text of its own takes up that of another")
	}
	after.expect(t, "loaded", false)
	after.logged(t, "robots.txt changed", 0)
}

func TestAChangeIsLoggedWithItsLines(t *testing.T) {
	answer := text(closedSite)
	ts := newTestSite(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { answer(w, r) }))
	ts.loadNow()
	answer = text("User-agent: *\nDisallow: /open/\nDisalow /typo\nUser-agent: *\n")
	ts.loadNow()
	entries := ts.log.FilterMessage("robots.txt changed").All()
	if len(entries) != 1 {
		t.Fatalf("log lines: got %d, want 1", len(entries))
	}
	fields := entries[0].ContextMap()
	in, out := fmt.Sprint(fields["in"]), fmt.Sprint(fields["out"])
	if in != "[User-agent: * Disallow: /open/ Disalow /typo]" && in != "[Disallow: /open/ Disalow /typo User-agent: *]" {
		t.Errorf("lines in: got %s", in)
	}
	if out != "[Disallow: /closed/]" {
		t.Errorf("lines out: got %s", out)
	}
	if ts.log.FilterMessage("robots.txt diagnostic").Len() == 0 {
		t.Error("the typo is not told")
	}
}

func TestOneLoadHoweverManyWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		ts := newTestSite(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			calls++
			time.Sleep(time.Second) // of the bubble's clock
			_, _ = io.WriteString(w, closedSite)
		}))
		results := make(chan *ruleset, 100)
		for range cap(results) {
			go func() {
				r := httptest.NewRequest("GET", "http://Site.Example:8080/closed/", nil)
				results <- ts.rules(r)
			}()
		}
		for range cap(results) {
			if rules := <-results; rules.policy.Default().Decide("/closed/").Allowed() {
				t.Fatal("a request did not wait for the rules")
			}
		}
		if calls != 1 {
			t.Errorf("loads: got %d, want 1", calls)
		}
	})
}

func TestAClientThatLeavesDoesNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ts := newTestSite(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
		ctx, leave := context.WithTimeout(t.Context(), time.Second)
		defer leave()
		began := time.Now()
		ts.rules(httptest.NewRequest("GET", "http://site.example/", nil).WithContext(ctx))
		if waited := time.Since(began); waited != time.Second {
			t.Errorf("waited %s, want 1s", waited)
		}
		time.Sleep(2 * loadTimeout) // of the bubble's clock: let the load end
	})
}

func TestTheBackgroundRefreshLoadsWhatIsDue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		loads := 0
		ts := newTestSite(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			loads++
			_, _ = io.WriteString(w, closedSite)
		}))
		ts.loadNow()
		ts.refresh(ts.now())
		synctest.Wait()
		if loads != 1 {
			t.Errorf("loads at once: got %d, want 1", loads)
		}
		ts.refresh(ts.now().Add(defaultRefresh - ts.tick()))
		synctest.Wait()
		if loads != 2 {
			t.Errorf("loads one tick before the refresh is over: got %d, want 2", loads)
		}
	})
}

func TestHostOf(t *testing.T) {
	for host, want := range map[string]string{
		"example.com": "example.com", "Example.COM:8080": "example.com", "example.com.": "example.com.",
		"example.com.:443": "example.com.", "[::1]": "[::1]", "[::1]:80": "[::1]", "": "",
		"[Example.com]:80": "[example.com]:80", "example.com]:80": "example.com]:80", "::1": "::1", "a:b:80": "a:b:80", "[::1": "[::1",
	} {
		if got := hostOf(&http.Request{Host: host}); got != want {
			t.Errorf("host %q: got %q, want %q", host, got, want)
		}
	}
}

// The bounds that SECURITY.md states, under a flood.
func TestAFloodOfHostsIsBoundedAndKeepsTheKnownOnes(t *testing.T) {
	const flood = 100_000
	ts := newTestSite(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "User-agent: *\nDisallow: /closed/\nSitemap: https://"+r.Host+"/sitemap.xml\n")
	}))
	ts.loader.log = zap.NewNop() // or the test's log would be what grows
	ask := func(host string) *ruleset {
		return ts.rules(&http.Request{Host: host, Header: http.Header{}})
	}
	known := make(map[string]*ruleset)
	for i := range 20 {
		host := fmt.Sprintf("known%d.example", i)
		ask(host)
		known[host] = ask(host)
	}
	for i := range flood {
		ask(fmt.Sprintf("flood%d.example", i))
	}
	for host, rules := range known {
		if s, ok := ts.sites.get(host); !ok || s.current.Load().ruleset != rules {
			t.Errorf("%s lost its rules", host)
		}
	}
	if got := len(ts.sites.entries); got > maxHosts {
		t.Errorf("hosts: got %d, want at most %d", got, maxHosts)
	}
	if got := len(ts.shared.lastGood.entries); got > maxHosts {
		t.Errorf("last good texts: got %d, want at most %d", got, maxHosts)
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for i := range flood {
		ask(fmt.Sprintf("more%d.example", i))
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 16<<20 {
		t.Errorf("heap grew by %d octets in a second flood, want next to nothing", grown)
	}
}

func TestHostsWithTheSameTextShareItsRules(t *testing.T) {
	ts := newTestSite(t, text(closedSite))
	a := ts.rules(&http.Request{Host: "a.example"})
	b := ts.rules(&http.Request{Host: "b.example"})
	if a != b {
		t.Error("two hosts with the same text have rules of their own")
	}
	if got := len(ts.shared.library.rules); got != 1 {
		t.Errorf("texts compiled: got %d, want 1", got)
	}
}

func TestRecorderKeepsTheHeadOfTheBody(t *testing.T) {
	rec := &recorder{header: make(http.Header), limit: 4}
	for _, part := range []string{"ab", "cd", "ef", "gh"} {
		if n, err := rec.Write([]byte(part)); n != 2 || err != nil {
			t.Errorf("writing %q: got %d, %v", part, n, err)
		}
	}
	if !bytes.Equal(rec.body.Bytes(), []byte("abcde")) {
		t.Errorf("kept: got %q, want %q", rec.body.Bytes(), "abcde")
	}
}
