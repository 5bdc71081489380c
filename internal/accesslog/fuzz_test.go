package accesslog_test

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"
	"unicode/utf8"

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

// oneLine makes of fuzzed octets what can stand in one line of standard input, and is
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

// FuzzCommon holds the same properties as FuzzCaddy for lines of all kinds.
func FuzzCommon(f *testing.F) {
	for _, line := range caseLines(f, false) {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) { checkLine(t, oneLine(line)) })
}

func checkLine(t *testing.T, line string) {
	t.Helper()
	got, want := readLine(line), twin(line)
	if !isSame(got, want) {
		t.Errorf("%q\n got %+v\nwant %+v", line, got, want)
	}
	if got.why == "" && (got.record.Target == "" || !isPlausible(got.record.Time)) {
		t.Errorf("%q reads as %+v, want a target and a time between 1990 and 2199", line, got.record)
	}
}

// FuzzWritten holds one property: whatever a client sends, a line that says so in each of
// the formats reads back as it was sent.
func FuzzWritten(f *testing.F) {
	f.Add("GET", "example.com", "/a?b=c", "robot/1", "203.0.113.9")
	f.Add("M-SEARCH", "[::1]:8080", "*", "\"robot\" \\x41", "2001:db8::9")
	f.Add("", "", "\x16\x03\x01", "-", "")
	f.Fuzz(func(t *testing.T, method, host, target, userAgent, address string) {
		if target == "" || !utf8.ValidString(strings.Join([]string{method, host, target, userAgent, address}, "|")) {
			t.Skip()
		}
		at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
		want := accesslog.Record{Time: at, Method: method, Host: host, Target: target, UserAgent: userAgent, UserAgentLogged: true, Address: address}
		line, err := json.Marshal(map[string]any{"ts": at.Unix(), "logger": "http.log.access", "request": map[string]any{
			"method": method, "host": host, "uri": target, "client_ip": address, "headers": map[string]any{"User-Agent": []string{userAgent}},
		}})
		if err != nil {
			t.Fatal(err)
		}
		if got := readLine(string(line)); got.record != want {
			t.Errorf("%s\n got %+v\nwant %+v", line, got, want)
		}

		want = accesslog.Record{Time: at, Method: "GET", Target: target, UserAgent: userAgent, UserAgentLogged: true, Address: "203.0.113.9"}
		if userAgent == "-" {
			want.UserAgent = ""
		}
		common := fmt.Sprintf(`203.0.113.9 - - [02/Jan/2026:03:04:05 +0000] "GET %s HTTP/1.1" 0 0 "-" "%s"`, inQuotes(target), inQuotes(userAgent))
		if got := readLine(common); got.record != want {
			t.Errorf("%s\n got %+v\nwant %+v", common, got, want)
		}
	})
}

// inQuotes writes a text as Apache does in a quoted field.
func inQuotes(text string) string {
	var b strings.Builder
	for i := range len(text) {
		switch c := text[i]; {
		case c == '"' || c == '\\':
			b.WriteString(`\` + string(c))
		case c < ' ' || c > '~':
			fmt.Fprintf(&b, `\x%02x`, c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// FuzzLines holds two properties: each line that is not blank is counted once; and it
// does not matter in which pieces a log arrives.
func FuzzLines(f *testing.F) {
	for _, c := range loadCases(f) {
		f.Add(c.log)
	}
	f.Fuzz(func(t *testing.T, log string) {
		log = oneLine("\n") + log // not taken for a compressed file
		got := readText(t, strings.NewReader(log), nil)
		n := int64(len(got.records)) + got.n + got.skipped
		want := int64(0)
		for line := range strings.Lines(log) {
			if strings.Trim(line, " \t\r\n") != "" {
				want++
			}
		}
		if n != want {
			t.Errorf("%q: %d lines counted, want %d", log, n, want)
		}
		for _, pieces := range []func(io.Reader) io.Reader{iotest.OneByteReader, iotest.HalfReader, iotest.DataErrReader} {
			again := readText(t, pieces(strings.NewReader(log)), nil)
			if !slices.Equal(again.records, got.records) || again.n != got.n || again.skipped != got.skipped || !slices.Equal(again.problems, got.problems) {
				t.Errorf("%q in pieces: got %+v, want %+v", log, again, got)
			}
		}
	})
}

// Lines of the cases with octets changed, dropped, doubled and put elsewhere read as the
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
	const octets = `"\[]{}:,- /0129eE.+x` + "\x00\xff\u00e9Zz"
	if len(line) == 0 {
		return line
	}
	at := random.IntN(len(line))
	to := min(len(line), at+random.IntN(8))
	switch random.IntN(4) {
	case 0:
		line[at] = octets[random.IntN(len(octets))]
		return line
	case 1:
		return slices.Delete(line, at, to)
	case 2:
		return slices.Insert(line, at, slices.Clone(line[at:to])...)
	}
	return slices.Insert(line, at, octets[random.IntN(len(octets))])
}
