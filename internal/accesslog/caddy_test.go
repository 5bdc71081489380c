package accesslog_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/internal/accesslog"
)

// caseLines returns every line of the cases that has a brace, as all of Caddy's do, or every
// other one.
func caseLines(tb testing.TB, caddy bool) []string {
	tb.Helper()
	var all []string
	for _, c := range loadCases(tb) {
		for line := range strings.Lines(c.log) {
			line = strings.TrimSuffix(line, "\n")
			if strings.Contains(line, "{") == caddy {
				all = append(all, line)
			}
		}
	}
	if len(all) < 20 {
		tb.Fatalf("%d lines in the cases, want many", len(all))
	}
	return all
}

// oneLine makes of fuzzed bytes what can stand in one line of standard input, and is
// not taken for a compressed file.
func oneLine(line string) string {
	line = strings.ReplaceAll(line, "\n", " ")
	return " " + line
}

// FuzzCaddy holds two properties: a line of JSON reads as the twin says; and a record has
// a target and a plausible time.
func FuzzCaddy(f *testing.F) {
	for _, line := range caseLines(f, true) {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) { checkLine(t, oneLine("{"+strings.TrimPrefix(line, "{"))) })
}

func checkLine(t *testing.T, line string) {
	t.Helper()
	got, want := readLine(line), twin(line)
	if got.why == accesslog.ReasonConsole || got.why == accesslog.ReasonPrefix {
		got.why = notALog // of which they are kinds
	}
	if !isSame(got, want) {
		t.Errorf("%q\n got %+v\nwant %+v", line, got, want)
	}
	if got.why == "" && (got.record.Target == "" || !isPlausible(got.record.Time)) {
		t.Errorf("%q reads as %+v, want a target and a time between 1990 and 2199", line, got.record)
	}
}

// Lines of the cases with bytes changed, dropped, doubled and put elsewhere read as the
// twin says.
func TestChangedLinesReadAsTheTwinSays(t *testing.T) {
	random := rand.New(rand.NewPCG(20, 26))
	lines := append(caseLines(t, true), caseLines(t, false)...)
	outcomes := map[string]int{}
	for range 5000 {
		line := []byte(lines[random.IntN(len(lines))])
		for range random.IntN(4) {
			line = changed(random, line)
		}
		text := oneLine(string(line))
		checkLine(t, text)
		outcomes[twin(text).why]++
	}
	for _, why := range []string{"", skipped, notALog, notJSON, badTime, cutField, noAsking} {
		if outcomes[why] < 20 {
			t.Errorf("%d lines came out as %q, want enough to tell", outcomes[why], why)
		}
	}
}

func changed(random *rand.Rand, line []byte) []byte {
	const bytes = `"\[]{}:,- /0129eE.+x` + "\x00\xff\u00e9Zz"
	if len(line) == 0 {
		return line
	}
	at := random.IntN(len(line))
	to := min(len(line), at+random.IntN(8))
	switch random.IntN(4) {
	case 0:
		line[at] = bytes[random.IntN(len(bytes))]
		return line
	case 1:
		return slices.Delete(line, at, to)
	case 2:
		return slices.Insert(line, at, slices.Clone(line[at:to])...)
	}
	return slices.Insert(line, at, bytes[random.IntN(len(bytes))])
}
