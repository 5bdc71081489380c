package policies

import (
	"net/http"
	"testing"
)

func TestHostsWithTheSameTextShareItsRules(t *testing.T) {
	ts := newTestSite(t, text(closedSite))
	a := ts.rules(&http.Request{Host: "a.example"})
	b := ts.rules(&http.Request{Host: "b.example"})
	if a != b {
		t.Error("two hosts with the same text have rules of their own")
	}
	if got := len(ts.cache.library.rules); got != 1 {
		t.Errorf("texts compiled: got %d, want 1", got)
	}
}
