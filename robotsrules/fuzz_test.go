package robotsrules_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/robotsrules"
)

// dialectOf makes a dialect of a fuzzed number.
func dialectOf(n uint8) robotsrules.Dialect { return robotsrules.Dialect(n % 3) }

// maxDiagnostics is the most that one file may get: a thousand, and one that
// counts the rest.
const maxDiagnostics = 1001

// FuzzParse holds three properties: parsing and compiling never panic; what
// String writes parses to the same file; and every line that is named lies
// inside the text.
func FuzzParse(f *testing.F) {
	for _, c := range allCases(f) {
		f.Add(c.text, uint8(c.options.Dialect))
	}
	f.Fuzz(func(t *testing.T, text []byte, dialect uint8) {
		file := robotsrules.Parse(text, robotsrules.Options{Dialect: dialectOf(dialect)})
		robotsrules.Compile(file, robotsrules.MatchSubstring)
		robotsrules.Compile(file, robotsrules.MatchToken)
		checkLines(t, file, text)
		checkRewritten(t, file)
	})
}

func checkRewritten(t *testing.T, file *robotsrules.File) {
	t.Helper()
	text := file.String()
	again := robotsrules.Parse([]byte(text), robotsrules.Options{Dialect: file.Dialect, MaxBytes: len(text) + 1})
	got, want := outline(again, false), outline(file, false)
	if !slices.Equal(got, want) {
		t.Errorf("rewritten as %q, the file reads\n%s\nwant\n%s", text, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func checkLines(t *testing.T, file *robotsrules.File, text []byte) {
	t.Helper()
	lines := countLines(text)
	if len(file.Diagnostics) > maxDiagnostics {
		t.Errorf("%d diagnostics, want at most %d", len(file.Diagnostics), maxDiagnostics)
	}
	last := 1
	for _, d := range file.Diagnostics {
		if d.Line < last || d.Line > lines {
			t.Errorf("diagnostic %q: line %d, want one from %d to %d", d, d.Line, last, lines)
		}
		last = d.Line
	}
	for _, g := range file.Groups {
		for _, r := range g.Rules {
			if r.Line < 1 || r.Line > lines {
				t.Errorf("rule %q: line %d, want one from 1 to %d", r.Text, r.Line, lines)
			}
		}
	}
}

// countLines counts as an editor does: LF, CR and CRLF end a line, and what
// follows the last of them is one too.
func countLines(text []byte) int {
	plain := bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
	return 1 + bytes.Count(plain, []byte("\n")) + bytes.Count(plain, []byte("\r"))
}

// FuzzDecide holds three properties: a decision is the twin's; a record for
// somebody else changes nothing; and neither does another spelling of the
// target by percent-encoding.
func FuzzDecide(f *testing.F) {
	for _, c := range allCases(f) {
		for _, r := range c.rows["decisions"] {
			col := r.columns(f, 3)
			f.Add(c.text, uint8(c.options.Dialect), uint8(c.match), col[0], col[1])
		}
	}
	f.Fuzz(func(t *testing.T, text []byte, dialect, match uint8, userAgent, target string) {
		file := robotsrules.Parse(text, robotsrules.Options{Dialect: dialectOf(dialect)})
		if tooSlowForTheTwin(file, target) || len(userAgent) > maxUserAgent {
			t.Skip()
		}
		q := question{robotsrules.Match(match % 2), robot(userAgent), target}
		want := q.askTwin(file)
		if got := q.ask(file); got != want {
			t.Errorf("%s, %+v of %q\n got %s\nwant %s", file.Dialect, q, text, got, want)
		}
		q.checkUnrelated(t, file, want)
		if file.Dialect != robotsrules.NoRobots1994 {
			respelt := question{q.match, q.robot, encodeUnreserved(target)}
			if got := respelt.ask(file); got != want {
				t.Errorf("%s, %+v of %q\n got %s\nwant %s, as for %q", file.Dialect, respelt, text, got, want, target)
			}
		}
	})
}

// maxUserAgent is the longest User-Agent that is fuzzed. A name of the robot
// longer than this is not looked for.
const maxUserAgent = 256

// tooSlowForTheTwin keeps its recursion from taking exponential time.
func tooSlowForTheTwin(file *robotsrules.File, target string) bool {
	const long = 64
	var patterns []string
	for _, g := range file.Groups {
		for _, r := range g.Rules {
			patterns = append(patterns, r.Pattern())
		}
	}
	return len(target) > long || manyStars(patterns)
}

// manyStars reports whether patterns have more stars than the twin can try: one of them, or all that
// have three and more together. An execution that takes seconds is killed at the end of a run, and
// the run fails without an input.
func manyStars(patterns []string) bool {
	const one, together = 4, 24
	all := 0
	for _, pattern := range patterns {
		stars := strings.Count(pattern, "*")
		if stars > 2 {
			all += stars
		}
		if stars > one || all > together {
			return true
		}
	}
	return false
}

// A question is who asks for what.
type question struct {
	match  robotsrules.Match
	robot  robotsrules.Robot
	target string
}

func (q question) ask(file *robotsrules.File) string {
	b := robotsrules.Compile(file, q.match).Bind(q.robot)
	return answer(b.Line(), decisionOf(b.Decide(q.target)))
}

func (q question) askTwin(file *robotsrules.File) string {
	b := twinOf(file, q.match).bind(q.robot)
	return answer(b.line, b.decide(q.target))
}

func answer(record int, d twinDecision) string {
	return fmt.Sprintf("allowed %t by line %d in the record of line %d", d.allowed, d.line, record)
}

// checkUnrelated adds a record for a robot that does not ask, before the others
// and behind them.
func (q question) checkUnrelated(t *testing.T, file *robotsrules.File, want string) {
	t.Helper()
	stranger := robotsrules.Parse([]byte("User-agent: qzx-stranger\nDisallow: /\n"), robotsrules.Options{Dialect: file.Dialect})
	if twinOf(stranger, q.match).find(q.robot).line != 0 {
		return
	}
	for _, at := range []int{0, len(file.Groups)} {
		more := *file
		more.Groups = slices.Insert(slices.Clone(file.Groups), at, stranger.Groups...)
		if got := q.ask(&more); got != want {
			t.Errorf("%+v with an unrelated record at %d: got %s, want %s", q, at, got, want)
		}
	}
}

// encodeUnreserved spells every letter and digit of a target as `%xx`, but for
// those that are part of such a spelling already.
func encodeUnreserved(target string) string {
	var b strings.Builder
	for i := 0; i < len(target); i++ {
		c := target[i]
		switch {
		case c == '%' && i+2 < len(target) && isHex(target[i+1]) && isHex(target[i+2]):
			b.WriteString(target[i : i+3])
			i += 2
		case '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z':
			fmt.Fprintf(&b, "%%%02X", c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}
