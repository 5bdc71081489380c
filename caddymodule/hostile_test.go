package caddymodule

import (
	"net/url"
	"strings"
	"testing"

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
	for _, entry := range th.logs.All() {
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
