package cli

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestLintOfTheExampleSite(t *testing.T) {
	const want = "4 records, 6 rules: 0 errors, 0 warnings, 0 notes\n"
	if got := runCommand(nil, "lint", "../../example/robots.txt"); got.out != want || got.status != 0 {
		t.Errorf("got %s\nwant\n%s", got, want)
	}
}

// found returns the findings of lint.
func found(t *testing.T, text string, args ...string) (all []advice) {
	t.Helper()
	got := runCommand(strings.NewReader(text), append([]string{"lint", "--format", "json", "-"}, args...)...)
	for line := range strings.Lines(got.out) {
		var one advice
		if err := json.Unmarshal([]byte(line), &one); err != nil {
			t.Fatalf("%v: %s", err, got)
		}
		all = append(all, one)
	}
	return all
}

var (
	rowOfLint  = regexp.MustCompile("(?m)^\\| `([a-z0-9-]+)` \\| (info|warning|error) \\| (?:--dialect (\\w+): )?(.*?) \\| (.+) \\| (.+) \\|$")
	lineOfLint = regexp.MustCompile("`([^`]*)`")
)

// docs/lint.md has each code once and no other, and its examples have what it says.
func TestDocumentedFindings(t *testing.T) {
	text, err := os.ReadFile("../../docs/lint.md")
	if err != nil {
		t.Fatal(err)
	}
	var documented []string
	examples := 0
	for _, row := range rowOfLint.FindAllStringSubmatch(string(text), -1) {
		code, severity := row[1], row[2]
		documented = append(documented, code)
		if row[4] == "-" {
			continue
		}
		var lines strings.Builder
		for _, line := range lineOfLint.FindAllStringSubmatch(row[4], -1) {
			lines.WriteString(strings.TrimSpace(line[1]) + "\n")
		}
		var args []string
		if row[3] != "" {
			args = []string{"--dialect", row[3]}
		}
		all := found(t, lines.String(), args...)
		examples++
		if !slices.ContainsFunc(all, func(a advice) bool { return a.Code == code && a.Severity == severity }) {
			t.Errorf("%s: the example %q has no %s with this code: %+v", code, lines.String(), severity, all)
		}
	}
	known := codes()
	slices.Sort(known)
	slices.Sort(documented)
	if !slices.Equal(known, documented) {
		for _, code := range known {
			if !slices.Contains(documented, code) {
				t.Errorf("docs/lint.md has no %s", code)
			}
		}
		for _, code := range documented {
			if !slices.Contains(known, code) {
				t.Errorf("docs/lint.md has %s, which is no finding", code)
			}
		}
		t.Errorf("got %d codes in docs/lint.md, want %d", len(documented), len(known))
	}
	if examples < 60 {
		t.Errorf("tried %d examples, want at least 60", examples)
	}
}
