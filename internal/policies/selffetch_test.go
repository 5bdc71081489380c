package policies

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

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
		agent, marked = r.UserAgent(), ts.cache.Mark(r.Header.Get(MarkHeader)).Covers("/")
		_, _ = io.WriteString(w, closedSite)
	}))
	defer elsewhere.Close()
	ts = newTestSite(t, http.RedirectHandler(elsewhere.URL+"/r.txt", http.StatusFound))
	ts.cache.outside = httpClient
	ts.expect(t, "redirected", true)
	if agent != FetcherName || !marked {
		t.Errorf("our request says %q, marked %t; want %q and true", agent, marked, FetcherName)
	}
}

func TestARedirectToAnotherHostLeadsToPublicAddressesOnly(t *testing.T) {
	asked := 0
	inside := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked++
		_, _ = io.WriteString(w, closedSite)
	}))
	defer inside.Close()
	port := inside.URL[strings.LastIndexByte(inside.URL, ':'):]
	for _, host := range []string{"127.0.0.1", "localhost", "[::1]", "127.1", "0.0.0.0", "[::ffff:127.0.0.1]", "169.254.169.254", "10.255.255.1"} {
		ts := newTestSite(t, http.RedirectHandler("http://user:secret@"+host+port+"/r.txt?token=secret", http.StatusFound))
		ts.loadNow()
		if asked != 0 || ts.site.Policy().Loaded {
			t.Fatalf("%s: got %d requests, loaded %t; want none", host, asked, ts.site.Policy().Loaded)
		}
		told := fmt.Sprint(ts.log.All())
		if host != "127.1" && !strings.Contains(told, "write source url http://"+host+port+"/r.txt") || strings.Contains(told, "user:secret") {
			t.Errorf("%s: log: %s", host, told)
		}
	}
}

func TestWhatAnotherHostSaysTellsOfNoInternalAddress(t *testing.T) {
	elsewhere := httptest.NewServer(text(`Sitemap: https://other.example/a.xml
Sitemap: http://10.0.0.5/b.xml
Sitemap: http://127.1:8080/c.xml
Sitemap: http://redis/d.xml
License: http://metadata.google.internal/
TimeGate: http://[::1]/
Archived: *
TimeGate: https://archive.example/
Archived: *
`))
	defer elsewhere.Close()
	ts := newTestSite(t, http.RedirectHandler(elsewhere.URL+"/r.txt", http.StatusFound))
	ts.cache.outside = httpClient
	ts.loadNow()
	rules := ts.site.Policy().Rules
	gates := rules.AppendTimeGates(nil, "site.example", "/page")
	if rules.SitemapLinks != `<https://other.example/a.xml>; rel="sitemap"` || rules.LicenseLinks != "" || !slices.Equal(gates, []string{"https://archive.example/"}) {
		t.Errorf("told: %s %s %q", rules.SitemapLinks, rules.LicenseLinks, gates)
	}
	// The same text of the site's own is the site's to answer for.
	own := newTestSite(t, text(rules.Text))
	own.loadNow()
	rules = own.site.Policy().Rules
	if !strings.Contains(rules.SitemapLinks, "10.0.0.5") || len(rules.AppendTimeGates(nil, "site.example", "/page")) != 2 {
		t.Errorf("told of its own: %s", rules.SitemapLinks)
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
	if rules.Compiled.Default().Decide("/closed/").Allowed() {
		t.Error("no rules")
	}
	if got.Host != "" || got.ProtoMajor != 1 || got.ProtoMinor != 0 {
		t.Errorf("got host %q, HTTP/%d.%d; want none, HTTP/1.0", got.Host, got.ProtoMajor, got.ProtoMinor)
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
