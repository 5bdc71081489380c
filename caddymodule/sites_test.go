package caddymodule

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestStatesSayWhatIsKnownOfEachSite(t *testing.T) {
	clock := noon()
	broken := ""
	ts := newTestSite(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Host == broken {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		_, _ = io.WriteString(w, closedSite)
	}))
	ts.now = clock.now
	for _, host := range []string{"b.example", "a.example"} {
		ts.load(ts.life, ts.loader.site(host))
	}
	broken = "b.example"
	clock.advance(time.Hour)
	ts.load(ts.life, ts.loader.site("b.example"))

	states := ts.states()
	var hosts []string
	for _, st := range states {
		hosts = append(hosts, st.host)
	}
	if got := fmt.Sprint(hosts); got != "[a.example b.example site.example]" {
		t.Fatalf("hosts: got %s", got)
	}
	a, b, never := states[0], states[1], states[2]
	if a.failure != "" || a.loaded.Format("15:04") != "12:00" || a.edition.text != closedSite {
		t.Errorf("a.example: got %+v", a)
	}
	if !strings.Contains(b.failure, "502") || b.loaded.Format("15:04") != "12:00" || b.edition.text != closedSite {
		t.Errorf("b.example, which fails: got %+v", b)
	}
	if !b.due.After(clock.now()) {
		t.Errorf("b.example is due at %s, want a time to come", b.due)
	}
	if never.edition != nil || !never.loaded.IsZero() || !never.due.IsZero() {
		t.Errorf("a site that was not loaded yet: got %+v", never)
	}
}

func TestRefreshNowHasInForceWhatTheSourceSays(t *testing.T) {
	var answer atomic.Pointer[http.HandlerFunc]
	set := func(f http.HandlerFunc) { answer.Store(&f) }
	set(text(closedSite))
	ts := newTestSite(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { (*answer.Load())(w, r) }))
	ts.loadNow()
	set(text(openSite))
	st, err := ts.refreshNow(t.Context(), "site.example")
	if err != nil || st.edition.text != openSite {
		t.Errorf("refreshed: got %q, %v, want the new text", st.edition.text, err)
	}
	set(status(http.StatusBadGateway))
	st, err = ts.refreshNow(t.Context(), "site.example")
	if err != nil || st.edition.text != openSite || !strings.Contains(st.failure, "502") {
		t.Errorf("refreshed in vain: got %q, failure %q, %v", st.edition.text, st.failure, err)
	}
	if _, err := ts.refreshNow(t.Context(), "other.example"); !errors.Is(err, errUnknownSite) {
		t.Errorf("a host nobody asked for: got %v, want %v", err, errUnknownSite)
	}
}

func TestRefreshNowWorksForEveryHostWhereTheRulesAreTheSame(t *testing.T) {
	ts := newTestSite(t, nil, Source{Text: closedSite})
	if st, err := ts.refreshNow(t.Context(), "any.example"); err != nil || st.edition.text != closedSite {
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
		st, err := ts.refreshNow(t.Context(), "site.example")
		if err != nil || st.edition.text != "User-agent: *\nDisallow: /3/\n" {
			t.Errorf("got %q, %v; want the text of the third load", st.edition.text, err)
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
		if _, err := ts.refreshNow(t.Context(), "site.example"); err != nil || time.Since(began) != loadTimeout {
			t.Errorf("a load that hangs: returned after %s, %v; want %s", time.Since(began), err, loadTimeout)
		}
		synctest.Wait() // for the request of that load to end too
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := ts.refreshNow(ctx, "site.example"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a caller that leaves: got %v", err)
		}
		time.Sleep(2 * loadTimeout) // of the bubble's clock: let the load end
	})
}
