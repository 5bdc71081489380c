package integration

import (
	"fmt"
	"strings"
	"testing"
)

const msgDiagnostic = "robots.txt diagnostic"

func TestLinesOfAPaceThatMakeNoSenseLeaveTheRestOfTheRecord(t *testing.T) {
	t.Parallel()
	lines := []string{
		"User-agent: PaceBot",
		"Request-rate: 1/0",
		"Request-rate: 0/10",
		"Request-rate: -1/5",
		"Request-rate: 99999999999/1",
		"Request-rate: 1/99999999999",
		"Request-rate: 1/10s 2500-2600",
		"Visit-time: 2599-0100",
		"Visit-time: 0600-0600", // which is the whole day
		"Crawl-delay: -1",
		"Crawl-delay: NaN",
		"Crawl-delay: 1e9",
		"Crawl-delay: 99999999999999999999",
	}
	nonsense := len(lines)
	lines = append(lines, "Crawl-delay: 3600", "Disallow: /private/", "")
	c := start(t, sourced(strings.Join(lines, "\n")), nil)
	c.expect(t, "", "/private/", "PaceBot/1.0", 403)
	c.expect(t, "", "/page", "PaceBot/1.0", 200)
	a := c.expect(t, "", "/page", "PaceBot/1.0", 429)
	if want := fmt.Sprintf("Line %d:    Crawl-delay: 3600", nonsense+1); a.retryAfter(t, 3600) < 3000 || !strings.Contains(a.body, want) {
		t.Errorf("refusal: got Retry-After %s and %q, want about an hour and %q", a.header.Get("Retry-After"), a.body, want)
	}
	c.expect(t, "", "/page", bingbot, 200)

	loaded := c.log.wait(t, "the rules are loaded", c.ended, message(msgLoaded))
	if got, want := loaded["diagnostics"], float64(nonsense-1); got != want {
		t.Errorf("line %q, field diagnostics: got %v, want %v", msgLoaded, got, want)
	}
	eventually(t, "the log tells of each line", func() bool { return len(c.log.all(message(msgDiagnostic))) >= nonsense-1 })
	told := make(map[any]string)
	for _, l := range c.log.all(message(msgDiagnostic)) {
		told[l["line"]] = l.text("what")
		if l.text("what") == "" || l.text("instead") == "" {
			t.Errorf("line %q: got %v, want what is wrong and what to write instead", msgDiagnostic, l)
		}
	}
	for n, line := range lines {
		if got, want := told[float64(n+1)], n > 0 && n < nonsense; (got != "") != want {
			t.Errorf("line %d, %q: got the diagnostic %q, want one: %t", n+1, line, got, want)
		}
	}
}
