package robotsrules

import (
	"strconv"
	"strings"
	"time"
)

// String returns a robots.txt that says the same: read in the same dialect, it
// gives the same records, rules and fields. Comments of the author and lines
// that say nothing are left out, spelling is corrected, and what belongs to the
// file comes before the records.
func (f *File) String() string {
	w := &writer{}
	// With a comment first, nothing in the file can be taken for a byte order
	// mark or an HTML page.
	w.text.WriteString("# robots.txt\n")
	w.fields(f.Sitemaps)
	for _, g := range f.TimeGates {
		w.line("TimeGate", g.URL)
		for _, a := range g.Archived {
			w.line("Archived", a.Value)
		}
	}
	w.fields(f.Fields)
	for i, g := range f.Groups {
		w.text.WriteByte('\n')
		w.group(g)
		if !w.body && i < len(f.Groups)-1 {
			// Without a line of its own the record would run into the next one.
			w.line("Crawl-delay", "0")
		}
	}
	return w.text.String()
}

type writer struct {
	text strings.Builder
	body bool // the record has a line of its own
}

func (w *writer) line(name, value string) {
	w.text.WriteString(name)
	w.text.WriteByte(':')
	if value != "" {
		w.text.WriteByte(' ')
		w.text.WriteString(value)
	}
	w.text.WriteByte('\n')
}

func (w *writer) bodyLine(name, value string) {
	w.body = true
	w.line(name, value)
}

func (w *writer) fields(fields []Field) {
	for _, f := range fields {
		w.line(f.Name, f.Value)
	}
}

func (w *writer) group(g *Group) {
	w.body = false
	for _, t := range g.Tokens {
		w.line("User-agent", t.Text())
	}
	if len(g.Tokens) == 0 {
		w.line("User-agent", "")
	}
	if g.Version() != (Version{}) {
		w.bodyLine("Robot-version", g.Version().String())
	}
	for _, rules := range [][]*Rule{g.Rules, g.Noindex()} {
		for _, r := range rules {
			w.bodyLine(r.Kind.String(), r.Pattern())
		}
	}
	w.pace(g)
	for _, fields := range [][]Field{g.Comments(), g.ContentSignals(), g.ContentUsages()} {
		w.fields(fields)
		w.body = w.body || len(fields) > 0
	}
	w.fields(g.Fields())
}

func (w *writer) pace(g *Group) {
	for _, c := range g.CrawlDelays() {
		w.bodyLine("Crawl-delay", seconds(c.Delay))
	}
	for _, r := range g.RequestRates() {
		value := strconv.Itoa(r.Documents) + "/" + seconds(r.Period)
		if r.Window != nil {
			value += " " + r.Window.String()
		}
		w.bodyLine("Request-rate", value)
	}
	if g.VisitTime() != nil {
		w.bodyLine("Visit-time", g.VisitTime().Window.String())
	}
}

// seconds returns d as a decimal number of seconds, exactly.
func seconds(d time.Duration) string {
	whole := strconv.FormatInt(int64(d/time.Second), 10)
	fraction := d % time.Second
	if fraction == 0 {
		return whole
	}
	digits := strconv.FormatInt(int64(time.Second+fraction), 10)[1:]
	return whole + "." + strings.TrimRight(digits, "0")
}
