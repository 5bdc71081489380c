package cli

import (
	"bufio"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/caddy-robots/caddy-robots/crawler"
	"github.com/caddy-robots/caddy-robots/internal/enforce"
	"github.com/caddy-robots/caddy-robots/internal/policies"
	"github.com/caddy-robots/caddy-robots/robotsrules"
)

// explainCommand is caddy robots explain.
func explainCommand() *cobra.Command {
	var q question
	cmd := &cobra.Command{
		Use:   "explain --user-agent <name> [flags] <url>",
		Short: "Explains a decision step by step",
		Long: `
Says in plain sentences which client a User-Agent is, which records of
robots.txt name it and which one binds it, which of its rules match the URL, and
which one decides.

It reads the User-Agent and finds the rules as check does.

Exit status: 0 it is allowed, 1 it is disallowed, 2 it could not be run.`,
		Example: `  caddy robots explain --user-agent GPTBot https://example.com/private/
  caddy robots explain --user-agent 'curl/8.17.0' /a/../private/`,
		Args: arguments(1, 1, "URL"),
	}
	q.addFlags(cmd)
	return runs(cmd, func(cmd *cobra.Command, out *bufio.Writer, args []string) error {
		rules, err := q.read(cmd, args[0])
		if err != nil {
			return err
		}
		r, err := requestFor(args[0])
		if err != nil {
			return err
		}
		x := explainer{out, rules, q.options.Dialect}
		return x.explain(q.userAgent, &r)
	})
}

// explainer explains decisions by rules that are read in a dialect.
type explainer struct {
	out     *bufio.Writer
	rules   *policies.Rules
	dialect robotsrules.Dialect
}

// say prints a line.
func (x *explainer) say(format string, values ...any) { fmt.Fprintf(x.out, format+"\n", values...) }

// explain prints how the decision comes about.
func (x *explainer) explain(userAgent string, r *enforce.Request) error {
	v := judge(x.rules, r, identify(userAgent))
	who := v.Who
	x.say("Who:      %s", describe(who, userAgent, r.Host))
	x.known(who)
	x.record(&v)
	if binding := v.Decision.Binding; binding != nil && v.Denied == "" && !r.IsForRules() {
		x.matches(binding, r)
		x.pace(binding, who)
	}
	x.say("Verdict:  %s: %s", v.Kind, reason(&v))
	if v.Kind != enforce.Allowed {
		return errFound
	}
	return nil
}

