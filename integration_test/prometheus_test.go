package integration

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

const (
	dashboardFile  = "../docs/monitoring/grafana.json"
	alertsFile     = "../docs/monitoring/alerts.yml"
	alertTestsFile = "../docs/monitoring/alerts_test.yml"
)

// watchedCaddyfile is one whose sites have something to show in every panel of the dashboard.
// Addresses of this machine are Googlebot's and not bingbot's, a file is missing, and nobody is
// at the Redis.
var watchedCaddyfile = withGlobal(prelude, "\trobots {\n\t\tshare redis://:secret@127.0.0.1:1\n\t}\n") + `
http://shop.example:{$PORT} {
	robots {
		source text <<ROBOTS
			User-agent: GPTBot
			Disallow: /private/
			Crawl-delay: 3600

			User-agent: RogueBot
			Disallow: /

			nonsense
			ROBOTS
		verify Googlebot ranges 127.0.0.0/8
		verify bingbot ranges 192.0.2.0/24
		ban 3 in 1m for 1h
		refresh 1s
	}
	respond "page"
}
http://*.wild.example:{$PORT} {
	robots {
		source file {$MISSING}
		refresh 1s
	}
	respond "page"
}
`

// prometheus is a running Prometheus that scrapes one Caddy every second.
type prometheus struct{ base string }

// startPrometheus runs Prometheus with our alerts until the test ends. The alerts are told at
// once, not after the time for which they hold. Changed has texts of the alerts, and what stands in
// their place.
func startPrometheus(t *testing.T, c *caddy, changed ...string) *prometheus {
	t.Helper()
	need(t, "prometheus")
	folder := t.TempDir()
	alerts, err := os.ReadFile(alertsFile)
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(folder, "alerts.yml"), regexp.MustCompile(`(?m)^( +for:) .*$`).ReplaceAllString(strings.NewReplacer(changed...).Replace(string(alerts)), "$1 0s"))
	write(t, filepath.Join(folder, "prometheus.yml"), fmt.Sprintf(`
global:
  scrape_interval: 1s
  evaluation_interval: 1s
rule_files: [alerts.yml]
scrape_configs:
  - job_name: caddy
    static_configs:
      - targets: [%q]
`, c.env["ADMIN"]))
	address := "127.0.0.1:" + freePort(t)
	log := newLogbook()
	run := exec.Command("prometheus", "--config.file="+filepath.Join(folder, "prometheus.yml"),
		"--storage.tsdb.path="+filepath.Join(folder, "data"), "--web.listen-address="+address)
	run.Stdout, run.Stderr = log, log
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = run.Process.Kill()
		_ = run.Wait() // it was killed
		if t.Failed() {
			t.Logf("log of prometheus:\n%s", tail(log.String(), 5_000))
		}
	})
	p := &prometheus{base: "http://" + address}
	eventually(t, "prometheus is ready", func() bool {
		a, err := request{path: "/-/ready"}.try(client, p.base)
		return err == nil && a.status == http.StatusOK
	})
	return p
}

// get asks the API for a path and reads the data of its answer.
func (p *prometheus) get(t *testing.T, path string, data any) {
	t.Helper()
	resp, err := client.Get(p.base + "/api/v1/" + path)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	answer := struct {
		Status, Error string
		Data          any
	}{Data: data}
	if err := json.Unmarshal(body, &answer); err != nil || answer.Status != "success" {
		t.Errorf("%s: got %s, %v", path, body, err)
	}
}

// sample is one sample that a query returned.
type sample struct {
	Metric map[string]string
	Value  [2]any
}

// number is the sample's value.
func (s sample) number(t *testing.T) float64 {
	t.Helper()
	text, _ := s.Value[1].(string)
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatalf("%v: %v", s, err)
	}
	return n
}

// query returns what an expression gives now.
func (p *prometheus) query(t *testing.T, expression string) []sample {
	t.Helper()
	var data struct{ Result []sample }
	p.get(t, "query?query="+url.QueryEscape(expression), &data)
	return data.Result
}

// firing returns the names of the alerts that fire.
func (p *prometheus) firing(t *testing.T) map[string]bool {
	t.Helper()
	var data struct {
		Alerts []struct {
			State  string
			Labels map[string]string
		}
	}
	p.get(t, "alerts", &data)
	names := make(map[string]bool)
	for _, alert := range data.Alerts {
		if alert.State == "firing" {
			names[alert.Labels["alertname"]] = true
		}
	}
	return names
}

