package accesslog_test

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/internal/accesslog"
)

// A testCase is one file of testdata: the claim in its first comment line, a log, and
// what it reads as. A person who does not know Go can read and write one.
//
//	# The target is what stands between the method and the protocol.
//	-- log --
//	203.0.113.9 - - [02/Jan/2026:03:04:05 +0000] "GET /a HTTP/1.1" 200 12
//	-- records --
//	2026-01-02T03:04:05Z GET "/a" from "203.0.113.9" status 200 size 12
//
// The sections are zone (a name of the IANA database), log (or "log (quoted)", each of
// whose lines is a Go string), and what is expected: records, unreadable (lines of
// "number: reason") and skipped (a number). What is not stated must not be there.
type testCase struct {
	name, claim, zone string
	log               string
	records           []string
	unreadable        []string
	skipped           int64
}

func loadCases(tb testing.TB) []testCase {
	tb.Helper()
	names, err := filepath.Glob(filepath.Join("testdata", "*", "*.txt"))
	if err != nil {
		tb.Fatal(err)
	}
	if len(names) < 10 {
		tb.Fatalf("%d cases in testdata, want all of them", len(names))
	}
	var cases []testCase
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			tb.Fatal(err)
		}
		c, err := parseCase(filepath.ToSlash(name), string(data))
		if err != nil {
			tb.Fatal(err)
		}
		cases = append(cases, c)
	}
	return cases
}

func parseCase(name, data string) (testCase, error) {
	c := testCase{name: name}
	first, rest, _ := strings.Cut(data, "\n")
	var found bool
	if c.claim, found = strings.CutPrefix(first, "# "); !found {
		return c, fmt.Errorf("%s:1: a case begins with a comment line that states its claim", name)
	}
	seen := map[string]bool{}
	section := ""
	for line := range strings.Lines(rest) {
		text := strings.TrimSuffix(line, "\n")
		if title, ok := strings.CutPrefix(text, "-- "); ok {
			if section, ok = strings.CutSuffix(title, " --"); !ok || seen[section] {
				return c, fmt.Errorf("%s: section %q has no end or stands twice", name, title)
			}
			seen[section] = true
			continue
		}
		if err := c.add(section, text); err != nil {
			return c, fmt.Errorf("%s: %q: %w", name, text, err)
		}
	}
	if seen["log"] == seen["log (quoted)"] || len(c.records)+len(c.unreadable)+int(c.skipped) == 0 && !seen["records"] {
		return c, fmt.Errorf("%s: a case needs one log, and an expectation", name)
	}
	return c, nil
}

func (c *testCase) add(section, text string) (err error) {
	switch section {
	case "log":
		c.log += text + "\n"
	case "log (quoted)":
		text, err = strconv.Unquote(text)
		c.log += text
	case "zone":
		c.zone = text
	case "records":
		c.records = append(c.records, text)
	case "unreadable":
		c.unreadable = append(c.unreadable, text)
	case "skipped":
		c.skipped, err = strconv.ParseInt(text, 10, 64)
	default:
		err = fmt.Errorf("the section %q is none", section)
	}
	return err
}

func (c *testCase) location(tb testing.TB) *time.Location {
	tb.Helper()
	zone, err := time.LoadLocation(c.zone)
	if err != nil {
		tb.Fatal(err)
	}
	return zone
}

// show writes a record as the cases do: what the log does not tell is left out.
func show(r *accesslog.Record) string {
	var b strings.Builder
	b.WriteString(r.Time.Format(time.RFC3339Nano))
	if r.Method != "" {
		b.WriteString(" " + r.Method)
	}
	fmt.Fprintf(&b, " %q", r.Target)
	if r.Host != "" {
		fmt.Fprintf(&b, " of %q", r.Host)
	}
	if r.UserAgentLogged || r.UserAgent != "" {
		fmt.Fprintf(&b, " by %q", r.UserAgent)
	}
	if r.Address != "" {
		fmt.Fprintf(&b, " from %q", r.Address)
	}
	fmt.Fprintf(&b, " status %d size %d", r.Status, r.Size)
	if r.Duration != 0 {
		fmt.Fprintf(&b, " took %s", r.Duration)
	}
	if r.TLS {
		b.WriteString(" tls")
	}
	return b.String()
}

// reading is all that a Reader says.
type reading struct {
	records  []string
	n        int64 // of unreadable lines
	problems []accesslog.Problem
	skipped  int64
	err      error
}

func readAll(tb testing.TB, r *accesslog.Reader) reading {
	tb.Helper()
	var got reading
	for {
		record, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			tb.Fatalf("Next: %v, want a record or io.EOF", err)
		}
		got.records = append(got.records, show(record))
	}
	got.n, got.problems = r.Unreadable()
	got.skipped = r.Skipped()
	got.err = r.Err()
	return got
}

// readText reads a log from standard input.
func readText(tb testing.TB, log io.Reader, zone *time.Location) reading {
	tb.Helper()
	r, err := accesslog.Open([]string{"-"}, accesslog.Options{Stdin: log, Zone: zone})
	if err != nil {
		tb.Fatal(err)
	}
	return readAll(tb, r)
}

func TestCases(t *testing.T) {
	for _, c := range loadCases(t) {
		t.Run(strings.TrimPrefix(c.name, "testdata/"), func(t *testing.T) {
			got := readText(t, strings.NewReader(c.log), c.location(t))
			if !slices.Equal(got.records, c.records) {
				t.Errorf("%s\ngot records\n%s\nwant\n%s", c.claim, strings.Join(got.records, "\n"), strings.Join(c.records, "\n"))
			}
			var unreadable []string
			for _, p := range got.problems {
				unreadable = append(unreadable, fmt.Sprintf("%d: %s", p.Line, p.Reason))
			}
			if !slices.Equal(unreadable, c.unreadable) || got.n != int64(len(c.unreadable)) {
				t.Errorf("%s\ngot %d unreadable\n%s\nwant\n%s", c.claim, got.n, strings.Join(unreadable, "\n"), strings.Join(c.unreadable, "\n"))
			}
			if got.skipped != c.skipped {
				t.Errorf("%s\ngot %d lines skipped, want %d", c.claim, got.skipped, c.skipped)
			}
			if got.err != nil {
				t.Errorf("got error %v, want none", got.err)
			}
		})
	}
}

// A malformed case must stop the run, or a wrong expectation could pass.
func TestCaseReaderRefusesMalformedCases(t *testing.T) {
	for _, data := range []string{
		"",
		"-- log --\n-- records --\nx\n",
		"# Claim.\nstray\n-- log --\n-- records --\nx\n",
		"# Claim.\n-- log --\nx\n",
		"# Claim.\n-- records --\nx\n",
		"# Claim.\n-- log --\n-- log --\n-- records --\nx\n",
		"# Claim.\n-- log (quoted) --\nraw\n-- records --\nx\n",
		"# Claim.\n-- log --\n-- record --\nx\n",
		"# Claim.\n-- log --\n-- skipped --\nmany\n",
	} {
		if _, err := parseCase("case.txt", data); err == nil {
			t.Errorf("parseCase(%q) = nil error, want one", data)
		}
	}
}
