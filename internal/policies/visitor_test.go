package policies

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/caddy-robots/caddy-robots/robotsrules"
)

const (
	visitorsOnly = "the site refuses robots.txt to Caddy's own fetch; the text that visitors get holds"
	refusedAll   = "the site refuses robots.txt to visitors too; nothing is disallowed by it"
)

// cdn is the peer that a firewall admits, and edge a visitor who came through it.
const cdn = "192.0.2.1:4711"

func edge() *Visitor {
	return &Visitor{Peer: cdn, Header: http.Header{"X-Forwarded-For": {"198.51.100.7"}}}
}

// behindFirewall is a site that refuses all but the CDN, which is given what answers.
type behindFirewall struct{ own, visitors http.HandlerFunc }

func (f *behindFirewall) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.RemoteAddr == cdn && r.Header.Get("X-Forwarded-For") == "198.51.100.7" {
		f.visitors(w, r)
	} else {
		f.own(w, r)
	}
}

// meet has a visitor come whom the site answers, and waits for what follows.
func (ts *testSite) meet(t *testing.T, wanted bool) {
	t.Helper()
	if got := ts.WantsVisitor("site.example"); got != wanted || ts.WantsRequests() != wanted {
		t.Errorf("a visitor is wanted: got %t, want %t", got, wanted)
	}
	ts.Meet("site.example", edge())
	synctest.Wait()
}

func TestARefusedRobotsTxtIsAskedForAsAVisitor(t *testing.T) {
	for _, refusal := range []int{http.StatusUnauthorized, http.StatusForbidden} {
		synctest.Test(t, func(t *testing.T) {
			server := &behindFirewall{own: status(refusal), visitors: text(closedSite)}
			ts := newTestSite(t, server)
			ts.expect(t, "refused", false)
			ts.meet(t, true)
			if !ts.disallows("/closed/") {
				t.Error("what the visitor is answered does not hold")
			}
			ts.logged(t, visitorsOnly, 1)
			st := ts.site.state()
			if got := ts.Record(&st, ts.cfg.Now()).Holds; got != fmt.Sprintf("what a visitor is answered; our own fetch is refused with %d", refusal) {
				t.Errorf("holds: got %q", got)
			}
			ts.meet(t, false)

			server.visitors = text(openSite)
			ts.expect(t, "changed for visitors", false)
			server.visitors = text(closedSite)
			ts.expect(t, "changed back", true)
			for name, failure := range failures {
				server.visitors = failure
				ts.expect(t, "for visitors it fails: "+name, true)
			}
			server.visitors = text("<!DOCTYPE html><title>Log in</title>")
			ts.expect(t, "a page", true)
			server.visitors = status(http.StatusNotFound)
			ts.expect(t, "gone", false)
			server.visitors = text(closedSite)
			ts.expect(t, "back", true)
			server.own = text(openSite)
			ts.expect(t, "let in", false)
			if !ts.disallows("/other/") || ts.WantsRequests() {
				t.Error("our own fetch is answered, and that does not hold")
			}
		})
	}
}

func TestWhatAVisitorWasToldHoldsUntilANewOneIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &behindFirewall{own: status(403), visitors: text(closedSite)}
		ts := newTestSite(t, server)
		ts.loadNow()
		ts.meet(t, true)
		server.visitors = status(403) // the visitor is locked out, perhaps
		ts.expect(t, "refused to the visitor", true)
		ts.logged(t, couldNot, 1)
		ts.expect(t, "nobody new came", true)
		ts.meet(t, true)
		if ts.disallows("/closed/") {
			t.Error("refused to one who was answered just now, and the rules hold")
		}
		ts.logged(t, lost, 1)
		ts.logged(t, refusedAll, 1)
		ts.meet(t, false) // not with each visitor
		ts.expect(t, "when it is due", false)
		server.visitors = text(closedSite)
		ts.meet(t, true)
		if !ts.disallows("/closed/") {
			t.Error("answered again, and the rules do not hold")
		}
	})
}

func TestASecondTryNeverTakesRulesAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		// The draft of 1996 has robots stay out of what is refused.
		server := &behindFirewall{own: status(403), visitors: text("")}
		ts := newTestSiteWith(t, Config{Reading: robotsrules.Options{Dialect: robotsrules.Draft1996}}, server)
		ts.expect(t, "draft1996", true)
		ts.meet(t, false)
		ts.expect(t, "draft1996, a visitor came", true)
	})
	synctest.Test(t, func(t *testing.T) {
		server := &behindFirewall{own: text(closedSite), visitors: text("")}
		ts := newTestSite(t, server)
		ts.loadNow()
		ts.site.record.visitor.Store(edge())
		ts.expect(t, "our own fetch is answered", true)
		server.own = status(404)
		ts.expect(t, "gone", false)
		ts.meet(t, false)
	})
}

func TestAVisitorSurvivesAReload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &behindFirewall{own: status(403), visitors: text(closedSite)}
		ts := newTestSite(t, server)
		ts.loadNow()
		ts.meet(t, true)
		next := newTestSite(t, server)
		next.expect(t, "after a reload", true)
		next.meet(t, false)
	})
}

func TestNothingButTheAddressOfAVisitorIsShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sent http.Header
		server := &behindFirewall{own: status(401), visitors: func(w http.ResponseWriter, r *http.Request) {
			sent = r.Header
			_, _ = io.WriteString(w, closedSite)
		}}
		ts := newTestSite(t, server)
		ts.loadNow()
		ts.meet(t, true)
		for name := range sent {
			if !strings.Contains("User-Agent Accept X-Forwarded-For If-None-Match If-Modified-Since "+MarkHeader, name) {
				t.Errorf("shown: %s", name)
			}
		}
		if sent.Get("User-Agent") != FetcherName {
			t.Errorf("User-Agent: got %q, want %q", sent.Get("User-Agent"), FetcherName)
		}
	})
}
