package policies

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
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
	ts.cfg.Now = clock.now
	for _, host := range []string{"b.example", "a.example"} {
		ts.load(ts.life, ts.Loader.site(host))
	}
	broken = "b.example"
	clock.advance(time.Hour)
	ts.load(ts.life, ts.Loader.site("b.example"))

	states := ts.States()
	var hosts []string
	for _, st := range states {
		hosts = append(hosts, st.Host)
	}
	if got := fmt.Sprint(hosts); got != "[a.example b.example site.example]" {
		t.Fatalf("hosts: got %s", got)
	}
	a, b, never := states[0], states[1], states[2]
	if a.Failure != "" || a.Loaded.Format("15:04") != "12:00" || a.Policy.Rules.Text != closedSite {
		t.Errorf("a.example: got %+v", a)
	}
	if !strings.Contains(b.Failure, "502") || b.Loaded.Format("15:04") != "12:00" || b.Policy.Rules.Text != closedSite {
		t.Errorf("b.example, which fails: got %+v", b)
	}
	if !b.Due.After(clock.now()) {
		t.Errorf("b.example is due at %s, want a time to come", b.Due)
	}
	if never.Policy != nil || !never.Loaded.IsZero() || !never.Due.IsZero() {
		t.Errorf("a site that was not loaded yet: got %+v", never)
	}
}

// Two directives may have other sources for one host. Each tells of its own, also after a reload.
func TestTheLastOutcomeIsThatOfTheSameSourcesAfterAReload(t *testing.T) {
	server := status(http.StatusBadGateway)
	place := t.TempDir() + "/" + hostPlaceholder + ".txt"
	if err := os.WriteFile(strings.Replace(place, hostPlaceholder, "site.example", 1), []byte(closedSite), 0o600); err != nil {
		t.Fatal(err)
	}
	own, file := newTestSite(t, text(closedSite)), newTestSite(t, server, Source{File: place})
	own.loadNow()
	file.loadNow()
	failing := newTestSite(t, server)
	failing.loadNow()
	for _, test := range []struct {
		site *testSite
		want string
	}{{newTestSite(t, server), "502"}, {newTestSite(t, server, Source{File: place}), ""}} {
		test.site.recallAlone(test.site.site)
		st := test.site.site.state()
		if st.Loaded.IsZero() || (st.Failure == "") != (test.want == "") || !strings.Contains(st.Failure, test.want) {
			t.Errorf("%s: got %+v, want loaded, with a failure of %q", test.site.SourceNames(), st, test.want)
		}
	}
}

// steps are how far a clock is set right, or wrong, at once.
var steps = map[string]time.Duration{"back": -5 * time.Hour, "ahead": 5 * time.Hour}

func TestRulesAreLoadedAgainWhenTheClockStepped(t *testing.T) {
	for name, step := range steps {
		t.Run(name, func(t *testing.T) {
			loads, clock := 0, newTestClock(time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC))
			ts := newTestSite(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				loads++
				_, _ = io.WriteString(w, closedSite)
			}))
			ts.cfg.Now = clock.now
			ts.loadNow()
			ts.look(ts.site, clock.now())
			if underWay := ts.site.loading.Load(); underWay != nil {
				t.Fatal("rules that were just loaded are loaded again")
			}
			clock.advance(step)
			ts.look(ts.site, clock.now())
			ts.site.settle()
			if loads != 2 {
				t.Errorf("loads: got %d, want 2", loads)
			}
			ts.look(ts.site, clock.now())
			ts.site.settle()
			if loads != 2 {
				t.Errorf("loads by the clock as it is now: got %d, want 2", loads)
			}
		})
	}
}