// dashboardQueries returns the expressions of the dashboard by panel, as Grafana sends them.
func dashboardQueries(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile(dashboardFile)
	if err != nil {
		t.Fatal(err)
	}
	var dashboard struct {
		Panels []struct {
			Title   string
			Type    string
			Targets []struct{ RefID, Expr string }
		}
	}
	if err := json.Unmarshal(text, &dashboard); err != nil {
		t.Fatal(err)
	}
	fill := strings.NewReplacer("$instance", ".*", "$site", ".*", "$__rate_interval", "1m", "$__range", "1h")
	queries := make(map[string]string)
	for _, panel := range dashboard.Panels {
		for _, target := range panel.Targets {
			queries[fmt.Sprintf("%s (%s) %s", panel.Title, panel.Type, target.RefID)] = fill.Replace(target.Expr)
		}
	}
	if len(queries) < 20 {
		t.Fatalf("got %d expressions in %s, want 20 or more", len(queries), dashboardFile)
	}
	return queries
}

func TestPrometheusShowsWhatRobotsDo(t *testing.T) {
	c := startWith(t, watchedCaddyfile, map[string]string{"MISSING": filepath.Join(t.TempDir(), "missing.txt")})
	p := startPrometheus(t, c)

	const googlebot = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"
	visit := func() {
		c.expect(t, "shop.example", "/private/a", "RogueBot/1.0", 403)
		c.ask(t, request{host: "shop.example", path: "/", agent: gptbot})
		for _, agent := range []string{googlebot, bingbot, "MadeUpBot/1.0", chrome} {
			c.expect(t, "shop.example", "/", agent, 200)
		}
		for _, agent := range []string{gptbot, "MadeUpBot/2.0"} {
			c.expect(t, "shop.example", "/robots.txt", agent, 200)
		}
		c.expect(t, "any.wild.example", "/", "MadeUpBot/1.0", 200)
	}

	t.Run("every expression of the dashboard has data", func(t *testing.T) {
		queries := dashboardQueries(t)
		eventually(t, "every panel shows something", func() bool {
			visit()
			for panel, expression := range queries {
				if len(p.query(t, expression)) > 0 {
					delete(queries, panel)
				}
			}
			if t.Failed() {
				t.FailNow()
			}
			return len(queries) == 0
		})
	})

	t.Run("the numbers are those that were sent", func(t *testing.T) {
		before := p.count(t, c, `caddy_robots_requests_total{site="shop.example",robot="Googlebot",verdict="allowed"}`)
		for range 7 {
			c.expect(t, "shop.example", "/", googlebot, 200)
		}
		after := p.count(t, c, `caddy_robots_requests_total{site="shop.example",robot="Googlebot",verdict="allowed"}`)
		if after-before != 7 {
			t.Errorf("got %v more, want 7", after-before)
		}
	})

	t.Run("labels come from closed sets", func(t *testing.T) {
		c.expect(t, "shop.example", "/", "EvilBot-4711/1.0", 200)
		for _, host := range []string{"a.wild.example", "b.wild.example"} {
			c.expect(t, host, "/", "EvilBot-4712/1.0", 200)
		}
		text := c.adminGet(t, "/metrics")
		for _, foreign := range []string{"EvilBot", "a.wild", "secret"} {
			if strings.Contains(text, foreign) {
				t.Errorf("the metrics hold %q", foreign)
			}
		}
		if want := `caddy_robots_requests_total{outcome="passed",robot="other",site="*.wild.example",verdict="allowed"}`; !strings.Contains(text, want) {
			t.Errorf("the metrics lack %s", want)
		}
	})

	t.Run("alerts fire", func(t *testing.T) {
		for _, name := range []string{"RobotsShareDown", "RobotsPolicyNeverLoaded"} {
			eventually(t, name+" fires", func() bool { return p.firing(t)[name] })
		}
		if p.firing(t)["RobotsPolicyStale"] {
			t.Error("RobotsPolicyStale fires, and nothing is stale")
		}
	})

	t.Run("no rule has an error", func(t *testing.T) {
		var data struct {
			Groups []struct {
				Rules []struct{ Name, Health, LastError string }
			}
		}
		p.get(t, "rules", &data)
		rules := 0
		for _, group := range data.Groups {
			for _, rule := range group.Rules {
				rules++
				if rule.Health != "ok" {
					t.Errorf("%s: got health %s, want ok: %s", rule.Name, rule.Health, rule.LastError)
				}
			}
		}
		if rules < 6 {
			t.Errorf("got %d rules, want 6 or more", rules)
		}
	})

	t.Run("counters survive a reload", func(t *testing.T) {
		const counted = `sum(caddy_robots_requests_total)`
		before := p.count(t, c, counted)
		if status, body, err := c.loadWhole(watchedCaddyfile + "\n# another text, another config\nhttp://new.example:{$PORT} {\n\trespond \"new\"\n}\n"); err != nil || status != http.StatusOK {
			t.Fatalf("loading the config: %d %s, %v", status, body, err)
		}
		c.expect(t, "shop.example", "/", googlebot, 200)
		if after := p.count(t, c, counted); after != before+1 {
			t.Errorf("got %v requests, want %v", after, before+1)
		}
		if resets := p.query(t, `sum(resets(caddy_robots_requests_total[1h]))`); len(resets) != 1 || resets[0].number(t) != 0 {
			t.Errorf("resets: got %v, want 0", resets)
		}
	})
}

