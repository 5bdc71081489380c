package integration

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// hours writes a span of time of day in GMT, counted from now, as robots.txt does. Whole
// hours from its edges, it makes no difference when a test runs.
func hours(now time.Time, from, to time.Duration) string {
	const timeOfDay = "1504"
	now = now.UTC()
	return now.Add(from).Format(timeOfDay) + "-" + now.Add(to).Format(timeOfDay)
}

func TestRequestRateHoldsInItsHours(t *testing.T) {
	t.Parallel()
	now := time.Now()
	within, elsewhen := hours(now, -3*time.Hour, 3*time.Hour), hours(now, 6*time.Hour, 12*time.Hour)
	c := start(t, sourced(fmt.Sprintf(`User-agent: NowBot
Request-rate: 1/2h %[1]s
Request-rate: 1000/1s

User-agent: LaterBot
Request-rate: 1/2h %[2]s

User-agent: EitherBot
Request-rate: 1/2h %[2]s
Request-rate: 1/1h
`, within, elsewhen)), nil)
	for _, tt := range []struct {
		agent, line string
		most        int // of Retry-After; 0: it is served
	}{
		{"NowBot/1.0", "Request-rate: 1/2h " + within, 7200},
		{"LaterBot/1.0", "", 0},
		{"EitherBot/1.0", "Request-rate: 1/1h", 3600},
	} {
		t.Run(tt.agent, func(t *testing.T) {
			c.expect(t, "", "/page", tt.agent, 200)
			if tt.most == 0 {
				c.expect(t, "", "/page", tt.agent, 200)
				return
			}
			a := c.expect(t, "", "/page", tt.agent, 429)
			if got := a.retryAfter(t, tt.most); got < tt.most-600 || !strings.Contains(a.body, tt.line) {
				t.Errorf("refusal: got Retry-After %d and %q, want about %d and a mention of %q", got, a.body, tt.most, tt.line)
			}
		})
	}
}

func TestVisitTimeShutsRobotsOutUntilItOpens(t *testing.T) {
	t.Parallel()
	now := time.Now()
	opens := now.Add(5 * time.Hour).Truncate(time.Minute)
	c := start(t, sourced(fmt.Sprintf(`User-agent: LaterBot
Visit-time: %s
Disallow: /private/

User-agent: NowBot
Visit-time: %s
`, hours(now, 5*time.Hour, 8*time.Hour), hours(now, -3*time.Hour, 3*time.Hour))), nil)
	a := c.expect(t, "", "/page", "LaterBot/1.0", 429)
	back := time.Now().Add(time.Duration(a.retryAfter(t, 5*3600)) * time.Second)
	if back.Before(opens) || back.After(opens.Add(patience)) {
		t.Errorf("Retry-After of %s: comes back at %s, want soon after %s", a.header.Get("Retry-After"), back, opens)
	}
	c.expect(t, "", "/private/", "LaterBot/1.0", 403)
	c.expect(t, "", "/robots.txt", "LaterBot/1.0", 200)
	c.expect(t, "", "/page", "NowBot/1.0", 200)
	c.expect(t, "", "/page", chrome, 200)
	c.log.wait(t, "it came off hours", c.ended, message(msgRefused), field("verdict", "off_hours"), field("robot", "LaterBot"))
}

// sourced is a site with this robots.txt, which ends with its last line.
func sourced(robotsTxt string) string {
	return "http://:{$PORT} {\n\trobots\n\trespond /robots.txt <<ROBOTS\n" + robotsTxt + "ROBOTS\n\trespond page\n}\n"
}
