package integration

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

const pacedSites = `
(paces) {
	respond /robots.txt <<ROBOTS
		User-agent: *
		Disallow: /private/

		User-agent: HalfBot
		Crawl-delay: 0.5

		User-agent: OneBot
		Crawl-delay: 1

		User-agent: TwoBot
		Crawl-delay: 2

		User-agent: BurstBot
		Request-rate: 5/10m

		User-agent: SlowBot
		Crawl-delay: 3600
		Disallow: /private/

		User-agent: QuickBot
		Crawl-delay: 0.001
		ROBOTS
	respond "page"
}
http://site.test:{$PORT} {
	robots
	import paces
}
http://other.test:{$PORT} {
	robots
	import paces
}
http://default.test:{$PORT} {
	robots {
		default_pace 1/1h
	}
	import paces
}
http://private.test:{$PORT} {
	robots {
		disallowed pace 1/2s
	}
	import paces
}
`

// until lets real time pass up to a moment: here robots keep a pace, or do not.
func until(moment time.Time) { time.Sleep(time.Until(moment)) }

// retryAfter returns the seconds that a refusal tells to wait, and fails the test if it
// tells none or more than so many.
func (a answer) retryAfter(t *testing.T, most int) int {
	t.Helper()
	seconds, err := strconv.Atoi(a.header.Get("Retry-After"))
	if err != nil || seconds < 1 || seconds > most {
		t.Fatalf("status %d with Retry-After %q: want 1 to %d", a.status, a.header.Get("Retry-After"), most)
	}
	return seconds
}

func TestARobotThatKeepsItsPaceWithinAFifthIsNeverRefused(t *testing.T) {
	t.Parallel()
	c := start(t, pacedSites, nil)
	const delay = 500 * time.Millisecond
	vary := rand.New(rand.NewPCG(9309, 0))
	for range 20 {
		c.expect(t, "site.test", "/page", "HalfBot/1.0", 200)
		// From one answer to the next request: no delay on the way makes it earlier.
		until(time.Now().Add(delay*8/10 + time.Duration(vary.Int64N(int64(delay*4/10)))))
	}
}

func TestARobotThatHammersGetsItsPaceAndNoMore(t *testing.T) {
	t.Parallel()
	c := start(t, pacedSites, nil)
	c.expect(t, "site.test", "/page", chrome, 200)
	const delay = 500 * time.Millisecond
	var served, refused, others atomic.Int64
	var clients sync.WaitGroup
	began := time.Now()
	for range 2 {
		clients.Go(func() {
			for time.Since(began) < 10*delay+delay/2 {
				a, err := request{host: "site.test", path: "/page", agent: "HalfBot/1.0"}.try(client, "http://"+c.address())
				switch {
				case err == nil && a.status == 200:
					served.Add(1)
				case err == nil && a.status == 429:
					refused.Add(1)
				default:
					others.Add(1)
				}
			}
		})
	}
	clients.Wait()
	took := time.Since(began)
	want := int64(took/delay) + 1
	if got := served.Load(); got > want || got < want-1 || others.Load() != 0 {
		t.Errorf("in %s: %d served, %d neither served nor told to wait; want %d served, give or take one, and 0", took, got, others.Load(), want)
	}
	t.Logf("%d served and %d refused in %s at one in %s", served.Load(), refused.Load(), took, delay)
}

func TestARobotThatComesBackWhenItIsToldIsServed(t *testing.T) {
	t.Parallel()
	c := start(t, pacedSites, nil)
	for agent, delay := range map[string]int{"OneBot/1.0": 1, "TwoBot/1.0": 2} {
		t.Run(agent, func(t *testing.T) {
			t.Parallel()
			c.expect(t, "site.test", "/page", agent, 200)
			for range 3 {
				a := c.expect(t, "site.test", "/page", agent, 429)
				until(time.Now().Add(time.Duration(a.retryAfter(t, delay)) * time.Second))
				c.expect(t, "site.test", "/page", agent, 200)
			}
		})
	}
}

func TestARobotThatComesBackTooSoonIsRefusedAgain(t *testing.T) {
	t.Parallel()
	c := start(t, pacedSites, nil)
	c.expect(t, "site.test", "/page", "TwoBot/1.0", 200)
	served := time.Now()
	c.expect(t, "site.test", "/page", "TwoBot/1.0", 429)
	until(served.Add(time.Second))
	a := c.expect(t, "site.test", "/page", "TwoBot/1.0", 429)
	until(time.Now().Add(time.Duration(a.retryAfter(t, 1)) * time.Second))
	c.expect(t, "site.test", "/page", "TwoBot/1.0", 200)
}

func TestRequestRateMayBeUsedUpAtOnce(t *testing.T) {
	t.Parallel()
	c := start(t, pacedSites, nil)
	for range 5 {
		c.expect(t, "site.test", "/page", "BurstBot/1.0", 200)
	}
	a := c.expect(t, "site.test", "/page", "BurstBot/1.0", 429)
	if got := a.retryAfter(t, 120); got < 60 {
		t.Errorf("Retry-After of the sixth of 5/10m at once: got %d, want a little less than 120", got)
	}
}

