package policies

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"

	"github.com/caddy-robots/caddy-robots/robotsrules"
)

func TestAFailedLoadNeverUnloads(t *testing.T) {
	for name, failure := range failures {
		t.Run(name, func(t *testing.T) {
			answer := text(closedSite)
			ts := newTestSite(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { answer(w, r) }))
			ts.expect(t, "at first", true)
			answer = failure
			for range 3 {
				ts.expect(t, "while it fails", true)
			}
			ts.logged(t, couldNot, 1)
			answer = text(closedSite + "Disallow: /more/\n")
			ts.expect(t, "when it is back", true)
			if !ts.disallows("/more/") {
				t.Error("the new text is not in force")
			}
			ts.logged(t, canAgain, 1)
			ts.logged(t, "robots.txt changed", 1)
		})
	}
}

func TestUnreachableSaysWhatHoldsBeforeTheFirstGoodLoad(t *testing.T) {
	for name, failure := range failures {
		t.Run(name, func(t *testing.T) {
			for word, denied := range map[string]bool{"": false, "allow": false, "deny": true} {
				ts := newTestSiteWith(t, Config{DenyUnknown: word == "deny"}, failure)
				ts.expect(t, "unreachable "+word, denied)
				ts.logged(t, couldNot, 0)
				ts.logged(t, neverYet, 1)
			}
		})
	}
}

func TestALoadThatHangsIsGivenUpAndNotPiledUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		var hanging atomic.Bool
		var calls atomic.Int32
		ts := newTestSite(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if hanging.Load() {
				calls.Add(1)
				<-release // heeds no context
			}
			_, _ = io.WriteString(w, closedSite)
		}))
		ts.expect(t, "at first", true)
		hanging.Store(true)
		began := time.Now()
		ts.expect(t, "while it hangs", true)
		if took := time.Since(began); took != LoadTimeout {
			t.Errorf("given up after %s, want %s", took, LoadTimeout)
		}
		ts.expect(t, "the next time", true)
		if got := calls.Load(); got != 1 {
			t.Errorf("hanging calls: got %d, want 1", got)
		}
		ts.logged(t, couldNot, 1)
		hanging.Store(false)
		close(release)
		synctest.Wait()
		ts.expect(t, "when it answers again", true)
		ts.logged(t, canAgain, 1)
	})
}

func TestA4xxThatTakesRulesAwayIsAWarningThatSaysWhoAsked(t *testing.T) {
	for _, code := range []int{400, 401, 403, 404, 410, 451} {
		answer := text(closedSite)
		ts := newTestSite(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { answer(w, r) }))
		ts.expect(t, "at first", true)
		answer = status(code)
		ts.expect(t, "taken away", false)
		lines := ts.log.FilterMessage(lost).All()
		if len(lines) != 1 || lines[0].Level != zap.WarnLevel {
			t.Fatalf("%d: warnings: got %d lines, want one", code, len(lines))
		}
		if said := lines[0].ContextMap(); said["status"] != int64(code) || said["user_agent"] != FetcherName {
			t.Errorf("%d: the warning says %v, want the status and %q", code, said, FetcherName)
		}
	}
}

// A page is no answer to the question for the rules: without rules before it there are none, also
// where a site keeps robots out until it has some.
func TestAPageIsAFailedLoad(t *testing.T) {
	page := text("<!DOCTYPE html>\n<title>User-agent: *</title>\nUser-agent: *\nDisallow: /\n")
	ts := newTestSiteWith(t, Config{DenyUnknown: true}, page)
	ts.expect(t, "nothing before it", false)
	ts.logged(t, neverYet, 1)
	if st := ts.site.state(); !st.Loaded.IsZero() || !strings.Contains(st.Failure, "HTML") {
		t.Errorf("state: loaded %v, failure %q; want never, and that it is HTML", st.Loaded, st.Failure)
	}
	answer := text(closedSite)
	ts = newTestSite(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { answer(w, r) }))
	ts.expect(t, "at first", true)
	answer = page
	ts.expect(t, "in the place of rules", true)
	ts.logged(t, couldNot, 1)
	answer = text(closedSite)
	ts.expect(t, "and back", true)
	ts.logged(t, canAgain, 1)
}

func TestGarbageAndBack(t *testing.T) {
	for name, garbage := range map[string]string{
		"binary": "\x7fELF\x00\x01\xff\xfe" + strings.Repeat("\x00\x90", 4096),
		"UTF-16": "\xff\xfeU\x00s\x00e\x00r\x00",
		"empty":  "",
	} {
		t.Run(name, func(t *testing.T) {
			answer := text(closedSite)
			ts := newTestSite(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { answer(w, r) }))
			ts.expect(t, "at first", true)
			answer = text(garbage)
			ts.expect(t, "garbage", false)
			answer = text(closedSite)
			ts.expect(t, "and back", true)
		})
	}
}

