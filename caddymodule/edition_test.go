package caddymodule

import (
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"go.uber.org/zap"
)

const openSite = "User-agent: *\nDisallow: /other/\n"

// historic is a site whose robots.txt and clock the test changes.
type historic struct {
	*testSite
	clock  *testClock
	answer http.HandlerFunc
}

func newHistoric(t *testing.T, h *Handler, clock *testClock, answer http.HandlerFunc) *historic {
	t.Helper()
	hs := &historic{clock: clock, answer: answer}
	hs.testSite = newTestSiteWith(t, h, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { hs.answer(w, r) }))
	hs.now = clock.now
	hs.loadNow()
	return hs
}

// change has robots.txt answer otherwise, an hour later.
func (hs *historic) change(answer http.HandlerFunc) {
	hs.clock.advance(time.Hour)
	hs.answer = answer
	hs.loadNow()
}

func noon() *testClock { return newTestClock(time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)) }

// expectEarlier checks which text held before, "" for none that is known, and until when.
func (hs *historic) expectEarlier(t *testing.T, what, text, changed string) {
	t.Helper()
	got, until := "none", ""
	if e := hs.site.current.Load().earlier; e != nil {
		got, until = e.rules.text, e.changed.Format("15:04")
	}
	if text == "" {
		text = "none"
	}
	if got != text || until != changed {
		t.Errorf("%s: what held before: got %q until %q, want %q until %q", what, got, until, text, changed)
	}
}

func TestAFirstLoadIsNoChange(t *testing.T) {
	hs := newHistoric(t, &Handler{}, noon(), text(closedSite))
	hs.expectEarlier(t, "first", "", "")
	hs.change(text(closedSite))
	hs.expectEarlier(t, "loaded again", "", "")
}

func TestAChangeKeepsWhatHeldBeforeAndWhen(t *testing.T) {
	hs := newHistoric(t, &Handler{}, noon(), text(closedSite))
	hs.change(text(openSite))
	hs.expectEarlier(t, "changed", closedSite, "13:00")
	hs.change(status(http.StatusInternalServerError))
	hs.expectEarlier(t, "changed, then broken", closedSite, "13:00")
	hs.change(text("User-agent: *\nAllow: /\n"))
	hs.expectEarlier(t, "changed again", openSite, "15:00")
}

func TestTheRulesThatAnUnreachableSiteHasAreNotItsHistory(t *testing.T) {
	for _, word := range []string{"allow", "deny"} {
		hs := newHistoric(t, &Handler{Unreachable: word}, noon(), status(http.StatusBadGateway))
		hs.change(text(closedSite))
		hs.expectEarlier(t, "unreachable "+word, "", "")
		if since := hs.site.current.Load().since.Format("15:04"); since != "13:00" {
			t.Errorf("unreachable %s: in force since %s, want 13:00", word, since)
		}
	}
}

func TestAnEmptyRobotsTxtIsHistoryToo(t *testing.T) {
	hs := newHistoric(t, &Handler{}, noon(), status(http.StatusNotFound))
	hs.change(text(closedSite))
	if e := hs.site.current.Load().earlier; e == nil || e.rules.text != "" {
		t.Errorf("what held before: got %v, want the rules of no text", e)
	}
}

func TestHistoryOutlivesAReload(t *testing.T) {
	clock := noon()
	before := newHistoric(t, &Handler{}, clock, text(closedSite))
	before.change(text(openSite))
	first := before.site.current.Load()

	clock.advance(time.Hour)
	after := newHistoric(t, &Handler{Dialect: "draft1996"}, clock, text(openSite))
	after.expectEarlier(t, "after a reload", closedSite, "13:00")
	second := after.site.current.Load()
	if !second.since.Equal(first.since) || !second.modified.Equal(first.modified) {
		t.Errorf("in force since: got %s and %s, want %s and %s", second.since, second.modified, first.since, first.modified)
	}
	if got, want := second.earlier.rules.file.Dialect.String(), "draft1996"; got != want {
		t.Errorf("what held before is read as %s, want %s, as the settings say now", got, want)
	}

	after.change(text(closedSite))
	after.expectEarlier(t, "changed after the reload", openSite, "15:00")
}

