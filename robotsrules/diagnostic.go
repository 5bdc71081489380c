package robotsrules

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxDiagnostics bounds what an evil file can make us remember.
const maxDiagnostics = 1000

// maxExcerpt is how many bytes of a line are repeated in a diagnostic.
const maxExcerpt = 80

// Severity is how much a diagnostic matters. The zero value is Info.
type Severity uint8

// The severities.
const (
	// Info is about a line that does what it says, or nothing at all.
	Info Severity = iota
	// Warning is about a line that is read in another way than it is written,
	// or not read.
	Warning
	// Error is about a text of which nothing could be read.
	Error
)

// String returns "info", "warning" or "error".
func (s Severity) String() string {
	switch s {
	case Warning:
		return "warning"
	case Error:
		return "error"
	}
	return "info"
}

// Diagnostic says what is wrong in one line, for the person who edits the file.
type Diagnostic struct {
	// Code names the kind of finding, such as "no-slash". It stays the same when the text of the
	// finding changes; docs/lint.md lists the codes.
	Code string
	// Line is the number of the line, from 1.
	Line int
	// Severity is how much it matters.
	Severity Severity
	// Message says what is wrong.
	Message string
	// Instead says what to write; it may be empty.
	Instead string
}

// String returns the diagnostic on one line, such as
// `line 3: warning: MESSAGE; INSTEAD`.
func (d Diagnostic) String() string {
	s := "line " + strconv.Itoa(d.Line) + ": " + d.Severity.String() + ": " + d.Message
	if d.Instead != "" {
		s += "; " + d.Instead
	}
	return s
}

// finding is a kind of diagnostic. The texts hold the names of detail's fields
// in braces.
type finding struct {
	code             string
	severity         Severity
	message, instead string
}

// findings are all kinds that this package knows.
var findings []*finding

func define(code string, s Severity, message, instead string) *finding {
	f := &finding{code, s, message, instead}
	findings = append(findings, f)
	return f
}

// Codes returns the codes of all Diagnostics that this package can give.
func Codes() []string {
	codes := make([]string, len(findings))
	for i, f := range findings {
		codes[i] = f.code
	}
	return codes
}

// detail is what one line adds to the text of a finding.
type detail struct {
	field, text, fix, example string
	number                    int
}

// diagnostics collects findings. It makes the texts only of findings that are kept, so that a file
// full of mistakes costs no more than another.
type diagnostics struct {
	list     []Diagnostic
	dropped  int
	lastLine int
}

func (ds *diagnostics) add(line int, f *finding, d detail) {
	if !ds.room(line) {
		return
	}
	ds.list = append(ds.list, f.at(line, d))
}

// at makes the diagnostic of one line.
func (f *finding) at(line int, d detail) Diagnostic {
	return Diagnostic{
		Code:     f.code,
		Line:     line,
		Severity: f.severity,
		Message:  d.fill(f.message),
		Instead:  d.fill(f.instead),
	}
}

// fill returns text with the names in braces replaced by what they stand for.
func (d detail) fill(text string) string {
	var b strings.Builder
	for {
		before, name, found := strings.Cut(text, "{")
		if b.WriteString(before); !found {
			return b.String()
		}
		switch name, text, _ = strings.Cut(name, "}"); name {
		case "field":
			b.WriteString(d.field)
		case "text":
			b.WriteString(excerpt(d.text))
		case "fix":
			b.WriteString(excerpt(d.fix))
		case "example":
			b.WriteString(excerpt(d.example))
		case "number":
			b.WriteString(strconv.Itoa(d.number))
		}
	}
}

// put collects a finding that is made already.
func (ds *diagnostics) put(made Diagnostic) {
	if ds.room(made.Line) {
		ds.list = append(ds.list, made)
	}
}

func (ds *diagnostics) isFull() bool { return len(ds.list) >= maxDiagnostics }

// room counts a finding, and reports whether it is to be kept.
func (ds *diagnostics) room(line int) bool {
	ds.lastLine = max(ds.lastLine, line)
	if ds.isFull() {
		ds.dropped++
		return false
	}
	return true
}

// sorted returns what was collected by line, with a last entry for what was not
// kept.
func (ds *diagnostics) sorted() []Diagnostic {
	slices.SortStableFunc(ds.list, func(a, b Diagnostic) int { return cmp.Compare(a.Line, b.Line) })
	if ds.dropped > 0 {
		ds.list = append(ds.list, findMore.at(ds.lastLine, detail{number: ds.dropped}))
	}
	return ds.list
}

// excerpt returns the beginning of s, fit for a message of one line.
func excerpt(s string) string {
	end := ""
	if len(s) > maxExcerpt {
		cut := maxExcerpt
		for cut > maxExcerpt-utf8.UTFMax && !utf8.RuneStart(s[cut]) {
			cut--
		}
		s, end = s[:cut], "..."
	}
	quoted := strconv.Quote(s)
	return unquoter.Replace(quoted[1:len(quoted)-1]) + end
}

// unquoter leaves of what strconv.Quote does only what cannot be printed as it is.
var unquoter = strings.NewReplacer(`\"`, `"`, `\\`, `\`)
