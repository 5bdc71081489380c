package caddymodule

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-robots/caddy-robots/internal/policies"
)

// statements is a robots.txt that states something of every kind.
const statements = `
TimeGate: https://archive.example/timegate/
Archived: site.example/
TimeGate: https://other.example/tg/
Archived: .example/old/
Sitemap: https://site.example/a.xml
Sitemap: https://site.example/b.xml
License: https://site.example/license.xml

User-agent: *
Disallow: /private/
Noindex: /drafts/
Content-Usage: / train-ai=n
Content-Usage: /open/ train-ai=y
Content-Signal: search=yes, ai-train=no

User-agent: GPTBot
Disallow: /news/
Content-Usage: / train-ai=y
Noindex: /about
`

var everyStatement = []string{"timegate", "content_usage", "noindex", "sitemap", "license"}

// said returns the headers that announce can set, each as it goes over the wire.
func said(header http.Header) string {
	var all []string
	for _, name := range []string{"Content-Usage", "Content-Signal", "X-Robots-Tag", "Link"} {
		for _, value := range header[name] {
			all = append(all, name+": "+value)
		}
	}
	return strings.Join(all, "\n")
}

const (
	archiveLink  = `Link: <https://archive.example/timegate/http://site.example`
	sitemapLinks = `Link: <https://site.example/a.xml>; rel="sitemap", <https://site.example/b.xml>; rel="sitemap"`
	licenseLink  = `Link: <https://site.example/license.xml>; rel="license"; type="application/rsl+xml"`
)

func TestEachWordAnnouncesItsStatement(t *testing.T) {
	for word, want := range map[string]string{
		"timegate":      archiveLink + `/old/drafts/>; rel="timegate", <https://other.example/tg/http://site.example/old/drafts/>; rel="timegate"`,
		"content_usage": "Content-Usage: train-ai=n\nContent-Signal: search=yes, ai-train=no",
		"noindex":       "",
		"sitemap":       sitemapLinks,
		"license":       licenseLink,
	} {
		th := newTestHandler(t, statements, &Handler{Announce: []string{word}})
		if got := said(th.ask("GET", "/old/drafts/", chrome).Header()); got != want {
			t.Errorf("announce %s: got\n%s\nwant\n%s", word, got, want)
		}
	}
}

func TestStatementsAreThoseOfTheRecordThatBindsTheAsker(t *testing.T) {
	th := newTestHandler(t, statements, &Handler{Announce: []string{"content_usage", "noindex"}})
	const signal = "\nContent-Signal: search=yes, ai-train=no"
	for _, c := range []struct{ agent, target, want string }{
		{chrome, "/", "Content-Usage: train-ai=n" + signal},
		{chrome, "/open/a", "Content-Usage: train-ai=y" + signal},
		{chrome, "/x/..//open/a", "Content-Usage: train-ai=y" + signal},
		{chrome, "/drafts/a", "Content-Usage: train-ai=n" + signal + "\nX-Robots-Tag: noindex"},
		{chrome, "/%64rafts/a", "Content-Usage: train-ai=n" + signal + "\nX-Robots-Tag: noindex"},
		{chrome, "/about", "Content-Usage: train-ai=n" + signal},
		{chrome, "/private/a", ""},
		{chrome, "/robots.txt", "Content-Usage: train-ai=n" + signal},
		{ccBot, "/", "Content-Usage: train-ai=n" + signal},
		{curl, "/", "Content-Usage: train-ai=n" + signal},
		{"", "/", "Content-Usage: train-ai=n" + signal},
		{gptBot, "/", "Content-Usage: train-ai=y"},
		{gptBot, "/about", "Content-Usage: train-ai=y\nX-Robots-Tag: noindex"},
		{gptBot, "/private/a", "Content-Usage: train-ai=y"},
	} {
		if got := said(th.ask("GET", c.target, c.agent).Header()); got != c.want {
			t.Errorf("GET %s for %.20q: got\n%s\nwant\n%s", c.target, c.agent, got, c.want)
		}
	}
}

func TestWhatTheSiteSaysItselfStands(t *testing.T) {
	th := newTestHandler(t, statements, &Handler{Announce: everyStatement})
	own := []string{"Content-Usage: own=1", "Content-Signal: own=1", "X-Robots-Tag: noarchive",
		`Link: </style.css>; rel=preload, <https://own.example/?a="b,c">; title="rel=license; \"x"; REL = "alternate TimeGate"`}
	rec := httptest.NewRecorder()
	err := th.ServeHTTP(rec, newRequest("GET", "/drafts/", chrome), caddyhttp.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) error {
		for _, line := range own {
			name, value, _ := strings.Cut(line, ": ")
			w.Header().Add(name, value)
		}
		_, err := io.WriteString(w, "page")
		return err
	}))
	want := strings.Join(own, "\n") + "\n" + sitemapLinks + "\n" + licenseLink
	if got := said(rec.Header()); err != nil || got != want {
		t.Errorf("got error %v and\n%s\nwant\n%s", err, got, want)
	}
}

