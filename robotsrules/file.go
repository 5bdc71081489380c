package robotsrules

// DefaultMaxBytes is how much of a robots.txt is read when Options.MaxBytes is
// zero: 500 KiB, the least that RFC 9309, section 2.5, asks a crawler to read.
const DefaultMaxBytes = 500 << 10

// mostBytes is how much of a text is ever read: with what is numbered of it, numbers of 32
// bits are enough.
const mostBytes = 64 << 20

// Options say how a robots.txt is read. The zero value reads it by RFC 9309, up
// to DefaultMaxBytes.
type Options struct {
	// Dialect is the standard that reads the text.
	Dialect Dialect
	// MaxBytes is how many bytes of the text are read; the cut is made after
	// the last whole line. Zero and negative values mean DefaultMaxBytes; more than
	// 64 MiB is never read.
	MaxBytes int
}

// File is a parsed robots.txt: everything it says, with the line that says it.
//
// The zero value is the file of a site that says nothing. A File is not changed
// by this package once Parse returned it; it may be read concurrently for as
// long as nobody writes to it.
type File struct {
	// Dialect is the standard that read the text.
	Dialect Dialect
	// Groups are the records, in file order.
	Groups []*Group
	// Sitemaps are the Sitemap lines.
	Sitemaps []Field
	// TimeGates are the TimeGate lines with their Archived lines (the Memento extensions).
	TimeGates []TimeGate
	// Fields are all other lines that belong to no record: Host, Clean-param,
	// License, and unknown fields before the first record.
	Fields []Field
	// Diagnostics say, by line, what is wrong with the text.
	Diagnostics []Diagnostic

	rules []*Rule // of all Groups, which have parts of it
}

// allRules returns the Rules of all Groups, in file order.
func (f *File) allRules() []*Rule {
	n, together := 0, true
	for _, g := range f.Groups {
		if len(g.Rules) > 0 {
			together = together && n < len(f.rules) && &g.Rules[0] == &f.rules[n]
			n += len(g.Rules)
		}
	}
	if together && n == len(f.rules) {
		return f.rules
	}
	all := make([]*Rule, 0, n)
	for _, g := range f.Groups {
		all = append(all, g.Rules...)
	}
	return all
}

// RuleCount returns how many Rules all Groups have together.
func (f *File) RuleCount() int {
	rules := 0
	for _, g := range f.Groups {
		rules += len(g.Rules)
	}
	return rules
}

// Field is a line that is kept but not acted upon.
type Field struct {
	// Name is the field's name as written.
	Name string
	// Value is what follows the colon, without a comment and outer blanks.
	Value string
	// Line is the number of the line, from 1.
	Line int
}

// Group is RFC 9309's group, the "record" of 1996: the robots it names and what
// it tells them.
type Group struct {
	// Tokens name the robots, one for each User-agent line that names one.
	Tokens []Token
	// Line is that of the record's first User-agent line.
	Line int
	// Rules are the Allow and Disallow lines in file order, those with a
	// pattern that cannot match among them.
	Rules []*Rule

	rest *rest // nil: nothing
}

// rest is what few records have: a file of thousands of records of one rule must not take the
// room for it thousands of times.
type rest struct {
	version        Version
	noindex        []*Rule
	crawlDelays    []CrawlDelay
	requestRates   []RequestRate
	visitTime      *VisitTime
	comments       []Field
	contentSignals []Field
	contentUsages  []Field
	fields         []Field
	body           bool // the record has a field of its own besides its rules, readable or not
}

var noRest rest

func (g *Group) others() *rest {
	if g.rest == nil {
		return &noRest
	}
	return g.rest
}

// open returns the rest to be written to.
func (g *Group) open() *rest {
	if g.rest == nil {
		g.rest = new(rest)
	}
	return g.rest
}

// hasBody reports whether the record has a rule or a field of its own, readable or not.
func (g *Group) hasBody() bool { return len(g.Rules) > 0 || g.others().body }

// The caller of these methods must not change what they return.

// Version returns the record's Robot-version (the 1996 proposal 2.0.0); the zero value is none.
func (g *Group) Version() Version { return g.others().version }

// Noindex returns the Noindex lines. They never refuse a request.
func (g *Group) Noindex() []*Rule { return g.others().noindex }

// CrawlDelays returns the Crawl-delay lines that ask for a delay.
func (g *Group) CrawlDelays() []CrawlDelay { return g.others().crawlDelays }

// RequestRates returns the readable Request-rate lines.
func (g *Group) RequestRates() []RequestRate { return g.others().requestRates }

// VisitTime returns the first readable Visit-time line, nil when there is none.
func (g *Group) VisitTime() *VisitTime { return g.others().visitTime }

// Comments returns what a robot is asked to hand to its author (the 1996 proposal 2.0.0).
func (g *Group) Comments() []Field { return g.others().comments }

// ContentSignals returns the Content-Signal lines.
func (g *Group) ContentSignals() []Field { return g.others().contentSignals }

// ContentUsages returns the Content-Usage lines.
func (g *Group) ContentUsages() []Field { return g.others().contentUsages }

// Fields returns the unknown fields met inside the record.
func (g *Group) Fields() []Field { return g.others().fields }

// Token is what one User-agent line names.
type Token struct {
	// Value is the name without its version, as written; "*" for the default.
	Value string
	// Line is the number of the line, from 1.
	Line int

	text *string // the whole value, nil when that is the name
}

func newToken(name, text string, line int) Token {
	t := Token{Value: name, Line: line}
	if text != name {
		t.text = new(text)
	}
	return t
}

// Text returns the whole value as written.
func (t *Token) Text() string {
	if t.text == nil {
		return t.Value
	}
	return *t.text
}

// Version is a Robot-version line (the 1996 proposal 2.0.0). The zero value means that the
// record has none.
type Version struct {
	Major, Minor, Patch int
	// Line is the number of the line, from 1; 0 when there is no such line.
	Line int
	// Text is the version as written.
	Text string
}

// Kind tells the lines that carry a pattern apart.
type Kind uint8

// The kinds of Rule.
const (
	Allow Kind = iota
	Disallow
	Noindex
)

// String returns the field's name: "Allow", "Disallow" or "Noindex".
func (k Kind) String() string {
	switch k {
	case Disallow:
		return "Disallow"
	case Noindex:
		return "Noindex"
	}
	return "Allow"
}

// Rule is an Allow, Disallow or Noindex line.
type Rule struct {
	// Kind is the field.
	Kind Kind

	literal bool   // its value is canonical text and has neither star nor end
	value   uint16 // where in Text its value begins

	// Line is the number of the line, from 1.
	Line int
	// Text is the line as written, without comment and outer blanks.
	Text string
}

// Pattern returns the rule's value as written, without comment and outer blanks. Of a Rule that
// Parse has not made it is all of Text.
func (r *Rule) Pattern() string { return r.Text[r.value:] }
