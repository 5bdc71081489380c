// Package testutil has what tests of several packages need: a reader of case files, a DNS
// server, whether the race detector is on, and what to do where a program is missing. Only
// tests and packages for tests import it.
package testutil

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// SkipOrFail ends a test that something is missing for: it is skipped with advice on what to
// install or, where everything is to run (ROBOTS_REQUIRE_ALL=1), it fails.
func SkipOrFail(tb testing.TB, advice string) {
	tb.Helper()
	if os.Getenv("ROBOTS_REQUIRE_ALL") == "1" {
		tb.Fatal(advice)
	}
	tb.Skip(advice)
}

// Case is a test case that a person who does not know Go can read and write: a file in the txtar
// format whose first line states its claim, "# The longest pattern decides.", and whose
// sections, "-- name --", say what is given and what is expected.
type Case struct {
	Name    string // of the file, with slashes
	Claim   string
	Comment string // what stands before the first section
	Files   []txtar.File
}

// ReadCases reads the cases whose file names match one of the patterns, as [filepath.Glob] has
// it. The test fails if a pattern matches none, or a file is no case.
func ReadCases(tb testing.TB, patterns ...string) []Case {
	tb.Helper()
	var cases []Case
	for _, pattern := range patterns {
		names, err := filepath.Glob(filepath.FromSlash(pattern))
		if err != nil {
			tb.Fatal(err)
		}
		if len(names) == 0 {
			tb.Fatalf("no test cases match %s", pattern)
		}
		for _, name := range names {
			data, err := os.ReadFile(name)
			if err != nil {
				tb.Fatal(err)
			}
			c, err := ParseCase(filepath.ToSlash(name), data)
			if err != nil {
				tb.Fatal(err)
			}
			cases = append(cases, c)
		}
	}
	return cases
}

// ParseCase reads a case, and returns an error that names it if it has no claim, no section, or
// two of one name.
func ParseCase(name string, data []byte) (Case, error) {
	archive := txtar.Parse(data)
	c := Case{Name: name, Comment: string(archive.Comment), Files: archive.Files}
	first, _, _ := strings.Cut(c.Comment, "\n")
	claim, ok := strings.CutPrefix(first, "# ")
	if c.Claim = strings.TrimSpace(claim); !ok || c.Claim == "" {
		return c, fmt.Errorf("%s:1: a case begins with a comment line that states its claim", name)
	}
	if len(c.Files) == 0 {
		return c, fmt.Errorf("%s: a case has sections, such as -- decisions --", name)
	}
	seen := make(map[string]bool)
	for i, file := range c.Files {
		if seen[file.Name] {
			return c, fmt.Errorf("%s:%d: a second section %q", name, c.Line(i)-1, file.Name)
		}
		seen[file.Name] = true
	}
	return c, nil
}

// Line returns the number of the first line of the content of a section, counted from 1.
func (c Case) Line(section int) int {
	line := 2 + strings.Count(c.Comment, "\n")
	for _, file := range c.Files[:section] {
		line += 1 + strings.Count(string(file.Data), "\n")
	}
	return line
}
