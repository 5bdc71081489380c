package policies

import (
	"context"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/caddy-robots/caddy-robots/internal/enforce"
)

// Rules that were put away for room hold for the next request, whatever they came from and whoever
// asks: also where every source is down.
func TestRulesThatWerePutAwayHoldForWhoAsksNext(t *testing.T) {
	for name, sources := range map[string][]Source{
		"own": nil, "inline": {{Text: closedSite}}, "both": {{}, {Text: "User-agent: *\nDisallow: /b/\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			ts := newTestSite(t, text(closedSite), sources...)
			ts.expect(t, "before", true)
			ts.cache.hosts.mu.Lock()
			ts.cache.hosts.putAway(ts.site.record)
			ts.cache.hosts.mu.Unlock()
			if ts.site.Policy() != nil {
				t.Fatal("they are not put away")
			}
			p, _ := ts.ForHost(t.Context(), "site.example", enforce.Asker{At: ts.cfg.Now()})
			if p.Compiled.Default().Decide("/closed/").Allowed() {
				t.Error("who does not wait has no rules")
			}
		})
	}
}

// A reload while a host fails leaves nothing behind that waits for it.
func TestALoaderThatEndsTriesNothingAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var loads atomic.Int32
		ts := newTestSite(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			loads.Add(1)
			w.WriteHeader(http.StatusBadGateway)
		}))
		ts.cfg.Now = time.Now
		life, end := context.WithCancel(t.Context())
		ts.Start(life)
		ts.begin(ts.Name("site.example"))
		time.Sleep(2500 * time.Millisecond) // of the bubble's clock
		if got := loads.Load(); got != 2 {
			t.Errorf("loads in the first 2.5 s: got %d, want 2", got)
		}
		end()
		synctest.Wait()
		if again := ts.site.again.Load(); again == nil || again.Stop() {
			t.Error("the next load is still to come")
		}
		time.Sleep(time.Minute)
		if got := loads.Load(); got != 2 {
			t.Errorf("loads after the end: got %d, want none", got-2)
		}
	})
}
