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
	severity         Severity
	message, instead string
}

// detail is what one line adds to the text of a finding.
type detail struct {
	field, text, fix string
	number           int
}

// diagnostics collects findings. The texts are only made for those that are
// kept, so that a file of nothing but mistakes costs no more than another.
type diagnostics struct {
	list     []Diagnostic
	dropped  int
	lastLine int
}

func (ds *diagnostics) add(line int, f *finding, d detail) {
	if !ds.room(line) {
		return
	}
	ds.list = append(ds.list, Diagnostic{
		Line:     line,
		Severity: f.severity,
		Message:  d.fill(f.message),
		Instead:  d.fill(f.instead),
	})
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

// room counts a finding, and reports whether it is to be kept.
func (ds *diagnostics) room(line int) bool {
	ds.lastLine = max(ds.lastLine, line)
	if len(ds.list) >= maxDiagnostics {
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
		ds.list = append(ds.list, Diagnostic{
			Line:     ds.lastLine,
			Severity: Warning,
			Message:  strconv.Itoa(ds.dropped) + " more diagnostics are not shown",
		})
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
	return strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`) + end
}

// What can be wrong with the text as a whole.
var (
	findUTF16 = &finding{Error, "the text is UTF-16, of which nothing can be read",
		"save the file as UTF-8"}
	findHTML = &finding{Warning, "the text is an HTML page, not a robots.txt",
		"answer /robots.txt with plain text, or with 404 when there are no rules"}
	findCut = &finding{Warning, "only the first {number} bytes are read; this line and what follows is not",
		"shorten the file"}
	findLongLine = &finding{Warning, "the line is longer than 16 KiB and is not read",
		"shorten the line"}
)

// What can be wrong with any line.
var (
	findNoField = &finding{Warning, `"{text}" is not of the form "Field: value"`,
		"write # before it to make it a comment"}
	findNoColon = &finding{Warning, `the colon after "{text}" is missing; it is read as if it stood there`,
		`write "{field}: {fix}"`}
	findTypo = &finding{Warning, `"{text}" is read as "{field}"`,
		`write "{field}: {fix}"`}
	findUnknown = &finding{Info, `the field "{text}" is not known; it is kept and not acted upon`, ""}
)

// What can be wrong with a record.
var (
	findNobody = &finding{Warning, "the User-agent line names no robot",
		"write the robot's name, or * for every robot that no other record names"}
	findCommonWord = &finding{Warning, `"{text}" is a word that many robots or browsers use of themselves; it binds only a robot that is called just that`,
		"write the robot's name, or * for every robot that no other record names"}
	findBrowser = &finding{Warning, `"{text}" is the User-Agent of a browser and names no robot; it binds nobody`,
		"write the robot's name, or * for every robot that no other record names"}
	findUserAgent = &finding{Warning, `"{text}" is a whole User-Agent; it is read as the name of the robot in it`,
		`write "User-agent: {fix}"`}
	findList = &finding{Warning, `"{text}" is a list; each robot in it is named, but by many readers none of them is`,
		`write a line of its own for each: "User-agent: {fix}"`}
	findNoName = &finding{Warning, `"{text}" can bind nobody: no robot's name holds quotes, semicolons or stars, or is an address`,
		"write the robot's name and nothing else"}
	findNoRecord = &finding{Warning, "{field} stands before any User-agent line and binds nobody",
		`write "User-agent: *" above it`}
	findAfterBlank = &finding{Warning, "the blank line {number} ended the record, so {field} binds nobody",
		"delete the blank line {number}"}
	findNoSlash = &finding{Warning, `"{text}" matches nothing: a path begins with /`,
		`write "{field}: /{text}"`}
	findURL = &finding{Warning, `"{text}" matches nothing: it is an address, and only paths are compared`,
		`write "{field}: {fix}"`}
	findStar = &finding{Warning, `"{text}" matches nothing: in {fix} a * is a character like others`,
		"write the beginning of the path, from its first / on"}
	findMixedVersions = &finding{Warning,
		`the record for "{text}" is not read: another one for it (line {number}) has Robot-version 2.0.0`,
		"write both as one record"}
)

// What can be wrong with a Robot-version line.
var (
	findBadVersion = &finding{Warning, `"{text}" is no version; the record is read without one`,
		`write "Robot-version: 2.0.0"`}
	findShortVersion = &finding{Warning, `the version "{text}" has fewer than three numbers; it is read as {fix}`,
		`write "Robot-version: {fix}"`}
	findOldVersion = &finding{Warning, `there is no version "{text}"; it is read as 1.0.0`,
		`write "Robot-version: 1.0.0"`}
	findOddVersion = &finding{Warning, `the version "{text}" is experimental (its second number is odd), so the record is passed over`,
		`write "Robot-version: 2.0.0"`}
	findLateVersion = &finding{Warning, "Robot-version only counts right after the User-agent lines; it is ignored",
		"move it up to them"}
)

// What can be wrong with a pace.
var (
	findBadDelay = &finding{Warning, `"{text}" is no number of seconds from 0 to 86400; the line is ignored`,
		`write a number, such as "Crawl-delay: 10"`}
	findZeroDelay   = &finding{Info, "a Crawl-delay of 0 asks for no delay", ""}
	findSecondDelay = &finding{Warning, "the record has a Crawl-delay already (line {number}); the slower one holds",
		"delete one of them"}
	findBadRate = &finding{Warning, `"{text}" is no rate; the line is ignored`,
		`write documents/time, such as "Request-rate: 10/1m" or "Request-rate: 10/1m 0600-0845"`}
	findZeroRate = &finding{Warning, `the rate "{text}" has a zero in it; the line is ignored`,
		`write documents/time, such as "Request-rate: 10/1m", or "Disallow: /" to ask for no visits`}
	findManyWindows = &finding{Warning, "the record has {number} rates with times already; the line is ignored",
		"write fewer"}
	findBadVisit = &finding{Warning, `"{text}" is no span of time; the line is ignored`,
		`write two times of day in GMT, such as "Visit-time: 0600-0845"`}
	findSecondVisit = &finding{Warning, "the record has a Visit-time already (line {number}); this one is ignored",
		"delete one of them"}
	findWholeDay = &finding{Warning, `"{text}" begins and ends at the same time; it is read as the whole day`,
		"write two different times, or none"}
)

// What can be wrong with the lines of the Memento extensions.
var (
	findBadGate = &finding{Warning, `"{text}" is no absolute http or https address; the TimeGate is ignored`,
		`write the whole address, such as "TimeGate: https://archive.example/timegate/"`}
	findManyGates = &finding{Warning, "the file has {number} TimeGates already; this one is ignored",
		"write fewer"}
	findLoneGate = &finding{Warning, "no Archived line follows the TimeGate, so it stands for nothing",
		`write "Archived: *", or the hosts it archives, below it`}
	findLoneArchived = &finding{Warning, "no TimeGate line stands before the Archived line; it is ignored",
		`write "TimeGate: " and its address above it`}
	findArchivedScheme = &finding{Warning, `"{text}" begins with a scheme; the line is ignored`,
		`write "Archived: {fix}"`}
	findBadArchived = &finding{Warning, `"{text}" names no host; the line is ignored`,
		`write *, the end of a host name such as .be/, or a host and a path such as example.org/w/`}
)

// What can be wrong with the parts of a joined text.
var (
	findBigJoin = &finding{Warning, "the joined text is {number} bytes long, of which a robot need not read more than 512000",
		"shorten it"}
	findOpenEnd = &finding{Warning, `the part before ends in User-agent lines without a rule; "Disallow:" is written below them, so that the next part's rules do not fall on them`,
		"write their rules below them"}
	findOrphan = &finding{Warning, `"{text}" stands before its part's first User-agent or TimeGate line; it is written as a comment, so that it does not fall on the part before`,
		`write "User-agent: *" above it, or delete it`}
	findLeftOut     = &finding{Info, `line {number} of {field} is left out: "{text}"`, ""}
	findMoreLeftOut = &finding{Info, "{number} more lines of {field} are left out", ""}
	findForeignStar = &finding{Warning, "this part's record for * binds all robots that no record names",
		"limit the part to the records that disallow all, or delete the record"}
	findNamedTwice = &finding{Warning, `"{text}" is named in another part too ({field}, line {number}); their records are read as one`,
		"delete one of them"}
	findNamedBefore = &finding{Warning, `"{text}" is named in a part before ({field}, line {number}); only that record is read`,
		"delete one of them"}
)

// What can be wrong with a value that is repeated in a header.
var (
	findLongValue = &finding{Warning, "the value of {field} is longer than 2 KiB; it is ignored",
		"shorten it"}
	findNotURI = &finding{Warning, `"{text}" holds characters that no address has; it is ignored`,
		`write "{field}: {fix}"`}
	findNoLink = &finding{Warning, `"{text}" is no address; it is ignored`,
		`write the whole address, such as "{field}: https://example.com/..."`}
	findNoPreference = &finding{Warning, "the {field} line states no preference; it is ignored",
		`write it behind the path, such as "{field}: {fix}"`}
	findBadPreference = &finding{Warning, `"{text}" states no preference; it is ignored`,
		`write a path or none, and words in small letters, such as "{field}: / {fix}"`}
)
