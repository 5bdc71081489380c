package robotsrules_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/robotsrules"
)

// A testCase is one file of testdata: the claim in its first comment line, a
// robots.txt, and what is expected of it. A person who does not know Go can
// read and write one.
//
//	# The rule with the longest pattern decides, whatever the order of the lines.
//	-- robots.txt --
//	User-agent: *
//	Disallow: /shop
//	-- decisions --
//	AnyBot  /shop  disallow  line 2
//
// Sections are options, robots.txt (or "robots.txt (quoted)", each of whose
// lines is a Go string), and at least one of those in expectationSections.
// Anything else is fatal, so that a slip of the pen never skips a check.
type testCase struct {
	name    string
	claim   string
	options robotsrules.Options
	match   robotsrules.Match
	text    []byte
	rows    map[string][]row // by section
}

// A row is one line of a section of expectations.
type row struct {
	text string
	at   string // file and line, for messages
}

// expectationSections names the sections that state what is expected.
var expectationSections = []string{"decisions", "sentences", "named", "diagnostics", "outline", "pace", "shadowed", "differences",
	"statements", "time gates", "links"}

// loadCases reads every case that matches one of the globs below testdata.
func loadCases(tb testing.TB, globs ...string) []testCase {
	tb.Helper()
	var cases []testCase
	for _, glob := range globs {
		names, err := filepath.Glob(filepath.Join("testdata", filepath.FromSlash(glob)))
		if err != nil {
			tb.Fatal(err)
		}
		if len(names) == 0 {
			tb.Fatalf("no test cases match testdata/%s", glob)
		}
		for _, name := range names {
			cases = append(cases, loadCase(tb, name))
		}
	}
	return cases
}

// allCases reads every case of every folder.
func allCases(tb testing.TB) []testCase {
	tb.Helper()
	return loadCases(tb, "decide/*/*.txt", "diagnose/*.txt", "outline/*.txt", "pace/*.txt", "state/*.txt")
}

func loadCase(tb testing.TB, name string) testCase {
	tb.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		tb.Fatal(err)
	}
	c, err := parseCase(filepath.ToSlash(name), string(data))
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

func parseCase(name, data string) (testCase, error) {
	c := testCase{name: name, rows: map[string][]row{}}
	sections, err := splitSections(name, data)
	if err != nil {
		return c, err
	}
	first, _, _ := strings.Cut(data, "\n")
	c.claim = strings.TrimSpace(strings.TrimPrefix(first, "#"))
	if !strings.HasPrefix(first, "# ") || c.claim == "" {
		return c, fmt.Errorf("%s:1: a case begins with a comment line that states its claim", name)
	}
	for _, s := range sections {
		if err := c.add(s.name, s.lines); err != nil {
			return c, err
		}
	}
	if c.text == nil || len(c.rows) == 0 {
		return c, fmt.Errorf("%s: a case needs a robots.txt and an expectation", name)
	}
	return c, nil
}

// A section is the lines between one `-- name --` line and the next.
type section struct {
	name  string
	lines []row
}

func splitSections(name, data string) ([]section, error) {
	var sections []section
	for i, line := range strings.Split(strings.TrimSuffix(data, "\n"), "\n") {
		at := fmt.Sprintf("%s:%d", name, i+1)
		title, found := sectionTitle(line)
		switch {
		case found:
			sections = append(sections, section{name: title})
		case len(sections) > 0:
			last := &sections[len(sections)-1]
			last.lines = append(last.lines, row{line, at})
		case !strings.HasPrefix(line, "#"):
			return nil, fmt.Errorf("%s: %q stands before the first section", at, line)
		}
	}
	return sections, nil
}

func sectionTitle(line string) (string, bool) {
	title, ok := strings.CutPrefix(line, "-- ")
	if !ok {
		return "", false
	}
	return strings.CutSuffix(title, " --")
}

// add files one section under its name.
func (c *testCase) add(name string, lines []row) error {
	switch name {
	case "options":
		return c.setOptions(lines)
	case "robots.txt", "robots.txt (quoted)":
		return c.setText(lines, name == "robots.txt (quoted)")
	}
	for _, known := range expectationSections {
		if name == known && c.rows[name] == nil {
			c.rows[name] = withoutBlankRows(lines)
			return nil
		}
	}
	return fmt.Errorf("%s: section %q is unknown or stands twice", c.name, name)
}

