package caddymodule

import (
	"bufio"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/caddy-robots/caddy-robots/crawler"
	"github.com/caddy-robots/caddy-robots/robotsrules"
)

// explainCommand is caddy robots explain.
func explainCommand() *cobra.Command {
	var q question
	cmd := &cobra.Command{
		Use:   "explain --user-agent <name> [flags] <url>",
		Short: "Explains a decision step by step",
		Long: `
Says in plain sentences who a User-Agent is, which records of robots.txt name it
and which one binds it, which of its rules match the URL, and which one decides.

The User-Agent is read, and the rules are found, as by check.

Exit status: 0 it is allowed, 1 it is disallowed, 2 it could not be run.`,
		Example: `  caddy robots explain --user-agent GPTBot https://example.com/private/
  caddy robots explain --user-agent 'curl/8.17.0' /a/../private/`,
		Args: arguments(1, 1, "URL"),
	}
	q.ask(cmd)
	return runs(cmd, func(cmd *cobra.Command, out *bufio.Writer, args []string) (int, error) {
		e, rules, err := q.read(cmd, args[0])
		if err != nil {
			return 0, err
		}
		a, err := target(args[0])
		if err != nil {
			return 0, err
		}
		return e.explain(out, rules, q.userAgent, &a), nil
	})
}

// explain prints how the decision comes about.
func (e *examiner) explain(out *bufio.Writer, rules *ruleset, userAgent string, a *asked) int {
	who := e.who(userAgent)
	j := e.judge(rules, who, a)
	say := func(format string, values ...any) { fmt.Fprintf(out, format+"\n", values...) }

	say("Who:      %s", describe(who, userAgent))
	e.explainRecord(say, rules, who, &j)
	if binding := j.decision.Binding; binding != nil && j.denied == "" && a.path != robotsPath {
		e.explainRules(say, binding, a)
		explainPace(say, binding)
	}
	say("Verdict:  %s: %s", j.verdict, j.because())
	if j.verdict != Allowed {
		return exitFound
	}
	return exitFine
}

// describe says who a client is.
func describe(who *crawler.Identity, userAgent string) string {
	switch who.Class {
	case crawler.Browser:
		return "a person's browser, going by its User-Agent"
	case crawler.Unstated:
		return "a client without a User-Agent"
	case crawler.App:
		return named(who) + "an app or library: it does not say that it is a robot"
	}
	if isName(userAgent) {
		return "a robot named " + printable(userAgent)
	}
	return named(who) + "a robot"
}

// named returns the name of a client, if it has one, for what it is to follow.
func named(who *crawler.Identity) string {
	if who.Name == "" {
		return "without a name, "
	}
	return who.Name + ", "
}

// explainRecord says which records there are for the client, and which one binds it.
func (e *examiner) explainRecord(say func(string, ...any), rules *ruleset, who *crawler.Identity, j *judgement) {
	if who.Class == crawler.Browser {
		say("Record:   none; a browser is bound by no record, whatever its name")
		return
	}
	rivals := 0 // names beside that of the record that binds it
	for _, group := range rules.file.Groups {
		for _, token := range group.Tokens {
			if token.Value != "*" && e.names(token, who) {
				if !strings.EqualFold(token.Value, j.decision.Binding.Token()) {
					rivals++
				}
				say("Record:   line %d \"User-agent: %s\" names it", token.Line, printable(token.Text))
			}
		}
	}
	binding := j.decision.Binding
	switch {
	case j.denied != "":
		say("Record:   %s", j.denied)
	case binding == nil && who.Class == crawler.App:
		say("Record:   none names it, and the one for \"*\" does not bind apps and libraries")
	case binding == nil:
		say("Record:   none names it, and there is none for \"*\"")
	case binding.Token() == "*":
		say("Record:   none names it, so the one for \"*\" (line %d) binds it", binding.Line())
	case rivals > 0:
		say("Record:   the one for %q (line %d) binds it: %s", binding.Token(), binding.Line(), e.preference())
	default:
		say("Record:   the one for %q (line %d) binds it", binding.Token(), binding.Line())
	}
	if groups := binding.Groups(); len(groups) > 1 {
		var lines []string
		for _, group := range groups {
			lines = append(lines, strconv.Itoa(group.Line))
		}
		say("Record:   those that begin in lines %s are read as one", strings.Join(lines, " and "))
	}
}

// names tells whether a record with this name alone would bind the client.
func (e *examiner) names(token robotsrules.Token, who *crawler.Identity) bool {
	only, _ := e.h.shared.library.compile("User-agent: "+token.Text+"\nDisallow: /\n", "", e.h.settings)
	binding := e.h.binding(only, &judgement{who: who})
	return binding != nil && binding.Token() != "*"
}

// preference says which of several records that name a client binds it.
func (e *examiner) preference() string {
	if e.h.settings.reading.Dialect == robotsrules.RFC9309 {
		return "the longest name does"
	}
	return "the first in the file does"
}

// explainRules says which rules of the record match, in every reading of what is asked for.
func (e *examiner) explainRules(say func(string, ...any), binding *robotsrules.Binding, a *asked) {
	others := a.otherReadings()
	for _, other := range others {
		say("Path:     %s is also read as %s, which is what a server may serve", printable(a.target), printable(other))
	}
	for _, target := range append([]string{a.target}, others...) {
		decision := binding.Decide(target)
		matches := 0
		for _, group := range binding.Groups() {
			for _, rule := range group.Rules {
				if e.matches(group, rule, target) {
					matches++
					say("Rule:     line %d %q matches %s", rule.Line, rule.Text, printable(target))
				}
			}
		}
		switch {
		case matches == 0 && decision.Rule == nil:
			say("Rule:     none matches %s", printable(target))
		case matches > 1 && decision.Rule != nil:
			say("Rule:     line %d decides: %s", decision.Rule.Line, e.precedence(binding))
		}
	}
}

// matches tells whether a rule, alone, has a say about the target.
func (e *examiner) matches(group *robotsrules.Group, rule *robotsrules.Rule, target string) bool {
	text := "User-agent: *\n"
	if group.Version != (robotsrules.Version{}) {
		text += "Robot-version: " + group.Version.String() + "\n"
	}
	alone, _ := e.h.shared.library.compile(text+rule.Text+"\n", "", e.h.settings)
	return alone.policy.Default().Decide(target).Rule != nil
}

// precedence says which of the rules that match decides.
func (e *examiner) precedence(binding *robotsrules.Binding) string {
	switch {
	case binding.Groups()[0].Version.Major >= 2:
		return "an Allow without * does, then a Disallow, then any other Allow"
	case e.h.settings.reading.Dialect == robotsrules.RFC9309:
		return "the longest pattern does, and Allow if two are as long"
	}
	return "the first in the file does"
}

// explainPace says how fast, and when, the robot may come.
func explainPace(say func(string, ...any), binding *robotsrules.Binding) {
	for _, group := range binding.Groups() {
		for _, c := range group.CrawlDelays {
			say("Pace:     line %d %q is to be kept, too", c.Line, c.Text)
		}
		for _, r := range group.RequestRates {
			say("Pace:     line %d %q is to be kept, too", r.Line, r.Text)
		}
		if group.VisitTime != nil {
			say("Hours:    line %d %q is to be kept, too", group.VisitTime.Line, group.VisitTime.Text)
		}
	}
}
