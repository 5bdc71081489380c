package integration

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/crawler"
	"github.com/caddy-robots/caddy-robots/robotsrules"
)

// replayReport is what of the output of replay --json these tests look at.
type replayReport struct {
	Requests        int `json:"requests"`
	RefusedBrowsers int `json:"refused_browsers"`
	Sites           []struct {
		Robots []struct {
			Robot    string `json:"robot"`
			Class    string `json:"class"`
			Verdicts map[string]struct {
				Requests int `json:"requests"`
			} `json:"verdicts"`
			Fetches int `json:"robots_txt_fetches"`
		} `json:"robots"`
	} `json:"sites"`
}

// seen is how a robot's requests ended: served, refused for good, to come back, and for
// robots.txt.
type seen struct{ served, disallowed, later, robotsTxt int }

func replayJSON(t *testing.T, args ...string) replayReport {
	t.Helper()
	got := runCommand(t, t.TempDir(), nil, append([]string{"replay", "--json"}, args...)...)
	var report replayReport
	if err := json.Unmarshal([]byte(got.out), &report); err != nil || got.status != 0 || got.err != "" {
		t.Fatalf("replay %q: got status %d, %v, %q", args, got.status, err, got.err)
	}
	return report
}

// seen is what a report says of each robot, by class and name.
func (r replayReport) seen() map[string]seen {
	all := make(map[string]seen)
	for _, site := range r.Sites {
		for _, robot := range site.Robots {
			v := robot.Verdicts
			all[robot.Class+" "+robot.Robot] = seen{
				v["allowed"].Requests, v["disallowed"].Requests, v["too_fast"].Requests + v["off_hours"].Requests, robot.Fetches,
			}
		}
	}
	return all
}

// patientRobotsTxt has paces of an hour, and hours that are six hours away, so that what is too
// fast is the same by the clock of a client, of Caddy and of its log.
func patientRobotsTxt(now time.Time) string {
	hhmm := func(in time.Duration) string { return now.UTC().Add(in).Format("1504") }
	return fmt.Sprintf(`User-agent: *
Disallow: /private/
Disallow: /*.pdf$

User-agent: GPTBot
Disallow: /

User-agent: CCBot
User-agent: bingbot
User-agent: Applebot
Crawl-delay: 3600
Disallow: /private/

User-agent: Amazonbot
Request-rate: 3/3h
Disallow: /private/

User-agent: ClaudeBot
Visit-time: %s-%s

User-agent: Googlebot
Visit-time: %s-%s
Disallow: /b

User-agent: curl
User-agent: Wget
Disallow: /private/
Crawl-delay: 3600
`, hhmm(6*time.Hour), hhmm(8*time.Hour), hhmm(-6*time.Hour), hhmm(6*time.Hour))
}

// Requests of clients at several addresses go through a running Caddy with its access log on.
// Replayed, the log says of each robot what its clients saw.
func TestReplaySaysWhatTheClientsSaw(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	rules, log := filepath.Join(folder, "robots.txt"), filepath.Join(folder, "access.log")
	robotsTxt := patientRobotsTxt(time.Now())
	write(t, rules, robotsTxt)
	policy := robotsrules.Compile(robotsrules.Parse([]byte(robotsTxt), robotsrules.Options{}), robotsrules.MatchSubstring)
	c := startWith(t, proxied+`
http://:{$PORT} {
	log {
		output file {$LOG}
	}
	robots {
		source file {$RULES}
	}
	respond "page"
}
`, map[string]string{"LOG": log, "RULES": rules})
	c.log.wait(t, "the rules are loaded", c.ended, message(msgLoaded)) // curl would not wait for them

	random := rand.New(rand.NewPCG(seed, 7))
	agents := headers(t)
	named := slices.DeleteFunc(slices.Clone(agents), func(agent string) bool {
		return !slices.Contains([]string{"GPTBot", "CCBot", "bingbot", "Applebot", "Amazonbot", "ClaudeBot", "Googlebot", "curl", "Wget"}, crawler.Identify(agent).Name)
	})
	if len(named) < 9 {
		t.Fatalf("User-Agents that the rules name: got %q, want at least 9", named)
	}
	crowds := [][]string{named, agents, named, agents, named, ofClass(agents, crawler.Unstated)}
	addresses := []string{personal, realAddress, realAddress6}
	want := make(map[string]seen)
	for i := range visits {
		crowd := crowds[i%len(crowds)]
		agent := crowd[random.IntN(len(crowd))]
		target := randomTarget(random)
		if random.IntN(20) == 0 {
			target = "/robots.txt"
		}
		status := c.ask(t, request{path: target, agent: agent}.from(addresses[random.IntN(len(addresses))])).status
		who := crawler.Identify(agent)
		if who.Class == crawler.Browser && status != 200 {
			t.Errorf("GET %s for the browser %q: got %d, want 200", target, agent, status)
		}
		key := who.Class.String() + " " + who.Name
		if who.Class != crawler.Robot && judge(policy, agent, target).record == "" {
			continue // whom nothing binds: they stand in no table
		}
		s := want[key]
		switch {
		case target == "/robots.txt":
			s.robotsTxt++
		case status == 200:
			s.served++
		case status == 403:
			s.disallowed++
		case status == 429:
			s.later++
		default:
			t.Errorf("GET %s for %q: got %d", target, agent, status)
		}
		want[key] = s
	}
	eventually(t, "the log is whole", func() bool {
		text, err := os.ReadFile(log)
		return err == nil && bytes.Count(text, []byte("\n")) == visits
	})
	report := replayJSON(t, "--robots-txt", rules, log)
	if report.Requests != visits || report.RefusedBrowsers != 0 {
		t.Errorf("got %d requests and %d refused browsers, want %d and 0", report.Requests, report.RefusedBrowsers, visits)
	}
	got := report.seen()
	for _, key := range slices.Sorted(maps.Keys(want)) {
		if got[key] != want[key] {
			t.Errorf("%s: replay says %+v, its clients saw %+v", key, got[key], want[key])
		}
		delete(got, key)
	}
	for key, s := range got {
		t.Errorf("%s: replay says %+v, and nobody saw it", key, s)
	}

	// What the numbers above are worth.
	for key, enough := range map[string]func(seen) bool{
		"robot GPTBot":    func(s seen) bool { return s.disallowed > 20 },
		"robot CCBot":     func(s seen) bool { return s.later > 5 && s.served == 1 && s.disallowed > 0 },
		"robot Amazonbot": func(s seen) bool { return s.later > 5 && s.served > 0 },
		"robot ClaudeBot": func(s seen) bool { return s.later > 20 && s.served == 0 },
		"robot Googlebot": func(s seen) bool { return s.served > 20 && s.disallowed > 0 },
		"app curl":        func(s seen) bool { return s.disallowed > 0 && s.later > 5 },
		"unstated ":       func(s seen) bool { return s.served > 0 },
	} {
		if !enough(want[key]) {
			t.Errorf("%s: the clients saw %+v, which shows little", key, want[key])
		}
	}
}
