package compliance

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
)

// chosen returns who is left of a report, and on which sites.
func chosen(r *Report) string {
	var all []string
	for _, s := range r.Sites {
		for _, robot := range s.Robots {
			all = append(all, s.Site+"/"+robot.Robot+"/"+robot.Class+"/"+robot.Standing)
		}
	}
	return strings.Join(all, " ")
}

func TestSelect(t *testing.T) {
	l := NewLedger(Options{})
	for i, e := range []Event{
		{Site: "a.example", Robot: "GPTBot", Class: "robot", Standing: "verified"},
		{Site: "a.example", Robot: "GPTBot", Class: "robot"},
		{Site: "a.example", Robot: "curl", Class: "app"},
		{Site: "b.example", Robot: "GPTBot", Class: "robot", Standing: "impostor"},
		{Site: "b.example", Class: "robot"},
		{Robot: "GPTBot", Class: "robot"},
	} {
		e.Time = start
		note(l, e, 10-i)
	}
	for _, c := range []struct {
		q    Selection
		want string
	}{
		{Selection{Site: "A.Example"}, "a.example/GPTBot/robot/verified a.example/GPTBot/robot/ a.example/curl/app/"},
		{Selection{Site: None}, "/GPTBot/robot/"},
		{Selection{Site: "b.example", Robot: "gptbot"}, "b.example/GPTBot/robot/impostor"},
		{Selection{Robot: None}, "b.example//robot/"},
		{Selection{Class: "App"}, "a.example/curl/app/"},
		{Selection{Robot: "GPTBot", Standing: None, Site: "a.example"}, "a.example/GPTBot/robot/"},
		{Selection{Standing: "impostor"}, "b.example/GPTBot/robot/impostor"},
		{Selection{Robot: "figtree"}, ""},
	} {
		r := l.Snapshot(start).Select(c.q)
		if got := chosen(r); got != c.want {
			t.Errorf("%+v: got %s, want %s", c.q, got, c.want)
		}
	}
	r := l.Snapshot(start)
	mustEqual(t, "the zero Selection", asJSON(t, r.Select(Selection{})), asJSON(t, r))
}

// TestSelectAddsUpWhatIsLeft compares with a ledger that was told of nothing else.
func TestSelectAddsUpWhatIsLeft(t *testing.T) {
	all, few := NewLedger(Options{}), NewLedger(Options{})
	for i := range 300 {
		e := disallowed(fmt.Sprint("robot-", i%7))
		e.Site, e.Verdict, e.Refused = fmt.Sprint(i%3, ".example"), Verdict(i%verdicts), i%2 == 0
		e.Time = start.Add(time.Duration(i) * hour)
		all.Note(&e)
		if i%7 == 3 {
			few.Note(&e)
		}
	}
	now := start.Add(300 * hour)
	whole := all.Snapshot(now)
	before := asJSON(t, whole)
	got, want := whole.Select(Selection{Robot: "ROBOT-3"}), few.Snapshot(now)
	mustEqual(t, "report", asJSON(t, got), asJSON(t, want))
	mustEqual(t, "the whole report afterwards", asJSON(t, whole), before)
}

// TestEachRobotCanBeSelected has robots that differ in one thing only.
func TestEachRobotCanBeSelected(t *testing.T) {
	l := NewLedger(Options{MaxRobots: 60})
	for i := range 64 {
		note(l, Event{
			Time: start, Site: []string{"", "a.example"}[i&1], Robot: []string{"", "figtree"}[i>>1&1],
			Class: classWords[i>>2&3], Standing: standingWords[i>>4&3], Verdict: Disallowed,
		}, 1)
	}
	r := l.Snapshot(start)
	for _, s := range r.Sites {
		for i := range s.Robots {
			q := selectionOf(s.Site, &s.Robots[i])
			if err := q.Check(); err != nil {
				t.Error(err)
			}
			part := r.Select(q)
			if len(part.Sites) != 1 || len(part.Sites[0].Robots) != 1 || !reflect.DeepEqual(part.Sites[0].Robots[0], s.Robots[i]) {
				t.Errorf("%+v: got %s", q, chosen(part))
			}
		}
	}
}

func TestSelectionsThatCanBeNothing(t *testing.T) {
	for _, c := range []struct {
		q    Selection
		want string
	}{
		{Selection{}, ""},
		{Selection{Site: "anything", Robot: "<b>", Class: "Robot", Standing: "-"}, ""},
		{Selection{Class: "other", Standing: "verified"}, ""},
		{Selection{Class: "bot"}, `unknown class "bot": write one of ["unstated" "robot" "app" "browser" "other" "service" "trapped"]`},
		{Selection{Standing: "trusted"}, `unknown standing "trusted": write one of ["-" "verified" "unverified" "impostor"], the first for robots of which nothing can be checked`},
	} {
		got := ""
		if err := c.q.Check(); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%+v: got %q, want %q", c.q, got, c.want)
		}
	}
}

func TestARobotThatReadsNoDelayIsMarkedWhereItCameTooFast(t *testing.T) {
	l := NewLedger(Options{})
	for _, robot := range []string{"figtree", "webcrawler"} {
		e := disallowed(robot)
		e.Verdict = TooFast
		note(l, e, 3)
	}
	note(l, disallowed("lycos"), 3)
	r := l.Snapshot(start)
	r.MarkKnown(func(robot string) Known { return Known{ReadsNoDelay: robot != "webcrawler"} })
	for _, robot := range r.Sites[0].Robots {
		if want := robot.Robot == "figtree"; robot.UnreadDelay != want {
			t.Errorf("%s: got %t, want %t", robot.Robot, robot.UnreadDelay, want)
		}
	}
	if got := words(page(t, r, PageOptions{})); strings.Count(got, "reads no Crawl-delay") != 1 {
		t.Errorf("got %q", got)
	}
}
