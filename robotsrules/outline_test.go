package robotsrules_test

import (
	"fmt"
	"strings"

	"github.com/caddy-robots/caddy-robots/robotsrules"
)

// outline writes down everything that a File holds, one thing per line: what
// outline cases are compared with and what a rewritten file must preserve.
// Without lines, it says the same wherever in the file things stand.
func outline(f *robotsrules.File, lines bool) []string {
	o := &outliner{lines: lines}
	for _, g := range f.Groups {
		o.group(g)
	}
	for _, s := range f.Sitemaps {
		o.add(s.Line, "sitemap %q", s.Value)
	}
	for _, g := range f.TimeGates {
		o.timeGate(g)
	}
	o.fields("field", f.Fields)
	return o.out
}

type outliner struct {
	lines bool
	out   []string
}

func (o *outliner) add(line int, format string, args ...any) {
	s := fmt.Sprintf(format, args...)
	if o.lines {
		s += fmt.Sprintf(" line %d", line)
	}
	o.out = append(o.out, s)
}

// fields adds unknown fields under their own name, which is all that is known
// of them; case does not matter in a name.
func (o *outliner) fields(indent string, fields []robotsrules.Field) {
	for _, f := range fields {
		o.add(f.Line, "%s %q %q", indent, strings.ToLower(f.Name), f.Value)
	}
}

func (o *outliner) group(g *robotsrules.Group) {
	o.add(g.Line, "record")
	if v := g.Version(); v != (robotsrules.Version{}) {
		o.add(v.Line, "  version %d.%d.%d", v.Major, v.Minor, v.Patch)
	}
	for _, t := range g.Tokens {
		o.add(t.Line, "  robot %q", t.Value)
	}
	for _, r := range append(append([]*robotsrules.Rule{}, g.Rules...), g.Noindex()...) {
		o.add(r.Line, "  %s %q", kindWord(r.Kind), r.Pattern())
	}
	o.pace(g)
	for _, named := range []struct {
		word   string
		fields []robotsrules.Field
	}{{"comment", g.Comments()}, {"content-signal", g.ContentSignals()}, {"content-usage", g.ContentUsages()}} {
		for _, f := range named.fields {
			o.add(f.Line, "  %s %q", named.word, f.Value)
		}
	}
	o.fields("  field", g.Fields())
}

func kindWord(k robotsrules.Kind) string {
	switch k {
	case robotsrules.Allow:
		return "allow"
	case robotsrules.Disallow:
		return "disallow"
	}
	return "noindex"
}

func (o *outliner) pace(g *robotsrules.Group) {
	for _, d := range g.CrawlDelays() {
		o.add(d.Line, "  crawl-delay %s", d.Delay)
	}
	for _, r := range g.RequestRates() {
		window := ""
		if r.Window != nil {
			window = " " + windowWord(*r.Window)
		}
		o.add(r.Line, "  request-rate %d/%s%s", r.Documents, r.Period, window)
	}
	if v := g.VisitTime(); v != nil {
		o.add(v.Line, "  visit-time %s", windowWord(v.Window))
	}
}

func windowWord(w robotsrules.Window) string {
	return fmt.Sprintf("%02d:%02d-%02d:%02d", w.From/60, w.From%60, w.To/60, w.To%60)
}

func (o *outliner) timeGate(g robotsrules.TimeGate) {
	o.add(g.Line, "timegate %q", g.URL)
	for _, a := range g.Archived {
		switch {
		case a.All:
			o.add(a.Line, "  archived everything")
		case a.Suffix:
			o.add(a.Line, "  archived hosts under %q path %q", a.Host, a.Path)
		default:
			o.add(a.Line, "  archived host %q path %q", a.Host, a.Path)
		}
	}
}
