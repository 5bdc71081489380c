package policies

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/caddy-robots/caddy-robots/internal/enforce"
	"github.com/caddy-robots/caddy-robots/robotsrules"
)

func TestAChangeIsLoggedWithItsLines(t *testing.T) {
	answer := text(closedSite)
	ts := newTestSite(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { answer(w, r) }))
	ts.loadNow()
	answer = text("User-agent: *\nDisallow: /open/\nDisalow /typo\nUser-agent: *\n")
	ts.loadNow()
	entries := ts.log.FilterMessage("robots.txt changed").All()
	if len(entries) != 1 {
		t.Fatalf("log lines: got %d, want 1", len(entries))
	}
	fields := entries[0].ContextMap()
	in, out := fmt.Sprint(fields["in"]), fmt.Sprint(fields["out"])
	if in != "[User-agent: * Disallow: /open/ Disalow /typo]" && in != "[Disallow: /open/ Disalow /typo User-agent: *]" {
		t.Errorf("lines in: got %s", in)
	}
	if out != "[Disallow: /closed/]" {
		t.Errorf("lines out: got %s", out)
	}
	if ts.log.FilterMessage("robots.txt diagnostic").Len() == 0 {
		t.Error("the typo is not told")
	}
}

func TestTokensThatBindNobodyOrACrowdAreTold(t *testing.T) {
	ts := newTestSite(t, text("User-agent: Google-Extended\nUser-agent: bot\nDisallow: /\n\nUser-agent: GPTBot\nUser-agent: bot\nDisallow: /x\n"))
	ts.loadNow()
	var told []string
	for _, entry := range ts.log.FilterMessage("robots.txt diagnostic").All() {
		told = append(told, entry.ContextMap()["what"].(string))
	}
	if len(told) < 2 || !strings.Contains(told[0], "control token") || !strings.Contains(told[1], "binds only a robot") {
		t.Errorf("diagnostics: got %q, want one on Google-Extended and one on bot", told)
	}
}

func TestRecordsOfRobotsThatDressAsBrowsersAreTold(t *testing.T) {
	const record = "User-agent: HeadlessChrome\nUser-agent: PTST\nDisallow: /\n"
	for _, test := range []struct {
		options enforce.Options
		want    []int // lines
	}{
		{enforce.Options{}, []int{1, 2}},
		{enforce.Options{TreatAsRobot: []string{"headlesschrome"}}, []int{2}},
		{enforce.Options{Unnamed: enforce.UnnamedEveryone}, nil},
	} {
		file := robotsrules.Parse([]byte(record), robotsrules.Options{})
		var got []int
		for _, d := range DressedAsBrowsers(file, &test.options) {
			got = append(got, d.Line)
			if !strings.Contains(d.Instead, `write "treat_as_robot `) {
				t.Errorf("%s", d)
			}
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%+v: got lines %v, want %v", test.options, got, test.want)
		}
	}
	ts := newTestSite(t, text(record))
	ts.loadNow()
	ts.logged(t, "robots.txt diagnostic", 2)
}

func TestALargeChangeIsToldInFewLines(t *testing.T) {
	answer := text(closedSite)
	ts := newTestSite(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { answer(w, r) }))
	ts.loadNow()
	var large strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&large, "Disalow: /%d/%s\n", i, strings.Repeat("x", 1000))
	}
	answer = text(large.String())
	ts.loadNow()
	if lines, bytes := ts.log.Len(), encodedLen(t, ts); lines > 2*maxLogged || bytes > 32<<10 {
		t.Errorf("a text of 5,000 wrong lines: got %d log lines of %d bytes, want at most %d and 32 KiB", lines, bytes, 2*maxLogged)
	}
	ts.logged(t, "robots.txt has more diagnostics than are logged", 1)
}

// encodedLen is how many bytes of a log file all that was logged takes.
func encodedLen(t *testing.T, ts *testSite) (bytes int) {
	t.Helper()
	for _, entry := range ts.log.All() {
		line, err := zapcore.NewJSONEncoder(zap.NewProductionEncoderConfig()).EncodeEntry(entry.Entry, entry.Context)
		if err != nil {
			t.Fatal(err)
		}
		bytes += line.Len()
	}
	return bytes
}
