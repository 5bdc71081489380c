package policies

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"
)

func TestOneLoadHoweverManyWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		ts := newTestSite(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			calls++
			time.Sleep(time.Second) // of the bubble's clock
			_, _ = io.WriteString(w, closedSite)
		}))
		results := make(chan *Rules, 100)
		for range cap(results) {
			go func() {
				r := httptest.NewRequest("GET", "http://Site.Example:8080/closed/", nil)
				results <- ts.rules(r)
			}()
		}
		for range cap(results) {
			if rules := <-results; rules.Compiled.Default().Decide("/closed/").Allowed() {
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
		time.Sleep(2 * LoadTimeout) // of the bubble's clock: let the load end
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
		ts.refreshDue(ts.cfg.Now())
		synctest.Wait()
		if loads != 1 {
			t.Errorf("loads at once: got %d, want 1", loads)
		}
		ts.refreshDue(ts.cfg.Now().Add(time.Minute - ts.tick()))
		synctest.Wait()
		if loads != 2 {
			t.Errorf("loads one tick before the refresh is over: got %d, want 2", loads)
		}
	})
}

// The bounds that SECURITY.md states, under a flood.
func TestAFloodOfHostsIsBoundedAndKeepsTheKnownOnes(t *testing.T) {
	const flood = 100_000
	ts := newTestSite(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "User-agent: *\nDisallow: /closed/\nSitemap: https://"+r.Host+"/sitemap.xml\n")
	}))
	ts.cfg.Log = zap.NewNop() // or the test's log would be what grows
	ask := func(host string) *Rules {
		return ts.rules(&http.Request{Host: host, Header: http.Header{}})
	}
	known := make(map[string]*Rules)
	for i := range 20 {
		host := fmt.Sprintf("known%d.example", i)
		ask(host)
		known[host] = ask(host)
	}
	for i := range flood {
		ask(fmt.Sprintf("flood%d.example", i))
	}
	for host, rules := range known {
		if s, ok := ts.sites.get(host); !ok || s.Policy().Rules != rules {
			t.Errorf("%s lost its rules", host)
		}
	}
	if got := len(ts.sites.entries); got > maxHosts {
		t.Errorf("hosts: got %d, want at most %d", got, maxHosts)
	}
	if got := len(ts.cache.lastGood.entries); got > maxHosts {
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
		t.Errorf("heap grew by %d bytes in a second flood, want next to nothing", grown)
	}
}

func TestRefreshNowHasInForceWhatTheSourceSays(t *testing.T) {
	var answer atomic.Pointer[http.HandlerFunc]
	set := func(f http.HandlerFunc) { answer.Store(&f) }
	set(text(closedSite))
	ts := newTestSite(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { (*answer.Load())(w, r) }))
	ts.loadNow()
	set(text(openSite))
	st, err := ts.Refresh(t.Context(), "site.example")
	if err != nil || st.Policy.Rules.Text != openSite {
		t.Errorf("refreshed: got %q, %v, want the new text", st.Policy.Rules.Text, err)
	}
	set(status(http.StatusBadGateway))
	st, err = ts.Refresh(t.Context(), "site.example")
	if err != nil || st.Policy.Rules.Text != openSite || !strings.Contains(st.Failure, "502") {
		t.Errorf("refreshed in vain: got %q, failure %q, %v", st.Policy.Rules.Text, st.Failure, err)
	}
	if _, err := ts.Refresh(t.Context(), "other.example"); !errors.Is(err, ErrUnknownHost) {
		t.Errorf("a host nobody asked for: got %v, want %v", err, ErrUnknownHost)
	}
}

func TestRefreshNowWorksForEveryHostWhereTheRulesAreTheSame(t *testing.T) {
	ts := newTestSite(t, nil, Source{Text: closedSite})
	if st, err := ts.Refresh(t.Context(), "any.example"); err != nil || st.Policy.Rules.Text != closedSite {
		t.Errorf("got %+v, %v", st, err)
	}
}

// What is under way may have asked before the text was changed.
func TestRefreshNowLoadsAfterTheLoadUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var loads atomic.Int32
		ts := newTestSite(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			n := loads.Add(1)
			time.Sleep(time.Second) // of the bubble's clock
			_, _ = fmt.Fprintf(w, "User-agent: *\nDisallow: /%d/\n", n)
		}))
		ts.loadNow()
		ts.begin(ts.site)
		synctest.Wait()
		st, err := ts.Refresh(t.Context(), "site.example")
		if err != nil || st.Policy.Rules.Text != "User-agent: *\nDisallow: /3/\n" {
			t.Errorf("got %q, %v; want the text of the third load", st.Policy.Rules.Text, err)
		}
	})
}

func TestRefreshNowIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hanging := false
		ts := newTestSite(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if hanging {
				<-r.Context().Done()
			}
			_, _ = io.WriteString(w, closedSite)
		}))
		ts.loadNow()
		hanging = true
		began := time.Now()
		if _, err := ts.Refresh(t.Context(), "site.example"); err != nil || time.Since(began) != LoadTimeout {
			t.Errorf("a load that hangs: returned after %s, %v; want %s", time.Since(began), err, LoadTimeout)
		}
		synctest.Wait() // for the request of that load to end too
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := ts.Refresh(ctx, "site.example"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a caller that leaves: got %v", err)
		}
		time.Sleep(2 * LoadTimeout) // of the bubble's clock: let the load end
	})
}

// Each request of a robot asks for the policy of its host.
func TestTheRulesOfAKnownHostCostNoAllocation(t *testing.T) {
	ts := newTestSite(t, text(closedSite))
	ts.loadNow()
	ctx := t.Context()
	allocations := testing.AllocsPerRun(100, func() {
		if policy := ts.ForHost(ctx, Host("site.example")); policy.Compiled.Default().Decide("/closed/").Allowed() {
			t.Error("no rules")
		}
	})
	if allocations != 0 {
		t.Errorf("allocations: got %v, want none", allocations)
	}
}
