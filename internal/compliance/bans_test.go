package compliance

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// banned returns an event during a ban.
func banned(robot string) Event {
	e := disallowed(robot)
	e.Verdict, e.Path, e.Line, e.Rule = Banned, "/allowed.html", 9, "Disallow: /what-was-broken-before-the-ban"
	return e
}

func TestRequestsDuringABanAreNoDisobedience(t *testing.T) {
	l := NewLedger(Options{})
	note(l, disallowed("figtree"), 2)
	note(l, allowed("figtree"), 2)
	note(l, banned("figtree"), 300)
	got := only(t, l)
	if got.Requests != 304 || got.Disobedient != 2 || got.Refused != 302 || got.Observed != 0 || got.Obedience != 0.5 {
		t.Errorf("got %+v, want 304 requests, 2 disobedient, 302 refused, and half of what was judged obedient", got.Tally)
	}
	if len(got.Evidence) != 2 || slices.ContainsFunc(got.Evidence, func(e Evidence) bool { return e.Verdict == Banned || e.Path != "/private/" }) {
		t.Errorf("evidence: got %+v, want the two requests that broke the rule", got.Evidence)
	}
	if len(got.Lines) != 1 || got.Lines[0].Requests != 2 || len(got.Paths) != 1 || got.Paths[0].Requests != 2 {
		t.Errorf("got lines %+v, paths %+v, want 2 of one each", got.Lines, got.Paths)
	}
	if got.Hours[0].Requests != 304 || got.Hours[0].Disobedient != 2 {
		t.Errorf("the hour: got %+v, want 304 and 2", got.Hours[0])
	}
}

func TestWhoIsOnlyBannedObeys(t *testing.T) {
	l := NewLedger(Options{})
	note(l, banned("figtree"), 3)
	if got := only(t, l); got.Obedience != 1 || got.Disobedient != 0 {
		t.Errorf("got %+v, want nothing disobedient", got.Tally)
	}
}

func TestRefusedAndObservedAreToldApart(t *testing.T) {
	l := NewLedger(Options{})
	note(l, disallowed("figtree"), 2)
	e, b := disallowed("figtree"), banned("figtree")
	e.Refused, b.Refused = false, false
	note(l, e, 3)
	note(l, b, 5)
	note(l, banned("figtree"), 7)
	if got := only(t, l); got.Refused != 9 || got.Observed != 8 {
		t.Errorf("got %d refused and %d observed, want 9 and 8", got.Refused, got.Observed)
	}
}

func TestTheRowSaysUntilWhenItIsBanned(t *testing.T) {
	l := NewLedger(Options{})
	verified, unnamed, trapped := disallowed("FigBot"), disallowed(""), disallowed("")
	verified.Standing, unnamed.Class, trapped.Class = "verified", "unstated", Trapped
	for _, e := range []Event{disallowed("FigBot"), verified, unnamed, trapped, disallowed("OliveBot")} {
		note(l, e, 1)
	}
	r := l.Snapshot(start)
	soon, late := start.Add(hour), start.Add(2*hour)
	r.MarkBans([]Ban{
		{Site: "a.example", Robot: "figbot", Address: "203.0.113.9", Until: late},
		{Site: "a.example", Robot: "figbot", Address: "203.0.113.8", Until: soon},
		{Site: "a.example", Robot: "figbot", Standing: "verified", Until: soon},
		{Site: "a.example", Address: "192.0.2.1", Until: soon},
		{Site: "b.example", Robot: "olivebot", Until: late},
	})
	want := map[string]time.Time{"FigBot/": late, "FigBot/verified": soon, "/": soon}
	for _, robot := range r.Sites[0].Robots {
		name := robot.Robot + "/" + robot.Standing
		if robot.Class == Trapped {
			name += Trapped
		}
		if !robot.BannedUntil.Equal(want[name]) {
			t.Errorf("%s: got banned until %v, want %v", name, robot.BannedUntil, want[name])
		}
		if name == "FigBot/" && strings.Join(robot.BannedAddresses, " ") != "203.0.113.8 203.0.113.9" {
			t.Errorf("got addresses %q, want both", robot.BannedAddresses)
		}
	}
	got := words(page(t, r, PageOptions{}))
	for _, want := range []string{"banned from 2 addresses until 2 Nov, 14:00", "banned until 2 Nov, 13:00", "clients caught in a trap"} {
		if !strings.Contains(got, want) {
			t.Errorf("the page: got no %q in %q", want, got)
		}
	}
}