// count returns the number that an expression gives once all that has happened until now is
// scraped.
func (p *prometheus) count(t *testing.T, c *caddy, expression string) float64 {
	t.Helper()
	now := float64(time.Now().UnixMilli()) / 1e3
	eventually(t, "the next scrape", func() bool {
		scraped := p.query(t, `timestamp(up{job="caddy"})`)
		return len(scraped) == 1 && scraped[0].number(t) > now
	})
	samples := p.query(t, expression)
	if len(samples) != 1 {
		t.Fatalf("%s: got %d samples, want 1", expression, len(samples))
	}
	return samples[0].number(t)
}

func TestPromtoolAcceptsWhatWeGiveIt(t *testing.T) {
	need(t, "promtool")
	c := startWith(t, watchedCaddyfile, map[string]string{"MISSING": filepath.Join(t.TempDir(), "missing.txt")})
	c.expect(t, "shop.example", "/", gptbot, 200)
	c.expect(t, "shop.example", "/robots.txt", gptbot, 200)
	c.expect(t, "shop.example", "/", bingbot, 200)
	var ours strings.Builder
	for line := range strings.Lines(c.adminGet(t, "/metrics")) {
		if strings.Contains(line, "caddy_robots_") {
			ours.WriteString(line)
		}
	}
	if got := strings.Count(ours.String(), "# HELP"); got < 10 {
		t.Errorf("got %d metrics, want 10 or more:\n%s", got, ours.String())
	}
	for _, args := range [][]string{
		{"check", "metrics"}, {"check", "rules", "--lint-fatal", alertsFile}, {"test", "rules", alertTestsFile},
	} {
		run := exec.Command("promtool", args...)
		run.Stdin = strings.NewReader(ours.String())
		if out, err := run.CombinedOutput(); err != nil {
			t.Errorf("promtool %q: %v\n%s", args, err, out)
		}
	}
}

// Each alert has a test in which it fires.
func TestEachAlertIsTested(t *testing.T) {
	alerts, tests := read(t, "docs/monitoring/alerts.yml"), read(t, "docs/monitoring/alerts_test.yml")
	names := regexp.MustCompile(`(?m)^ *- alert: (\w+)$`).FindAllStringSubmatch(alerts, -1)
	if len(names) < 9 {
		t.Errorf("got %d alerts, want 9 or more", len(names))
	}
	for _, name := range names {
		if !regexp.MustCompile(`alertname: ` + name[1] + `\n +exp_alerts:\n +- exp_labels`).MatchString(tests) {
			t.Errorf("%s fires in no test of docs/monitoring/alerts_test.yml", name[1])
		}
	}
}

// Where there are a thousand sites, no panel draws a thousand lines.
func TestNoPanelDrawsALineForEachSite(t *testing.T) {
	bySite := regexp.MustCompile(`by \([^)]*\bsite\b`)
	bounded := 0
	for panel, expression := range dashboardQueries(t) {
		if !bySite.MatchString(expression) {
			continue
		}
		bounded++
		if !strings.HasPrefix(expression, "topk(") {
			t.Errorf("%s: %s has a line for each site; put it into topk", panel, expression)
		}
	}
	if bounded < 4 {
		t.Errorf("got %d panels by site, want 4 or more", bounded)
	}
}

// Whoever writes an alert or a panel finds each metric in docs/metrics.md, and no other.
func TestTheReferenceNamesEveryMetric(t *testing.T) {
	reference, err := os.ReadFile("../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	c := startWith(t, watchedCaddyfile, map[string]string{"MISSING": filepath.Join(t.TempDir(), "missing.txt")})
	c.expect(t, "shop.example", "/", gptbot, 200)
	c.expect(t, "shop.example", "/robots.txt", gptbot, 200)
	names := make(map[string]bool)
	for _, match := range regexp.MustCompile(`(?m)^# HELP (caddy_robots_\w+) `).FindAllStringSubmatch(c.adminGet(t, "/metrics"), -1) {
		names[match[1]] = true
		if !strings.Contains(string(reference), "`"+match[1]+"`") {
			t.Errorf("docs/metrics.md lacks %s", match[1])
		}
	}
	if len(names) < 10 {
		t.Errorf("got %d metrics, want 10 or more", len(names))
	}
	const stored = "caddy_robots_ledger_stored_timestamp_seconds" // comes half a minute later
	for _, name := range regexp.MustCompile("`(caddy_robots_\\w+)`").FindAllStringSubmatch(string(reference), -1) {
		if !names[name[1]] && name[1] != stored {
			t.Errorf("docs/metrics.md has %s, which there is not", name[1])
		}
	}
}