func TestABudgetIsOfOneRobotOnOneSite(t *testing.T) {
	t.Parallel()
	c := startWith(t, proxied+pacedSites, nil)
	for _, step := range []struct {
		what, address, host, method, path, agent string
		want                                     int
	}{
		{"the first", personal, "site.test", "GET", "/page", "SlowBot/1.0", 200},
		{"the second", personal, "site.test", "GET", "/page", "SlowBot/1.0", 429},
		{"from another address", realAddress, "site.test", "GET", "/page", "SlowBot/1.0", 429},
		{"under another version", personal, "site.test", "GET", "/page", "SlowBot/2.0", 429},
		{"another page", personal, "site.test", "GET", "/other", "SlowBot/1.0", 429},
		{"another method", personal, "site.test", "POST", "/page", "SlowBot/1.0", 429},
		{"robots.txt", personal, "site.test", "GET", "/robots.txt", "SlowBot/1.0", 200},
		{"what is disallowed all the same", personal, "site.test", "GET", "/private/", "SlowBot/1.0", 403},
		{"on another site", personal, "other.test", "HEAD", "/page", "SlowBot/1.0", 200},
		{"where HEAD counts too", personal, "other.test", "GET", "/page", "SlowBot/1.0", 429},
		{"another robot", personal, "site.test", "GET", "/page", "TwoBot/1.0", 200},
		{"a robot without a pace", personal, "site.test", "GET", "/page", bingbot, 200},
		{"and again", personal, "site.test", "GET", "/page", bingbot, 200},
		{"a person", personal, "site.test", "GET", "/page", chrome, 200},
	} {
		t.Run(step.what, func(t *testing.T) {
			q := request{method: step.method, host: step.host, path: step.path, agent: step.agent}
			if a := c.ask(t, q.from(step.address)); a.status != step.want {
				t.Errorf("%s %s%s for %q: got %d %q, want %d", step.method, step.host, step.path, step.agent, a.status, a.body, step.want)
			}
		})
	}
}

func TestDefaultPaceHoldsThoseWhoseRecordStatesNone(t *testing.T) {
	t.Parallel()
	c := startWith(t, proxied+pacedSites, nil)
	for _, tt := range []struct {
		what, address, agent string
		second               int
	}{
		{"a robot that no record names", personal, bingbot, 429},
		{"a client without a User-Agent", personal, "", 429},
		{"another one, at its own address", realAddress, "", 429},
		{"a robot whose record states a pace", personal, "QuickBot/1.0", 200},
		{"an HTTP library, which the * record does not bind", personal, curl, 200},
		{"a person", personal, chrome, 200},
	} {
		t.Run(tt.what, func(t *testing.T) {
			c.expectFrom(t, tt.address, "default.test", "/page", tt.agent, 200, "")
			until(time.Now().Add(5 * time.Millisecond)) // QuickBot's pace
			a := c.expectFrom(t, tt.address, "default.test", "/page", tt.agent, tt.second, "")
			if tt.second == 429 && !strings.Contains(a.body, "default_pace 1/1h") {
				t.Errorf("refusal: got %q, want a mention of default_pace 1/1h", a.body)
			}
		})
	}
}

func TestMadeUpNamesGetThePaceOfOne(t *testing.T) {
	t.Parallel()
	c := startWith(t, proxied+pacedSites, nil)
	served := func(address string) (n int) {
		for i := range 50 {
			q := request{host: "default.test", path: "/page", agent: fmt.Sprintf("MadeUp%dBot/1.0", i)}
			if a := c.ask(t, q.from(address)); a.status == 200 {
				n++
			}
		}
		return n
	}
	for _, address := range []string{personal, realAddress, "2001:db8:7::1"} {
		if got := served(address); got != 1 {
			t.Errorf("of 50 names from %s: %d were served, want 1", address, got)
		}
	}
	if got := served("2001:db8:7::2"); got != 0 {
		t.Errorf("of 50 names from an address of the same /64: %d were served, want none", got)
	}
	c.expectFrom(t, personal, "default.test", "/page", "", 429, "")
	c.expectFrom(t, personal, "default.test", "/page", bingbot, 200, "page")
	c.expectFrom(t, personal, "default.test", "/page", "QuickBot/1.0", 200, "page")
	c.expectFrom(t, personal, "default.test", "/page", chrome, 200, "page")
}

func TestDisallowedPagesAtAPaceHaveABudgetOfTheirOwn(t *testing.T) {
	t.Parallel()
	c := start(t, pacedSites, nil)
	c.expect(t, "private.test", "/private/", bingbot, 200)
	a := c.expect(t, "private.test", "/private/", bingbot, 429)
	if !strings.Contains(a.body, "disallowed pace 1/2s") || !strings.Contains(a.body, "Disallow: /private/") {
		t.Errorf("refusal: got %q, want a mention of the rule and of the pace", a.body)
	}
	for range 3 {
		c.expect(t, "private.test", "/page", bingbot, 200)
	}
	until(time.Now().Add(time.Duration(a.retryAfter(t, 2)) * time.Second))
	c.expect(t, "private.test", "/private/", bingbot, 200)

	// The record of this one states a slower pace, which holds for either kind of page.
	c.expect(t, "private.test", "/private/", "SlowBot/1.0", 200)
	c.expect(t, "private.test", "/page", "SlowBot/1.0", 200)
	a = c.expect(t, "private.test", "/private/", "SlowBot/1.0", 429)
	if got := a.retryAfter(t, 3600); got < 3000 {
		t.Errorf("Retry-After of a disallowed page where the record asks for an hour: got %d", got)
	}
}

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