func TestARefusalAnnouncesToo(t *testing.T) {
	th := newTestHandler(t, statements, &Handler{Announce: everyStatement})
	rec := th.ask("GET", "/news/today", gptBot)
	want := `Link: </robots.txt>; rel="describedby"` + "\n" + archiveLink + `/news/today>; rel="timegate"` + "\n" + sitemapLinks + "\n" + licenseLink
	if got := said(rec.Header()); rec.Code != http.StatusForbidden || got != want {
		t.Errorf("refusal: got %d and\n%s\nwant 403 and\n%s", rec.Code, got, want)
	}
}

func TestAnErrorThatOthersAnswerAnnouncesToo(t *testing.T) {
	th := newTestHandler(t, statements, &Handler{Announce: everyStatement})
	rec := httptest.NewRecorder()
	missing := errors.New("missing")
	err := th.ServeHTTP(rec, newRequest("GET", "/", chrome), caddyhttp.HandlerFunc(func(http.ResponseWriter, *http.Request) error { return missing }))
	if got := rec.Header().Get("Content-Usage"); err != missing || got != "train-ai=n" {
		t.Errorf("got error %v and Content-Usage %q, want %v and train-ai=n", err, got, missing)
	}
}

// Whatever a handler does first with its response, its final header has the statements and
// an informational one has not.
func TestStatementsStandInTheFinalHeader(t *testing.T) {
	for name, next := range map[string]caddyhttp.HandlerFunc{
		"nothing":     func(http.ResponseWriter, *http.Request) error { return nil },
		"WriteHeader": func(w http.ResponseWriter, _ *http.Request) error { w.WriteHeader(http.StatusNotModified); return nil },
		"Flush":       func(w http.ResponseWriter, _ *http.Request) error { return http.NewResponseController(w).Flush() },
		"ReadFrom": func(w http.ResponseWriter, _ *http.Request) error {
			_, err := w.(io.ReaderFrom).ReadFrom(strings.NewReader("page"))
			return err
		},
		"early hints": func(w http.ResponseWriter, _ *http.Request) error {
			w.WriteHeader(http.StatusEarlyHints)
			if got := said(w.Header()); got != "" {
				return fmt.Errorf("103 announces %s", got)
			}
			return nil
		},
	} {
		th := newTestHandler(t, statements, &Handler{Announce: everyStatement})
		for _, method := range []string{"GET", "HEAD"} {
			rec := httptest.NewRecorder()
			err := th.ServeHTTP(rec, newRequest(method, "/", chrome), next)
			header := rec.Result().Header // as it was sent
			if name == "early hints" || name == "nothing" {
				header = rec.Header() // the server sends it after that
			}
			if got := header.Get("Content-Usage"); err != nil || got != "train-ai=n" {
				t.Errorf("%s, %s: got error %v and Content-Usage %q, want train-ai=n", name, method, err, got)
			}
		}
	}
}

func TestTheWriterThatAnnouncesUnwraps(t *testing.T) {
	th := newTestHandler(t, statements, &Handler{Announce: everyStatement})
	rec := httptest.NewRecorder()
	_ = th.ServeHTTP(rec, newRequest("GET", "/", chrome), caddyhttp.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) error {
		if got := w.(interface{ Unwrap() http.ResponseWriter }).Unwrap(); got != http.ResponseWriter(rec) {
			t.Errorf("Unwrap: got %T, want the writer of the server", got)
		}
		return nil
	}))
}

// The original URI is that of the client's request, and nothing in it ends the link.
func TestTimeGateLinkHoldsTheOriginalURI(t *testing.T) {
	th := newTestHandler(t, "TimeGate: https://archive.example/\nArchived: *\n", &Handler{Announce: []string{"timegate"}})
	for target, want := range map[string]string{
		"/a?b=c&d=%C3%A9":              "/a?b=c&d=%C3%A9",
		`/a>;rel="next",<http://evil/`: "/a%3E;rel=%22next%22,%3Chttp://evil/",
		"/a#b":                         "/a%23b",
		"/é\t\x7f":                     "/%C3%A9%09%7F",
		`/a\^{|}` + "`":                "/a%5C%5E%7B%7C%7D%60",
		"/a\r\nX-Evil: 1":              "/a%0D%0AX-Evil:%201",
	} {
		r := newRequest("GET", "/", chrome)
		r.RequestURI = target
		original := *r
		r = r.WithContext(context.WithValue(r.Context(), caddyhttp.OriginalRequestCtxKey, original))
		rec := httptest.NewRecorder()
		if err := th.ServeHTTP(rec, r, page); err != nil {
			t.Fatal(err)
		}
		want := []string{"<https://archive.example/http://site.example" + want + `>; rel="timegate"`}
		if got := rec.Header()["Link"]; !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", target, got, want)
		}
	}
}

