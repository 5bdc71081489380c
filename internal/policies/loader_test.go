package policies

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"

	"github.com/caddy-robots/caddy-robots/internal/enforce"
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

// A host is looked at again when a robot asks, not by the clock.
func TestWhoAsksHasWhatIsDueLoaded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		loads, clock := 0, noon()
		ts := newTestSiteWith(t, Config{Now: clock.now}, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			loads++
			_, _ = io.WriteString(w, closedSite)
		}))
		for _, step := range []struct {
			after time.Duration
			want  int
		}{{0, 1}, {0, 1}, {59 * time.Second, 1}, {time.Second, 2}, {0, 2}, {time.Hour, 3}} {
			clock.advance(step.after)
			synctest.Wait()
			ts.rules(&http.Request{Host: "site.example"})
			synctest.Wait()
			if loads != step.want {
				t.Errorf("loads %s later: got %d, want %d", step.after, loads, step.want)
			}
		}
	})
}

func TestAFirstLoadThatFailsIsSoonTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		loads, clock := 0, noon()
		ts := newTestSiteWith(t, Config{Now: clock.now}, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			loads++
			w.WriteHeader(http.StatusBadGateway)
		}))
		ts.rules(&http.Request{Host: "site.example"})
		synctest.Wait()
		var pauses []time.Duration
		for begun := loads; len(pauses) < 8; begun = loads {
			began := clock.now()
			for loads == begun {
				clock.advance(time.Second)
				ts.rules(&http.Request{Host: "site.example"})
				synctest.Wait()
			}
			pauses = append(pauses, clock.now().Sub(began))
		}
		if got := fmt.Sprint(pauses); got != "[1s 2s 4s 8s 16s 32s 1m0s 1m0s]" {
			t.Errorf("pauses between loads: got %s", got)
		}
	})
}

func TestAppsAndPeopleNeverWaitForAFirstLoad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ts := newTestSite(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
		began := time.Now()
		ts.ForHost(t.Context(), "site.example", enforce.Asker{At: ts.cfg.Now()})
		if waited := time.Since(began); waited != 0 {
			t.Errorf("waited %s, want not at all", waited)
		}
		time.Sleep(2 * LoadTimeout) // of the bubble's clock: let the load end
	})
}

// Known is a host that two networks of clients have asked for, ten minutes apart.
func TestAMillionMadeUpHostsDriveOutNoKnownOne(t *testing.T) {
	clock := noon()
	ts := newTestSiteWith(t, Config{Now: clock.now}, text(closedSite))
	ts.cfg.Log = zap.NewNop()
	ts.cache.SetMemory(8 << 20)
	ask := func(host, address string) {
		ts.ForHost(t.Context(), host, enforce.Asker{At: clock.now(), Waits: true})
		ts.Asked(host, netip.MustParseAddr(address), clock.now())
	}
	named := ts.Name("named.example")
	for i := range 100 {
		ask(fmt.Sprintf("known%d.example", i), "192.0.2.1")
		ask(fmt.Sprintf("onenetwork%d.example", i), "192.0.2.1")
		ask(fmt.Sprintf("soon%d.example", i), "192.0.2.1")
		ask(fmt.Sprintf("soon%d.example", i), "198.51.100.1")
	}
	clock.advance(knownAfter)
	for i := range 100 {
		ask(fmt.Sprintf("known%d.example", i), "198.51.100.1")
		ask(fmt.Sprintf("onenetwork%d.example", i), "192.0.2.77")
	}
	flood := 1_000_000
	if testing.Short() {
		flood = 100_000
	}
	for i := range flood {
		host := fmt.Sprintf("flood%d.example", i)
		ts.cache.hosts.add(ts.Loader, host, ts.recordKey(host), false)
	}
	kept := func(host string) bool {
		ts.mu.RLock()
		defer ts.mu.RUnlock()
		return ts.sites[host] != nil
	}
	for i := range 100 {
		if host := fmt.Sprintf("known%d.example", i); !kept(host) {
			t.Fatalf("%s is forgotten", host)
		}
		for _, host := range []string{fmt.Sprintf("onenetwork%d.example", i), fmt.Sprintf("soon%d.example", i)} {
			if kept(host) {
				t.Fatalf("%s is kept, though it is not known", host)
			}
		}
	}
	if !kept("named.example") || named.gone.Load() {
		t.Error("a host that the config names is forgotten")
	}
	if held := ts.cache.Held(); held.Bytes > 8<<20 || held.Bytes < 7<<20 {
		t.Errorf("held: got %+v, want nearly 8 MiB", held)
	}
}

// The config's hosts are held, and it is said how much room they need.
func TestTooLittleMemoryForTheNamedHostsIsTold(t *testing.T) {
	ts := newTestSite(t, text(closedSite+strings.Repeat("# a long file\n", 1000)))
	ts.cache.SetMemory(1 << 20)
	for i := range 2000 {
		ts.Name(fmt.Sprintf("host%d.example", i))
	}
	ts.cache.hosts.checkPinned(ts.cfg.Log)
	lines := ts.log.FilterMessageSnippet("hosts_memory is too small").All()
	if len(lines) != 1 || ts.Len() < 2000 {
		t.Fatalf("warnings: got %d, hosts %d; want 1 and 2000", len(lines), ts.Len())
	}
	if instead := lines[0].ContextMap()["instead"]; instead != "write hosts_memory 5MiB in the global robots options" {
		t.Errorf("it says %q", instead)
	}
	ts.cache.SetMemory(5 << 20)
	ts.cache.hosts.checkPinned(ts.cfg.Log)
	if ts.log.FilterMessageSnippet("hosts_memory is too small").Len() != 1 {
		t.Error("the size that it says would not do")
	}
}

// The bounds that docs/threat-model.md states, under a flood.
func TestAFloodOfHostsIsBoundedAndKeepsTheKnownOnes(t *testing.T) {
	const flood, most = 50_000, 16 << 20
	ts := newTestSite(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "User-agent: *\nDisallow: /closed/\nSitemap: https://"+r.Host+"/sitemap.xml\n")
	}))
	ts.cache.SetMemory(most)
	ts.cfg.Log = zap.NewNop() // or the test's log would be what grows
	ask := func(host string) *Rules {
		return ts.rules(&http.Request{Host: host, Header: http.Header{}})
	}
	known := make(map[string]*Rules)
	for i := range 20 {
		host := fmt.Sprintf("known%d.example", i)
		ts.Name(host)
		known[host] = ask(host)
	}
	for i := range flood {
		ask(fmt.Sprintf("flood%d.example", i))
	}
	for host, rules := range known {
		if p := ts.Known(host); p == nil || p.Rules.Text != rules.Text {
			t.Errorf("%s lost its rules", host)
		}
	}
	if held := ts.cache.Held(); held.Bytes > most {
		t.Errorf("held: got %+v, want at most %d bytes", held, most)
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
	ctx, by := t.Context(), enforce.Asker{At: ts.cfg.Now(), Waits: true}
	allocations := testing.AllocsPerRun(100, func() {
		if policy, _ := ts.ForHost(ctx, Host("site.example"), by); policy.Compiled.Default().Decide("/closed/").Allowed() {
			t.Error("no rules")
		}
	})
	if allocations != 0 {
		t.Errorf("allocations: got %v, want none", allocations)
	}
}