func TestAChangeDuringAReloadIsAChange(t *testing.T) {
	clock := noon()
	newHistoric(t, &Handler{}, clock, text(closedSite))
	clock.advance(time.Hour)
	after := newHistoric(t, &Handler{}, clock, text(openSite))
	after.expectEarlier(t, "after a reload", closedSite, "13:00")
}

func TestSettingsAloneAreNoChange(t *testing.T) {
	clock := noon()
	newHistoric(t, &Handler{}, clock, text(closedSite))
	clock.advance(time.Hour)
	after := newHistoric(t, &Handler{Match: "token", Unnamed: "everyone", MaxSize: 1 << 20}, clock, text(closedSite))
	after.expectEarlier(t, "with other settings", "", "")
	if since := after.site.current.Load().since.Format("15:04"); since != "12:00" {
		t.Errorf("in force since %s, want 12:00", since)
	}
}

func TestAForbiddenRobotsTxtIsKnownAsSuchAfterAReload(t *testing.T) {
	clock := noon()
	before := newHistoric(t, &Handler{Dialect: "draft1996"}, clock, status(http.StatusForbidden))
	before.change(text(openSite))
	after := newHistoric(t, &Handler{Dialect: "draft1996"}, clock, text(openSite))
	if got := after.site.current.Load().earlier.rules.denied; got != deniedForbidden {
		t.Errorf("denied by what held before: got %q, want %q", got, deniedForbidden)
	}
}

func TestSitesOfOtherSourcesHaveNoCommonHistory(t *testing.T) {
	newTestSite(t, nil, Source{Text: closedSite}).loadNow()
	other := newTestSite(t, nil, Source{Text: openSite})
	other.loadNow()
	if e := other.site.current.Load().earlier; e != nil {
		t.Errorf("what held before: got %q of another site", e.rules.text)
	}
}

func TestLastModifiedTellsChangesWithinASecondApart(t *testing.T) {
	hs := newHistoric(t, &Handler{}, noon(), text(closedSite))
	seen := make(map[time.Time]bool)
	for i := range 5 {
		hs.answer = text(fmt.Sprintf("User-agent: *\nDisallow: /%d/\n", i))
		hs.loadNow()
		seen[hs.site.current.Load().modified] = true
	}
	if len(seen) != 5 {
		t.Errorf("different times of 5 changes in one second: got %d, want 5", len(seen))
	}
}

func TestHistoryIsBounded(t *testing.T) {
	ts := newTestSite(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprintf(w, "User-agent: *\nDisallow: /%s/\n", r.Host)
	}))
	for i := range 2 * maxHosts {
		ts.rules(&http.Request{Host: fmt.Sprintf("host%d.example", i)})
	}
	if got := len(ts.shared.history.entries); got > maxHosts {
		t.Errorf("sites with a history: got %d, want at most %d", got, maxHosts)
	}
	var weight int64
	for _, e := range ts.shared.history.entries {
		weight += int64(len(e.value.text))
	}
	if got := ts.shared.history.weight; got != weight {
		t.Errorf("weight of the history: got %d, want %d", got, weight)
	}
}

// Robots and judges must not get the rules of one edition with the history of another.
func TestRulesAndTheirHistoryAreOfOnePiece(t *testing.T) {
	hs := newHistoric(t, &Handler{}, noon(), text("User-agent: *\nDisallow: /0/\n"))
	hs.loader.log = zap.NewNop()
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := 1; i <= 300; i++ {
			hs.answer = func(w http.ResponseWriter, _ *http.Request) {
				_, _ = io.WriteString(w, fmt.Sprintf("User-agent: *\nDisallow: /%d/\n", i))
			}
			hs.load(hs.life, hs.site)
		}
	}()
	for {
		e := hs.inForce(&http.Request{}, "site.example")
		if e.earlier != nil {
			var now, before int
			_, _ = fmt.Sscanf(e.text, "User-agent: *\nDisallow: /%d/", &now)
			_, _ = fmt.Sscanf(e.earlier.rules.text, "User-agent: *\nDisallow: /%d/", &before)
			if now != before+1 {
				t.Fatalf("rules %d with %d before them", now, before)
			}
		}
		select {
		case <-done:
			return
		default:
		}
	}
}