func TestTimeGateLinkHasTheSchemeThatATrustedProxyTells(t *testing.T) {
	th := newTestHandler(t, "TimeGate: https://archive.example/\nArchived: *\n", &Handler{Announce: []string{"timegate"}})
	for trusted, scheme := range map[bool]string{true: "https", false: "http"} {
		r := newRequest("GET", "/", chrome)
		r.Header.Set("X-Forwarded-Proto", "https")
		caddyhttp.SetVar(r.Context(), caddyhttp.TrustedProxyVarKey, trusted)
		want := "<https://archive.example/" + scheme + `://site.example/>; rel="timegate"`
		if got := th.do(r).Header().Get("Link"); got != want {
			t.Errorf("trusted %t: got %s, want %s", trusted, got, want)
		}
	}
}

func TestNoTimeGateLinkWithoutAnOriginalURI(t *testing.T) {
	th := newTestHandler(t, "TimeGate: https://archive.example/\nArchived: *\n", &Handler{Announce: []string{"timegate"}})
	noHost := newRequest("GET", "/", chrome)
	noHost.Host = ""
	for name, r := range map[string]*http.Request{
		"no host": noHost, "long": newRequest("GET", "/"+strings.Repeat("a", policies.MaxLinks), chrome),
		"long encoded": newRequest("GET", "/?"+strings.Repeat("é", policies.MaxLinks/4), chrome),
	} {
		if got := said(th.do(r).Header()); got != "" {
			t.Errorf("%s: got %.200s, want nothing", name, got)
		}
	}
}

func TestHeadersOfManyLinksAreBounded(t *testing.T) {
	var robotsTxt strings.Builder
	for i := range 500 {
		fmt.Fprintf(&robotsTxt, "TimeGate: https://archive%d.example/\nArchived: *\nSitemap: https://site.example/%d.xml\n", i, i)
	}
	th := newTestHandler(t, robotsTxt.String(), &Handler{Announce: everyStatement})
	got := th.ask("GET", "/", chrome).Header()["Link"]
	if len(got) != 2 || len(got[0]) > policies.MaxLinks || len(got[1]) > policies.MaxLinks || !strings.HasPrefix(got[0], "<https://archive0.") {
		t.Errorf("got %d links of %d bytes, want two of at most %d", len(got), len(strings.Join(got, "")), policies.MaxLinks)
	}
	if last := got[0][max(0, len(got[0])-len(`>; rel="timegate"`)):]; last != `>; rel="timegate"` {
		t.Errorf("the time gates end in %q, want a whole link", last)
	}
}

func TestNobodyWaitsForStatements(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		th := newTestHandler(t, "", &Handler{Announce: everyStatement})
		th.policies.LearnServer(policies.Origin{Name: t.Name(), Server: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			<-release
			_, _ = io.WriteString(w, statements)
		})})
		began := time.Now()
		if got := said(th.ask("GET", "/", chrome).Header()); got != "" || time.Since(began) != 0 {
			t.Errorf("before the first load: got %s after %s, want nothing at once", got, time.Since(began))
		}
		close(release)
		synctest.Wait()
		if said(th.ask("GET", "/", chrome).Header()) == "" {
			t.Error("after the first load: got nothing, want the statements")
		}
	})
}

func TestSiteWithoutStatementsAnnouncesNothing(t *testing.T) {
	th := newTestHandler(t, "User-agent: *\nDisallow: /private/\n", &Handler{Announce: everyStatement})
	if got := said(th.ask("GET", "/", chrome).Header()); got != "" {
		t.Errorf("got %s, want nothing", got)
	}
}

func TestAnnouncementsCostOneAllocation(t *testing.T) {
	for _, words := range [][]string{{"timegate"}, {"content_usage"}, {"noindex"}, {"sitemap"}, {"license"}, everyStatement} {
		th := newTestHandler(t, statements, &Handler{Announce: words})
		r, w := newRequest("GET", "/drafts/", chrome), &discard{header: make(http.Header)}
		next := caddyhttp.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) error { w.WriteHeader(http.StatusOK); return nil })
		allocs := testing.AllocsPerRun(100, func() {
			clear(w.header)
			_ = th.ServeHTTP(w, r, next)
		})
		want := 1.0
		if slices.Contains(words, "timegate") {
			want = 2 // its text differs from page to page
		}
		if allocs > want {
			t.Errorf("announce %q: got %v allocations, want at most %v", words, allocs, want)
		}
	}
}
