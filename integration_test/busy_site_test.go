package integration

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/internal/compliance"
)

const busyRobotsTxt = `# example.com: welcome, but leave what is private.
User-agent: *
Disallow: /private/
Disallow: /search
Allow: /private/press.html

User-agent: GPTBot
User-agent: CCBot
Disallow: /articles/
Disallow: /images/

User-agent: Bytespider
Crawl-delay: 10
Disallow: /private/
Disallow: /download/

User-agent: PetalBot
Visit-time: 0100-0500
`

// A habit is what a robot does on the busy site.
type habit struct {
	robot, class, standing, record string
	hourly                         float64 // requests, about
	from, hours                    int     // the hours of the day in which it mostly comes
	bad                            float64 // the share of them that is against the rules
	verdict                        compliance.Verdict
	line                           int
	rule                           string
	paths                          []string
	reads                          bool // robots.txt
}

var habits = []habit{
	{"Googlebot", "robot", "verified", "*", 22, 6, 14, 0, 0, 0, "", nil, true},
	{"bingbot", "robot", "verified", "*", 14, 10, 10, 0.002, compliance.Disallowed, 4, "Disallow: /search", []string{"/search?q=robots"}, true},
	{"GPTBot", "robot", "", "GPTBot", 11, 20, 6, 0.31, compliance.Disallowed, 9, "Disallow: /articles/", []string{"/articles/2026/a-week-in-the-hills", "/articles/2026/bread", "/articles/archive"}, true},
	{"Bytespider", "robot", "", "Bytespider", 21, 1, 5, 0.82, compliance.TooFast, 13, "Crawl-delay: 10", []string{"/download/guide.pdf", "/", "/articles/2026/bread"}, false},
	{"CCBot", "robot", "", "CCBot", 9, 14, 3, 0.04, compliance.Disallowed, 10, "Disallow: /images/", []string{"/images/hills.jpg"}, true},
	{"Googlebot", "robot", "impostor", "*", 3, 3, 2, 1, compliance.Impostor, 3, "Disallow: /private/", []string{"/private/login", "/private/.env"}, false},
	{"PetalBot", "robot", "", "PetalBot", 4, 4, 4, 0.4, compliance.OffHours, 18, "Visit-time: 0100-0500", []string{"/", "/about.html"}, true},
	{"ClaudeBot", "robot", "", "*", 6, 16, 8, 0, 0, 0, "", nil, true},
	{"AhrefsBot", "robot", "", "*", 8, 8, 12, 0.01, compliance.Disallowed, 4, "Disallow: /search", []string{"/search?page=2"}, true},
	{"SlyCrawler", "robot", "", "*", 2, 22, 3, 0.9, compliance.Banned, 0, "", []string{"/private/notes.html"}, false},
	{"Applebot", "robot", "", "*", 3, 12, 8, 0, 0, 0, "", nil, true},
	{"", "unstated", "", "*", 2, 0, 24, 0.12, compliance.Disallowed, 3, "Disallow: /private/", []string{"/private/"}, false},
}

// busyLedger is ten weeks of what these robots do, until now, under this version of robots.txt.
func busyLedger(now time.Time, version string) *compliance.Ledger {
	random := rand.New(rand.NewPCG(seed, 6))
	ledger := compliance.NewLedger(compliance.Options{})
	mood := make([]float64, len(habits)) // of the day: robots come in waves
	for at := now.Add(-70 * 24 * time.Hour).Truncate(24 * time.Hour); at.Before(now); at = at.Add(time.Hour) {
		for i, h := range habits {
			if at.Hour() == 0 {
				mood[i] = 0.5 + random.ExpFloat64()*0.6
			}
			busy := h.hourly * mood[i] * 0.2
			if (at.Hour()-h.from+24)%24 < h.hours {
				busy *= 10
			}
			for range int(busy*(0.5+random.Float64()) + random.Float64()) {
				e := compliance.Event{
					Time: at.Add(time.Duration(random.IntN(3600)) * time.Second), Site: "example.com",
					Robot: h.robot, Class: h.class, Standing: h.standing, Record: h.record, Verdict: compliance.Allowed,
					Address: fmt.Sprintf("203.0.113.%d", 1+random.IntN(250)), Method: "GET", Path: "/", Status: 200, Version: version,
				}
				switch {
				case !e.Time.Before(now):
					continue
				case random.Float64() < h.bad:
					e.Verdict, e.Refused, e.Line, e.Rule, e.Status = h.verdict, true, h.line, h.rule, 403
					e.Path = h.paths[random.IntN(len(h.paths))]
					if h.verdict == compliance.TooFast || h.verdict == compliance.OffHours {
						e.Status = 429
					}
				case h.reads && random.IntN(60) == 0:
					e.RobotsTxt, e.Path = true, "/robots.txt"
				}
				if h.robot == "GPTBot" {
					e.Version = "" // it has read an older text
				}
				e.Measured, e.Bytes, e.Took = true, 2_000+random.Int64N(60_000), time.Duration(1+random.IntN(120))*time.Millisecond
				ledger.Note(&e)
			}
		}
	}
	return ledger
}

// startBusy runs a Caddy that finds ten weeks of example.com in its ledger, with the report at /.
func startBusy(t *testing.T) *caddy {
	t.Helper()
	rules := filepath.Join(t.TempDir(), "robots.txt")
	write(t, rules, busyRobotsTxt)
	c := start(t, `
http://example.com:{$PORT} {
	robots {
		source file {$RULES}
	}
	respond "page"
}
http://127.0.0.1:{$PORT} {
	robots_report * {
		allow 127.0.0.1
		sites *
	}
}
`, map[string]string{"RULES": rules})
	c.expect(t, "example.com", "/", "Applebot/0.1", 200)
	var before compliance.Report
	if err := json.Unmarshal([]byte(c.adminGet(t, "/robots/robots")), &before); err != nil || len(before.Sites) != 1 {
		t.Fatalf("report: got %+v, %v, want one site", before, err)
	}
	c.end(t, syscall.SIGTERM)
	write(t, c.ledgerFile(t), string(busyLedger(time.Now(), before.Sites[0].Version).Marshal()))
	c.run(t)
	c.expect(t, "example.com", "/articles/2026/bread", gptbot, 403)
	return c
}
