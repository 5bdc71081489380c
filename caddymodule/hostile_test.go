package caddymodule

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
	"unicode"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// What no line of a log or of a terminal may do because of what somebody sent: end, begin
// another one, move the cursor, or turn around.
const hostileText = "a\r\n{\"level\":\"error\"}\n\x1b[2J\x1b]0;title\x07\x9b31m\x00\x7f"

func TestNoTextOfAClientBreaksALogLine(t *testing.T) {
	th := newTestHandler(t, "User-agent: *\nDisallow: /private/\n", &Handler{Ban: thrice(), Trap: []string{"/private/"}})
	for _, agent := range []string{gptBot + hostileText, chrome + hostileText, hostileText + "Bot/1.0", ""} {
		for range 4 {
			r := newRequest("GET", "/private/"+url.PathEscape(hostileText), agent)
			r.Host, r.Method = "site.example"+hostileText, "GET"+hostileText
			th.do(r)
		}
	}
	seen := make(map[string]bool)
	config := zap.NewProductionEncoderConfig()
	for _, entry := range th.log.All() {
		seen[entry.Message] = true
		for name, encoder := range map[string]zapcore.Encoder{"json": zapcore.NewJSONEncoder(config), "console": zapcore.NewConsoleEncoder(config)} {
			line, err := encoder.EncodeEntry(entry.Entry, entry.Context)
			if err != nil {
				t.Fatal(err)
			}
			text := strings.TrimSuffix(line.String(), "\n")
			if i := strings.IndexFunc(text, func(r rune) bool { return r < ' ' && r != '\t' }); i >= 0 {
				t.Errorf("%s: got a line end or an escape at %d of %q", name, i, text)
			}
		}
	}
	for _, message := range []string{"robot refused", "robot banned", "robot trapped"} {
		if !seen[message] {
			t.Errorf("no line %q was logged, so nothing was tried", message)
		}
	}
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
	if lines, octets := ts.log.Len(), encodedLen(t, ts); lines > 2*linesTold || octets > 32<<10 {
		t.Errorf("a text of 5,000 wrong lines: got %d log lines of %d octets, want at most %d and 32 KiB", lines, octets, 2*linesTold)
	}
	ts.logged(t, "robots.txt has more diagnostics than are logged", 1)
}

// encodedLen is how many octets of a log file all that was logged takes.
func encodedLen(t *testing.T, ts *testSite) (octets int) {
	t.Helper()
	for _, entry := range ts.log.All() {
		line, err := zapcore.NewJSONEncoder(zap.NewProductionEncoderConfig()).EncodeEntry(entry.Entry, entry.Context)
		if err != nil {
			t.Fatal(err)
		}
		octets += line.Len()
	}
	return octets
}

func TestHostileTextsMoveNoCursor(t *testing.T) {
	rules := write(t, t.TempDir(), "robots.txt", "User-agent: *\nDisallow: /private/\n")
	var log strings.Builder
	for _, agent := range []string{gptBot + hostileText, hostileText + "Bot/1.0", hostileText} {
		quoted, err := json.Marshal(agent)
		if err != nil {
			t.Fatal(err)
		}
		path, _ := json.Marshal("/private/" + hostileText)
		fmt.Fprintf(&log, `{"level":"info","ts":%d.5,"logger":"http.log.access","msg":"handled request","request":{"remote_ip":"203.0.113.7","client_ip":"203.0.113.7","proto":"HTTP/1.1",`+
			`"method":"GET","host":%s,"uri":%s,"headers":{"User-Agent":[%s]}},"status":200}`+"\n", time.Now().Unix(), quoted, path, quoted)
	}
	log.WriteString(combinedLine(strings.NewReplacer("\r", "", "\n", "").Replace(hostileText)+"Bot/1.0", 1))
	log.WriteString("a line that cannot be read" + strings.TrimSpace(hostileText) + "\n")
	got := runCommand(t, strings.NewReader(log.String()), "replay", "--robots-txt", rules, "-")
	if !strings.Contains(got.out, "/private/") {
		t.Fatalf("got %q, want it to tell of /private/", got.out)
	}
	if i := strings.IndexFunc(got.out+got.err, func(r rune) bool { return unicode.IsControl(r) && r != '\n' }); i >= 0 {
		t.Errorf("got a control character at %d of %q", i, got.out+got.err)
	}
}
