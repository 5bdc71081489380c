package policies

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/caddy-robots/caddy-robots/internal/storage"
)

const closedSite = "User-agent: *\nDisallow: /closed/\n"

// testSite is a loader of one site, a clock that only the test moves, and its log.
type testSite struct {
	*Loader
	site *Site
	log  *observer.ObservedLogs
}

// caches are those of the tests that run: the loaders of a test share one, as those of a process do.
var caches sync.Map

func cacheOf(t *testing.T) *Cache {
	cache, known := caches.LoadOrStore(t, NewCache())
	if !known {
		t.Cleanup(func() { caches.Delete(t) })
	}
	return cache.(*Cache)
}

// newTestSite returns a site whose /robots.txt server answers, or that has the sources.
func newTestSite(t *testing.T, server http.Handler, sources ...Source) *testSite {
	t.Helper()
	return newTestSiteWith(t, Config{}, server, sources...)
}

func newTestSiteWith(t *testing.T, cfg Config, server http.Handler, sources ...Source) *testSite {
	t.Helper()
	core, logs := observer.New(zap.DebugLevel)
	if cfg.Now == nil {
		clock := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
		cfg.Now = func() time.Time { return clock }
	}
	cfg.Sources, cfg.Refresh, cfg.Log = sources, time.Minute, zap.New(core)
	l := New(cacheOf(t), cfg)
	l.life = t.Context()
	if server != nil {
		l.LearnServer(Origin{Server: server, Name: t.Name()})
	}
	host := ""
	if l.PerHost() {
		host = "site.example"
	}
	return &testSite{Loader: l, site: l.site(host), log: logs}
}

// rules returns the rules in force for a request.
func (ts *testSite) rules(r *http.Request) *Rules {
	return ts.PolicyFor(r.Context(), Host(r.Host)).Rules
}

// disallows reports whether the rules in force keep robots from path.
func (ts *testSite) disallows(path string) bool {
	rules := ts.site.Policy()
	return rules.Denied != "" || !rules.Compiled.Default().Decide(path).Allowed()
}

// loadNow loads once, as begin does but for the waiting.
func (ts *testSite) loadNow() {
	if ts.site.Policy() == nil {
		ts.recall(ts.site)
	}
	ts.load(ts.life, ts.site)
}

// settle waits until the first load has ended, and all is done that follows from it.
func (s *Site) settle() {
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
	neverYet = "robots.txt could not be loaded, and nothing of it was loaded before"
	lost     = "robots.txt is refused or gone; its rules do not hold any more"
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
	"408": status(http.StatusRequestTimeout),
	"425": status(http.StatusTooEarly),
	"429": status(http.StatusTooManyRequests),
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

const openSite = "User-agent: *\nDisallow: /other/\n"

// testClock moves only when advance moves it. Background loads read it too.
type testClock struct{ nanos atomic.Int64 }

func newTestClock(at time.Time) *testClock {
	c := new(testClock)
	c.nanos.Store(at.UnixNano())
	return c
}

func (c *testClock) now() time.Time          { return time.Unix(0, c.nanos.Load()).UTC() }
func (c *testClock) advance(d time.Duration) { c.nanos.Add(int64(d)) }

// memory is Caddy's storage in memory.
type memory map[string][]byte

func (m memory) Load(_ context.Context, key string) ([]byte, error) {
	if value, ok := m[key]; ok {
		return value, nil
	}
	return nil, fs.ErrNotExist
}

func (m memory) Store(_ context.Context, key string, value []byte) error {
	m[key] = value
	return nil
}

// store is storage.Store by a name that none of its methods has, so that it can be embedded.
type store = storage.Store

// brokenStorage is Caddy's storage when its disk is out of order.
type brokenStorage struct{ store }

func (brokenStorage) Load(context.Context, string) ([]byte, error) {
	return nil, errors.New("input/output error")
}

// fullStorage is Caddy's storage when its disk is full.
type fullStorage struct{ store }

func (fullStorage) Store(context.Context, string, []byte) error {
	return errors.New("no space left on device")
}