func (c *testCase) setOptions(lines []row) error {
	for _, r := range withoutBlankRows(lines) {
		key, value, _ := strings.Cut(r.text, " ")
		var err error
		switch key {
		case "dialect":
			c.options.Dialect, err = robotsrules.ParseDialect(value)
		case "match":
			c.match, err = robotsrules.ParseMatch(value)
		case "max":
			c.options.MaxBytes, err = strconv.Atoi(value)
		default:
			err = fmt.Errorf("unknown option %q", key)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", r.at, err)
		}
	}
	return nil
}

// setText takes the robots.txt: lines as they stand, each ended by LF, or,
// quoted, Go strings that spell out their own line ends.
func (c *testCase) setText(lines []row, quoted bool) error {
	if c.text != nil {
		return fmt.Errorf("%s: two robots.txt sections", c.name)
	}
	c.text = []byte{}
	for _, r := range lines {
		s := r.text + "\n"
		if quoted {
			var err error
			if s, err = strconv.Unquote(r.text); err != nil {
				return fmt.Errorf("%s: %q is not a Go string: %w", r.at, r.text, err)
			}
		}
		c.text = append(c.text, s...)
	}
	return nil
}

// withoutBlankRows returns lines without the blank ones; never nil, because an
// empty section of diagnostics says that there are none.
func withoutBlankRows(lines []row) []row {
	kept := make([]row, 0, len(lines))
	for _, r := range lines {
		if strings.TrimSpace(r.text) != "" {
			kept = append(kept, r)
		}
	}
	return kept
}

// cutField cuts the first column off a row: a Go string in double quotes, or
// everything up to a blank.
func cutField(s string) (field, rest string, err error) {
	s = strings.TrimLeft(s, " ")
	if !strings.HasPrefix(s, `"`) {
		field, rest, _ = strings.Cut(s, " ")
		return field, strings.TrimSpace(rest), nil
	}
	quoted, err := strconv.QuotedPrefix(s)
	if err != nil {
		return "", "", fmt.Errorf("no closing quote in %q", s)
	}
	field, err = strconv.Unquote(quoted)
	return field, strings.TrimSpace(s[len(quoted):]), err
}

// columns cuts n columns off a row; the rest of the line is the last result.
func (r row) columns(tb testing.TB, n int) []string {
	tb.Helper()
	rest := r.text
	columns := make([]string, 0, n+1)
	for range n {
		field, after, err := cutField(rest)
		if err != nil {
			tb.Fatalf("%s: %v", r.at, err)
		}
		columns, rest = append(columns, field), after
	}
	if rest == "" {
		tb.Fatalf("%s: %q has fewer than %d columns", r.at, r.text, n+1)
	}
	return append(columns, rest)
}

// policy parses and compiles the case's robots.txt.
func (c *testCase) policy() *robotsrules.Policy {
	return robotsrules.Compile(robotsrules.Parse(c.text, c.options), c.match)
}

// robot makes a Robot of a User-Agent, with the plainest reading of its
// products: what stands before the slash of each word.
func robot(userAgent string) robotsrules.Robot {
	r := robotsrules.Robot{UserAgent: userAgent}
	for _, word := range strings.Fields(userAgent) {
		product, _, _ := strings.Cut(word, "/")
		r.Products = append(r.Products, product)
	}
	if len(r.Products) > 0 {
		r.Name = r.Products[0]
	}
	return r
}

// A malformed case must stop the run: a reader that skipped what it does not
// understand would let a wrong expectation pass.
func TestCaseReaderRefusesMalformedCases(t *testing.T) {
	for _, data := range []string{
		"",
		"-- robots.txt --\nx\n-- decisions --\na /b allow no rule\n",
		"# Claim.\n-- robots.txt --\nx\n",
		"# Claim.\n-- decisions --\na /b allow no rule\n",
		"# Claim.\nstray\n-- robots.txt --\n-- decisions --\n",
		"# Claim.\n-- robots.txt --\n-- decision --\n",
		"# Claim.\n-- robots.txt --\n-- robots.txt --\n-- decisions --\n",
		"# Claim.\n-- robots.txt --\n-- decisions --\n-- decisions --\n",
		"# Claim.\n-- robots.txt (quoted) --\nraw\n-- decisions --\n",
		"# Claim.\n-- options --\ndialect rfc1234\n-- robots.txt --\n-- decisions --\n",
		"# Claim.\n-- options --\ncolour red\n-- robots.txt --\n-- decisions --\n",
	} {
		if _, err := parseCase("case.txt", data); err == nil {
			t.Errorf("parseCase(%q) = nil error, want one", data)
		}
	}
}
