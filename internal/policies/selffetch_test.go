package policies

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
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
		agent, marked = r.UserAgent(), ts.cache.IsMark(r.Header.Get(MarkHeader))
		_, _ = io.WriteString(w, closedSite)
	}))
	defer elsewhere.Close()
	ts = newTestSite(t, http.RedirectHandler(elsewhere.URL+"/r.txt", http.StatusFound))
	ts.expect(t, "redirected", true)
	if agent != FetcherName || !marked {
		t.Errorf("our request says %q, marked %t; want %q and true", agent, marked, FetcherName)
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
