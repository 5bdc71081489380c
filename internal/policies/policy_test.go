package policies

import (
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/caddy-robots/caddy-robots/robotsrules"
)

// draft1996 reads texts as the 1996 draft does.
var draft1996 = Config{Reading: robotsrules.Options{Dialect: robotsrules.Draft1996, MaxBytes: robotsrules.DefaultMaxBytes}}

// historic is a site whose robots.txt and clock the test changes.
type historic struct {
	*testSite
	clock  *testClock
	answer http.HandlerFunc
}

func newHistoric(t *testing.T, cfg Config, clock *testClock, answer http.HandlerFunc) *historic {
	t.Helper()
	hs := &historic{clock: clock, answer: answer}
	cfg.Now = clock.now
	hs.testSite = newTestSiteWith(t, cfg, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { hs.answer(w, r) }))
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
	if p := hs.site.Policy(); p.Previous != nil {
		got, until = p.previous.Text, p.Previous.Until.Format("15:04")
	}
	if text == "" {
		text = "none"
	}
	if got != text || until != changed {
		t.Errorf("%s: what held before: got %q until %q, want %q until %q", what, got, until, text, changed)
	}
}

func TestAFirstLoadIsNoChange(t *testing.T) {
	hs := newHistoric(t, Config{}, noon(), text(closedSite))
	hs.expectEarlier(t, "first", "", "")
	hs.change(text(closedSite))
	hs.expectEarlier(t, "loaded again", "", "")
}

func TestAChangeKeepsWhatHeldBeforeAndWhen(t *testing.T) {
	hs := newHistoric(t, Config{}, noon(), text(closedSite))
	hs.change(text(openSite))
	hs.expectEarlier(t, "changed", closedSite, "13:00")
	hs.change(status(http.StatusInternalServerError))
	hs.expectEarlier(t, "changed, then broken", closedSite, "13:00")
	hs.change(text("User-agent: *\nAllow: /\n"))
	hs.expectEarlier(t, "changed again", openSite, "15:00")
}

func TestTheRulesThatAnUnreachableSiteHasAreNotItsHistory(t *testing.T) {
	for _, word := range []string{"allow", "deny"} {
		hs := newHistoric(t, Config{DenyUnknown: word == "deny"}, noon(), status(http.StatusBadGateway))
		hs.change(text(closedSite))
		hs.expectEarlier(t, "unreachable "+word, "", "")
		if since := hs.site.Policy().Since.Format("15:04"); since != "13:00" {
			t.Errorf("unreachable %s: in force since %s, want 13:00", word, since)
		}
	}
}

func TestAnEmptyRobotsTxtIsHistoryToo(t *testing.T) {
	hs := newHistoric(t, Config{}, noon(), status(http.StatusNotFound))
	hs.change(text(closedSite))
	if p := hs.site.Policy(); p.Previous == nil || p.previous.Text != "" {
		t.Errorf("what held before: got %v, want the rules of no text", p.previous)
	}
}

func TestHistoryOutlivesAReload(t *testing.T) {
	clock := noon()
	before := newHistoric(t, Config{}, clock, text(closedSite))
	before.change(text(openSite))
	first := before.site.Policy()

	clock.advance(time.Hour)
	after := newHistoric(t, draft1996, clock, text(openSite))
	after.expectEarlier(t, "after a reload", closedSite, "13:00")
	second := after.site.Policy()
	if !second.Since.Equal(first.Since) || !second.Modified.Equal(first.Modified) {
		t.Errorf("in force since: got %s and %s, want %s and %s", second.Since, second.Modified, first.Since, first.Modified)
	}
	if want := after.cache.Compile(*second.previous, draft1996.Reading, draft1996.Match); second.Previous.Rules != &want.Rules {
		t.Errorf("what held before is not read as the settings say now")
	}

	after.change(text(closedSite))
	after.expectEarlier(t, "changed after the reload", openSite, "15:00")
}

func TestAChangeDuringAReloadIsAChange(t *testing.T) {
	clock := noon()
	newHistoric(t, Config{}, clock, text(closedSite))
	clock.advance(time.Hour)
	after := newHistoric(t, Config{}, clock, text(openSite))
	after.expectEarlier(t, "after a reload", closedSite, "13:00")
}

func TestSettingsAloneAreNoChange(t *testing.T) {
	clock := noon()
	newHistoric(t, Config{}, clock, text(closedSite))
	clock.advance(time.Hour)
	after := newHistoric(t, Config{Match: robotsrules.MatchToken, Reading: robotsrules.Options{MaxBytes: 1 << 20}}, clock, text(closedSite))
	after.expectEarlier(t, "with other settings", "", "")
	if since := after.site.Policy().Since.Format("15:04"); since != "12:00" {
		t.Errorf("in force since %s, want 12:00", since)
	}
}

func TestAForbiddenRobotsTxtIsKnownAsSuchAfterAReload(t *testing.T) {
	clock := noon()
	before := newHistoric(t, draft1996, clock, status(http.StatusForbidden))
	before.change(text(openSite))
	after := newHistoric(t, draft1996, clock, text(openSite))
	if got := after.site.Policy().Previous.Rules.Denied; got != deniedForbidden {
		t.Errorf("denied by what held before: got %q, want %q", got, deniedForbidden)
	}
}

func TestSitesOfOtherSourcesHaveNoCommonHistory(t *testing.T) {
	newTestSite(t, nil, Source{Text: closedSite}).loadNow()
	other := newTestSite(t, nil, Source{Text: openSite})
	other.loadNow()
	if p := other.site.Policy(); p.Previous != nil {
		t.Errorf("what held before: got %q of another site", p.previous.Text)
	}
}

func TestLastModifiedTellsChangesWithinASecondApart(t *testing.T) {
	hs := newHistoric(t, Config{}, noon(), text(closedSite))
	seen := make(map[time.Time]bool)
	for i := range 5 {
		hs.answer = text(fmt.Sprintf("User-agent: *\nDisallow: /%d/\n", i))
		hs.loadNow()
		seen[hs.site.Policy().Modified] = true
	}
	if len(seen) != 5 {
		t.Errorf("different times of 5 changes in one second: got %d, want 5", len(seen))
	}
}

// No request may get the rules of one policy with what held before another.
func TestRulesAndTheirHistoryAreOfOnePiece(t *testing.T) {
	hs := newHistoric(t, Config{}, noon(), text("User-agent: *\nDisallow: /0/\n"))
	hs.cfg.Log = zap.NewNop()
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
		e := hs.PolicyFor(t.Context(), "site.example")
		if e.Previous != nil {
			var now, before int
			_, _ = fmt.Sscanf(e.Rules.Text, "User-agent: *\nDisallow: /%d/", &now)
			_, _ = fmt.Sscanf(e.previous.Text, "User-agent: *\nDisallow: /%d/", &before)
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
