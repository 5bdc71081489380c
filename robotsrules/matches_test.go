package robotsrules_test

import (
	"fmt"
	"testing"

	"github.com/caddy-robots/caddy-robots/robotsrules"
)

// A rule matches a target if a robots.txt of this line alone would have it decide, in
// every dialect and in version 2.0.0. Records have other rules too, which change nothing.
func TestMatchesAgreesWithARobotsTxtOfOneRule(t *testing.T) {
	patterns, targets := smallPatterns(), append(smallTargets(), "/robots.txt", "/robots%2etxt", "/robots.txt?a", "/a b", "é")
	n := 0
	for d := range robotsrules.Dialect(3) {
		for _, version := range []string{"", "Robot-version: 1.0\n", "Robot-version: 2.0.0\n", "Robot-version: 2.4\n"} {
			for i, pattern := range patterns {
				if i%stride() != 0 {
					continue
				}
				head, line := "User-agent: *\n"+version, ruleLine(i%2 == 0, pattern)
				more := robotsrules.Parse([]byte(head+"Allow: /a\nDisallow: /\n"+line), robotsrules.Options{Dialect: d})
				rules := more.Groups[0].Rules
				b := robotsrules.Compile(more, robotsrules.MatchSubstring).Default()
				alone := robotsrules.Compile(robotsrules.Parse([]byte(head+line), robotsrules.Options{Dialect: d}), robotsrules.MatchSubstring).Default()
				if d == robotsrules.NoRobots1994 && i%2 == 0 {
					continue // there, Allow is an unknown field
				}
				for _, target := range targets {
					n++
					if got, want := b.Matches(rules[len(rules)-1], target), alone.Decide(target).Rule != nil; got != want {
						t.Fatalf("%s, %q: %q matches %q: %t, want %t", d, version, line, target, got, want)
					}
				}
			}
		}
	}
	if want := 200_000 / stride(); n < want {
		t.Errorf("compared %d targets, want at least %d", n, want)
	}
}

func TestMatchesOfNothing(t *testing.T) {
	file := robotsrules.Parse([]byte("User-agent: *\nDisallow: /\nNoindex: /a\n"), robotsrules.Options{})
	b := robotsrules.Compile(file, robotsrules.MatchSubstring).Default()
	var none *robotsrules.Binding
	if none.Matches(file.Groups[0].Rules[0], "/a") || b.Matches(nil, "/a") || b.Matches(file.Groups[0].Noindex()[0], "/a") {
		t.Error("no record, no rule, or a Noindex line matches, want no match")
	}
}

// Matches is asked beside Decide, about a file that was put together by hand.
func TestAllowIsNoRuleOf1994(t *testing.T) {
	rule := &robotsrules.Rule{Kind: robotsrules.Allow, Text: "/"}
	file := &robotsrules.File{Dialect: robotsrules.NoRobots1994, Groups: []*robotsrules.Group{
		{Tokens: []robotsrules.Token{{Value: "*"}}, Rules: []*robotsrules.Rule{rule}},
	}}
	b := robotsrules.Compile(file, robotsrules.MatchSubstring).Default()
	if b.Matches(rule, "/a") || b.Decide("/a").Rule != nil {
		t.Error("an Allow matches in the 1994 standard, want no rule")
	}
}

func TestRuleCountIsThatOfAllRecords(t *testing.T) {
	file := robotsrules.Parse([]byte("User-agent: a\nDisallow: /a\nAllow:\nNoindex: /\n\nUser-agent: b\nDisallow: x\n"), robotsrules.Options{})
	if got := file.RuleCount(); got != 3 {
		t.Errorf("RuleCount = %d, want 3", got)
	}
}

func TestVisitTimeIsTheLineThatVisitObeys(t *testing.T) {
	p := compile("User-agent: a\nDisallow: /\n\nUser-agent: A\nVisit-time: 0600-0800 # in the morning\nVisit-time: 0900-1000\n").Named("a").Pace()
	if got := p.VisitTime(); got.Line != 5 || got.Text != "Visit-time: 0600-0800" {
		t.Errorf("VisitTime = line %d %q, want line 5", got.Line, got.Text)
	}
	var none *robotsrules.Pace
	if none.VisitTime() != nil || compile("User-agent: a\nCrawl-delay: 1\n").Named("a").Pace().VisitTime() != nil {
		t.Error("VisitTime is a line where there is none")
	}
}

func ExampleBinding_Matches() {
	file := robotsrules.Parse([]byte(exampleText), robotsrules.Options{})
	binding := robotsrules.Compile(file, robotsrules.MatchSubstring).Named("GPTBot")
	for _, group := range binding.Groups() {
		for _, rule := range group.Rules {
			fmt.Println(rule.Text, binding.Matches(rule, "/private/a.html"))
		}
	}
	// Output:
	// Disallow: /private/ true
	// Allow: /private/*.html$ true
}
