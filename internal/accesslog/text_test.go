package accesslog_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/caddy-robots/caddy-robots/internal/accesslog"
)

func TestStringsOfARecordStayAsTheyAre(t *testing.T) {
	var text, want []byte
	for i := range 2000 {
		target := fmt.Sprintf(`/%d/%s`, i, strings.Repeat("x", i%300))
		text = append(text, request(i, target)...)
		want = append(want, target...)
	}
	var kept []string
	for r := open(t, accesslog.Options{}, writeFile(t, "a", text)); ; {
		record, err := r.Next()
		if err != nil {
			break
		}
		kept = append(kept, record.Target)
	}
	if got := strings.Join(kept, ""); got != string(want) {
		t.Errorf("the strings kept have changed: got %d bytes, %.60q..., want %d, %.60q...", len(got), got, len(want), want)
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
