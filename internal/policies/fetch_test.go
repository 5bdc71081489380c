package policies

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"
)

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
		cache := NewCache()
		cache.IsPublic = func(netip.Addr) bool { return public }
		doc, err := cache.Fetch(t.Context(), outside.URL, 1000, nil, time.Now())
		switch {
		case !public && (err != nil || doc.Text != closedSite || asked != 1):
			t.Errorf("%s: got %q and %v", name, doc.Text, err)
		case public && (err == nil || !strings.Contains(err.Error(), "not a public one") || asked != 0):
			t.Errorf("%s: got %q, %v and %d requests, want an error and none", name, doc.Text, err, asked)
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