func TestATextOfTenMegabytesIsCutAtAWholeLine(t *testing.T) {
	line := "Disallow: /closed/\n"
	big := "User-agent: *\n" + strings.Repeat(line, 10<<20/len(line))
	ts := newTestSite(t, text(big))
	ts.expect(t, "loaded", true)
	if got, most := len(ts.site.Policy().Rules.Text), robotsrules.DefaultMaxBytes+1; got > most {
		t.Errorf("bytes kept: got %d, want at most %d", got, most)
	}
	ts.logged(t, couldNot, 0)
	ts.logged(t, "robots.txt diagnostic", 1)
}

func TestAnEndlessTextIsCutToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ts := newTestSite(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, closedSite)
			for r.Context().Err() == nil {
				_, _ = io.WriteString(w, strings.Repeat("# and on\n", 1<<13))
				time.Sleep(10 * time.Millisecond) // of the bubble's clock
			}
		}))
		ts.loadNow()
		ts.logged(t, neverYet, 1) // it never ended: not a text to trust
		time.Sleep(time.Second)   // of the bubble's clock: let the handler see that it is over
	})
}

func TestSourcesAreJoinedInOrder(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing.txt")
	ts := newTestSite(t, nil,
		Source{Text: "User-agent: a\nDisallow: /a"},
		Source{File: missing},
		Source{Text: closedSite})
	ts.expect(t, "with a part missing", true)
	want := "# from this site\nUser-agent: a\nDisallow: /a\n\n# from this site\n" + closedSite
	if got := ts.site.Policy().Rules.Text; got != want {
		t.Errorf("joined text: got %q, want %q", got, want)
	}
	ts.logged(t, neverYet, 1)
	if line := ts.log.FilterMessage(neverYet).All()[0].ContextMap(); line["holds"] != "the other sources" {
		t.Errorf("what holds: got %v", line["holds"])
	}
}

// A list that is only to keep some robots out must not keep all of them out.
func TestALimitedPartThatIsForbiddenDisallowsNothing(t *testing.T) {
	list := newListServer(t, status(http.StatusForbidden))
	for limited, disallowed := range map[bool]bool{true: false, false: true} {
		ts := newTestSiteWith(t, Config{Reading: robotsrules.Options{Dialect: robotsrules.Draft1996}}, nil,
			Source{Text: "User-agent: *\nDisallow: /other/\n"}, Source{URL: list.URL, OnlyDisallowAll: limited})
		ts.expect(t, fmt.Sprintf("only_disallow_all %t", limited), disallowed)
	}
}

func TestAReloadOfTheConfigForgetsNoRules(t *testing.T) {
	before := newTestSite(t, text(closedSite))
	before.expect(t, "before the reload", true)
	after := newTestSite(t, status(http.StatusInternalServerError))
	after.expect(t, "after it, with robots.txt down", true)
}

func TestAHandlerThatGoesAwayStillHasRules(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ts := newTestSite(t, text(closedSite))
		life, end := context.WithCancel(t.Context())
		ts.life = life
		end()
		began := time.Now()
		rules := ts.rules(&http.Request{Host: "site.example"})
		if rules.Compiled.Default().Decide("/closed/").Allowed() || time.Since(began) != 0 {
			t.Errorf("a request that is still in it has no rules, after %s", time.Since(began))
		}
		synctest.Wait()
		if held := ts.cache.Held(); held.Texts != 0 {
			t.Errorf("what it loads is handed on: %+v", held)
		}
	})
}

func TestRulesOfAnEarlierHandlerAreInForceAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		before := newTestSite(t, text(closedSite))
		before.loadNow()
		after := newTestSite(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
		for range maxLoads {
			after.cache.known.quick <- struct{}{} // and no load can begin
		}
		began := time.Now()
		rules := after.rules(&http.Request{Host: "site.example"})
		if rules.Compiled.Default().Decide("/closed/").Allowed() || time.Since(began) != 0 {
			t.Errorf("waited %s for rules that were known", time.Since(began))
		}
		for range maxLoads {
			<-after.cache.known.quick
		}
		time.Sleep(2 * LoadTimeout) // of the bubble's clock: let the load end
	})
}

func TestATextOfAnotherHandlerIsNeverRecalled(t *testing.T) {
	before := newTestSite(t, nil, Source{Text: closedSite})
	before.loadNow()
	after := newTestSite(t, nil, Source{Text: "User-agent: *\nAllow: /\n"})
	if after.recall(after.site) {
		t.Error("a handler with a text of its own takes up that of another")
	}
	after.expect(t, "loaded", false)
	after.logged(t, "robots.txt changed", 0)
}
