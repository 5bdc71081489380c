package cli

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode"
)

// What no line of a terminal may do because of what somebody sent: end, begin another one, move
// the cursor, or turn around.
const hostileText = "a\r\n{\"level\":\"error\"}\n\x1b[2J\x1b]0;title\x07\x9b31m\x00\x7f"

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
	got := runCommand(strings.NewReader(log.String()), "replay", "--robots-txt", rules, "-")
	if !strings.Contains(got.out, "/private/") {
		t.Fatalf("got %q, want it to tell of /private/", got.out)
	}
	if i := strings.IndexFunc(got.out+got.err, func(r rune) bool { return unicode.IsControl(r) && r != '\n' }); i >= 0 {
		t.Errorf("got a control character at %d of %q", i, got.out+got.err)
	}
}
