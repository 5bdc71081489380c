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
	// Version is the record's Robot-version (the 1996 proposal 2.0.0); the zero value is none.
	Version Version
	// Rules are the Allow and Disallow lines in file order, those with a
	// pattern that cannot match among them.
	Rules []*Rule
	// Noindex are the Noindex lines. They never refuse a request.
	Noindex []*Rule
	// CrawlDelays are the Crawl-delay lines that ask for a delay.
	CrawlDelays []CrawlDelay
	// RequestRates are the readable Request-rate lines.
	RequestRates []RequestRate
	// VisitTime is the first readable Visit-time line, nil when there is none.
	VisitTime *VisitTime
	// Comments are what a robot is asked to hand to its author (the 1996 proposal 2.0.0).
	Comments []Field
	// ContentSignals are the Content-Signal lines.
	ContentSignals []Field
	// ContentUsages are the Content-Usage lines.
	ContentUsages []Field
	// Fields are the unknown fields met inside the record.
	Fields []Field

	body bool // it has a rule or a field of its own, readable or not
}

// Token is what one User-agent line names.
type Token struct {
	// Value is the name without its version, as written; "*" for the default.
	Value string
	// Text is the whole value as written.
	Text string
	// Line is the number of the line, from 1.
	Line int
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
	// Pattern is its value as written, without comment and outer blanks.
	Pattern string
	// Line is the number of the line, from 1.
	Line int
	// Text is the line as written, without comment and outer blanks.
	Text string
}
