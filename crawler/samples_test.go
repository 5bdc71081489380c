package crawler

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// A sample is one row of a case file: class | name | User-Agent.
type sample struct {
	at        string // file and line
	class     string
	name      string
	userAgent string
}

// readSamples reads the case files that match glob under testdata. It fails when
// there are none, or when one of them is empty or malformed.
func readSamples(tb testing.TB, glob string) []sample {
	tb.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", glob))
	if err != nil {
		tb.Fatal(err)
	}
	if len(files) == 0 {
		tb.Fatalf("no case file matches testdata/%s", glob)
	}
	var all []sample
	for _, file := range files {
		rows := readFile(tb, file)
		if len(rows) == 0 {
			tb.Fatalf("%s has no rows", file)
		}
		all = append(all, rows...)
	}
	return all
}

func readFile(tb testing.TB, file string) []sample {
	tb.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		tb.Fatal(err)
	}
	var rows []sample
	for i, line := range strings.Split(string(text), "\n") {
		if strings.TrimSpace(line) == "" || line[0] == '#' {
			continue
		}
		at := file + ":" + strconv.Itoa(i+1)
		columns := strings.SplitN(line, "|", 3)
		if len(columns) != 3 {
			tb.Fatalf("%s: got %d columns, want class | name | User-Agent", at, len(columns))
		}
		for k := range columns {
			columns[k] = strings.TrimSpace(columns[k])
		}
		if userAgent := columns[2]; strings.HasPrefix(userAgent, `"`) {
			if columns[2], err = strconv.Unquote(userAgent); err != nil {
				tb.Fatalf("%s: %s: %v", at, userAgent, err)
			}
		}
		rows = append(rows, sample{at, columns[0], columns[1], columns[2]})
	}
	return rows
}

// userAgents returns what the samples of that class send; any class if it is "".
func userAgents(samples []sample, class string) []string {
	var all []string
	for _, s := range samples {
		if class == "" || s.class == class {
			all = append(all, s.userAgent)
		}
	}
	return all
}