// describe says who a client is that asks a host.
func describe(who *crawler.Identity, userAgent, host string) string {
	switch who.Class {
	case crawler.Browser:
		return "a person's browser, going by its User-Agent"
	case crawler.Unstated:
		return "a client without a User-Agent"
	case crawler.App:
		return named(who) + "an app or library: it does not say that it is a robot"
	case crawler.Service:
		if who.GivesHost(host) {
			return named(who) + "a service: its address is the host that it asks, so it is the site's own server"
		}
		return named(who) + "a service: it fetches for somebody and does not crawl"
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

// known says what the catalogue has of a client that says it is one of its crawlers.
func (x *explainer) known(who *crawler.Identity) {
	c, ok := who.Crawler()
	if !ok {
		return
	}
	asked := ""
	if c.ByPerson {
		asked = ", when a person asks for a page"
	}
	x.say("Known:    %s is run by %s, for %s%s", c.Name, c.Operator, c.Purpose, asked)
}

// record says which records there are for the client, and which one binds it.
func (x *explainer) record(v *enforce.Verdict) {
	who, binding := v.Who, v.Decision.Binding
	if who.Class == crawler.Browser {
		x.say("Record:   none; a browser is bound by no record, whatever its name")
		return
	}
	rivals := 0 // names beside that of the record that binds it
	for _, group := range x.rules.File.Groups {
		for _, token := range group.Tokens {
			if token.Value != "*" && x.names(token, who) {
				if !strings.EqualFold(token.Value, binding.Token()) {
					rivals++
				}
				x.say("Record:   line %d \"User-agent: %s\" names it", token.Line, printable(token.Text()))
			}
		}
	}
	switch {
	case v.Denied != "":
		x.say("Record:   %s", v.Denied)
	case binding == nil && who.Class == crawler.App:
		x.say("Record:   none names it, and the one for \"*\" does not bind apps and libraries")
	case binding == nil && who.Class == crawler.Service:
		x.say("Record:   none names it, and the one for \"*\" does not bind services")
	case binding == nil:
		x.say("Record:   none names it, and there is none for \"*\"")
	case binding.Token() == "*":
		x.say("Record:   none names it, so the one for \"*\" (line %d) binds it", binding.Line())
	case rivals > 0:
		x.say("Record:   the one for %q (line %d) binds it: %s", binding.Token(), binding.Line(), x.preference())
	default:
		x.say("Record:   the one for %q (line %d) binds it", binding.Token(), binding.Line())
	}
	if groups := binding.Groups(); len(groups) > 1 {
		var lines []string
		for _, group := range groups {
			lines = append(lines, strconv.Itoa(group.Line))
		}
		x.say("Record:   those that begin in lines %s are read as one", strings.Join(lines, " and "))
	}
}

// names reports whether a record with this name alone would bind the client.
func (x *explainer) names(token robotsrules.Token, who *crawler.Identity) bool {
	robot := robotsrules.Robot{UserAgent: who.Text, Name: who.Name, Products: who.Products}
	switch who.Class {
	case crawler.Robot:
		return x.rules.Compiled.Names(token, robot)
	case crawler.App, crawler.Service:
		return x.rules.Compiled.NamesProgram(token, robot, who.Handset)
	}
	return false
}

// preference says which of several records that name a client binds it.
func (x *explainer) preference() string {
	if x.dialect == robotsrules.RFC9309 {
		return "the longest name does"
	}
	return "the first in the file does"
}

// matches says which rules of the record match, in every way a server may read what is asked for.
func (x *explainer) matches(binding *robotsrules.Binding, r *enforce.Request) {
	others := r.OtherTargets()
	if rule := binding.Decide(r.Target).Rule; len(others) > 0 && r.IsSpelledBy(rule) {
		x.say("Path:     %s is spelt so in line %d, so it is not read in another way", printable(r.Target), rule.Line)
		others = nil
	}
	for _, other := range others {
		x.say("Path:     %s is also read as %s, which is what a server may serve", printable(r.Target), printable(other))
	}
	for _, target := range append([]string{r.Target}, others...) {
		decision := binding.Decide(target)
		matches := 0
		for _, group := range binding.Groups() {
			for _, rule := range group.Rules {
				if binding.Matches(rule, target) {
					matches++
					x.say("Rule:     line %d %q matches %s", rule.Line, rule.Text, printable(target))
				}
			}
		}
		switch {
		case matches == 0 && decision.Rule == nil:
			x.say("Rule:     none matches %s", printable(target))
		case matches > 1 && decision.Rule != nil:
			x.say("Rule:     line %d decides: %s", decision.Rule.Line, x.precedence(binding))
		}
	}
}

// precedence says which of the rules that match decides.
func (x *explainer) precedence(binding *robotsrules.Binding) string {
	switch {
	case binding.Groups()[0].Version().Major >= 2:
		return "an Allow without * does, then a Disallow, then any other Allow"
	case x.dialect == robotsrules.RFC9309:
		return "the longest pattern does, and Allow if two are as long"
	}
	return "the first in the file does"
}

// pace says how fast, and when, the robot may come.
func (x *explainer) pace(binding *robotsrules.Binding, who *crawler.Identity) {
	delays := 0
	for _, group := range binding.Groups() {
		delays += len(group.CrawlDelays())
		for _, c := range group.CrawlDelays() {
			x.say("Pace:     line %d %q is to be kept, too", c.Line, c.Text)
		}
		for _, r := range group.RequestRates() {
			x.say("Pace:     line %d %q is to be kept, too", r.Line, r.Text)
		}
		if group.VisitTime() != nil {
			x.say("Hours:    line %d %q is to be kept, too", group.VisitTime().Line, group.VisitTime().Text)
		}
	}
	if c, _ := who.Crawler(); delays > 0 && c.CrawlDelay == crawler.No {
		x.say("Pace:     %s says that its robot does not read Crawl-delay; the option \"unpaced %s\" takes the pace away", c.Operator, c.Name)
	}
}
