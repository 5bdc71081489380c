package caddymodule

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// manyRecords is a robots.txt of 500 records, as the long ones of the real web.
func manyRecords() string {
	var b strings.Builder
	for i := range 498 {
		fmt.Fprintf(&b, "User-agent: Example%dBot\nDisallow: /\n\n", i)
	}
	b.WriteString("User-agent: GPTBot\nCrawl-delay: 1\nDisallow: /private/\nDisallow: /*.pdf$\nAllow: /private/press/\n\n")
	b.WriteString("User-agent: *\nDisallow: /search\nDisallow: /cart\n")
	return b.String()
}

// BenchmarkHandler is the handler over a bare next handler. "bare" is that next handler
// alone: what the others add to it is ours.
func BenchmarkHandler(b *testing.B) {
	plain := newTestHandler(b, manyRecords(), &Handler{})
	banning := newTestHandler(b, manyRecords(), &Handler{Ban: thrice()})
	next := caddyhttp.HandlerFunc(func(http.ResponseWriter, *http.Request) error { return nil })
	benchmarks := []struct{ name, agent, target string }{
		{"browser", chrome, "/articles/2026/11/a-page.html"},
		{"robot allowed by default record", ccBot, "/articles/2026/11/a-page.html"},
		{"robot allowed by its own record with pace", gptBot, "/articles/2026/11/a-page.html"},
		{"robot allowed path read twice", ccBot, "/articles//2026/11/a-page.html"},
		{"robot allowed by its own record with pace and bans", gptBot, "/articles/2026/11/a-page.html"},
		{"library no record names", curl, "/articles/2026/11/a-page.html"},
		{"robot refused 403", gptBot, "/private/a"},
	}
	b.Run("bare", func(b *testing.B) {
		r, rec := newRequest("GET", "/", chrome), httptest.NewRecorder()
		b.ReportAllocs()
		for b.Loop() {
			_ = next.ServeHTTP(rec, r)
		}
	})
	for _, bench := range benchmarks {
		b.Run(strings.ReplaceAll(bench.name, " ", "_"), func(b *testing.B) {
			r := newRequest("GET", bench.target, bench.agent)
			w := &discard{header: make(http.Header)}
			th, clock := plain, time.Now()
			if strings.Contains(bench.name, "bans") {
				th = banning
			}
			th.Handler.clock.now, th.Handler.since, th.isCaddys = time.Now, time.Since, true
			if strings.Contains(bench.name, "pace") {
				// Each request a second after the one before, so that all are allowed.
				th.Handler.clock.now, th.isCaddys = func() time.Time { clock = clock.Add(time.Second); return clock }, false
			}
			vars := r.Context().Value(caddyhttp.VarsCtxKey).(map[string]any)
			b.ReportAllocs()
			for b.Loop() {
				delete(vars, marksKey) // a new request each time
				clear(w.header)
				_ = th.ServeHTTP(w, r, next)
			}
		})
	}
}

// BenchmarkDisallows is the matcher robots_disallows, which costs nothing where it does not stand.
func BenchmarkDisallows(b *testing.B) {
	th := newTestHandler(b, manyRecords(), &Handler{})
	m := asTo(b, th, "")
	for _, target := range []string{"/articles/2026/11/a-page.html", "/search?q=x"} {
		b.Run(target[1:7], func(b *testing.B) {
			r := newRequest("GET", target, chrome)
			b.ReportAllocs()
			for b.Loop() {
				m.Match(r)
			}
		})
	}
}

// BenchmarkAnnounce is a browser's request for a page. "off" is what it costs without: what
// the others add to it is the price of the headers.
func BenchmarkAnnounce(b *testing.B) {
	next := caddyhttp.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) error {
		w.WriteHeader(http.StatusOK)
		return nil
	})
	for _, words := range [][]string{nil, {"timegate"}, {"content_usage"}, {"noindex"}, {"sitemap"}, {"license"}, everyStatement} {
		name := "off"
		if words != nil {
			name = strings.Join(words, "+")
		}
		b.Run(name, func(b *testing.B) {
			th := newTestHandler(b, statements+manyRecords(), &Handler{Announce: words})
			r, w := newRequest("GET", "/drafts/2026/11/a-page.html", chrome), &discard{header: make(http.Header)}
			b.ReportAllocs()
			for b.Loop() {
				clear(w.header)
				_ = th.ServeHTTP(w, r, next)
			}
		})
	}
}

// discard is an http.ResponseWriter that costs nothing.
type discard struct{ header http.Header }

func (d *discard) Header() http.Header         { return d.header }
func (d *discard) Write(p []byte) (int, error) { return len(p), nil }
func (d *discard) WriteHeader(int)             {}
