package cli

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/caddy-robots/caddy-robots/internal/compliance"
)

// logOf writes so many lines of a log, in which loggedAgents come in turn.
func logOf(line func(agent string, i int) string, lines int) string {
	var log strings.Builder
	for i := range lines {
		log.WriteString(line(loggedAgents[i%len(loggedAgents)], i))
	}
	return log.String()
}

func gzipped(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := io.WriteString(z, text); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func zstandard(t *testing.T, text string) string {
	t.Helper()
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	return string(z.EncodeAll([]byte(text), nil))
}

// replayed returns the tables of a log.
func replayed(t *testing.T, stdin string, args ...string) string {
	t.Helper()
	got := runCommand(strings.NewReader(stdin), append([]string{"replay"}, args...)...)
	if got.status != 0 || got.err != "" {
		t.Fatalf("replay %q: got %s", args, got)
	}
	return got.out
}

func TestReplayReadsALogInAnyWrapping(t *testing.T) {
	log := logOf(combinedLine, 3000)
	folder := t.TempDir()
	t.Chdir(folder)
	write(t, folder, "robots.txt", manyRecords())
	write(t, folder, "plain.log", log)
	write(t, folder, "log.gz", gzipped(t, log))
	write(t, folder, "log.zst", zstandard(t, log))
	third := strings.Index(log[len(log)/3:], "\n") + len(log)/3 + 1
	write(t, folder, "1.log", log[:third])
	write(t, folder, "2.log.gz", gzipped(t, log[third:]))

	want := replayed(t, "", "plain.log")
	if !strings.Contains(want, "3,000 requests") {
		t.Fatalf("got %s", want)
	}
	for _, names := range [][]string{{"log.gz"}, {"log.zst"}, {"1.log", "2.log.gz"}, {"2.log.gz", "1.log"}, {"plain.log", "plain.log"}} {
		if got := replayed(t, "", names...); got != want {
			t.Errorf("%q: got\n%s\nwant\n%s", names, got, want)
		}
	}
	for _, stdin := range []string{log, gzipped(t, log), zstandard(t, log)} {
		if got := replayed(t, stdin, "-"); got != want {
			t.Errorf("standard input that begins with %q: got\n%s\nwant\n%s", stdin[:4], got, want)
		}
	}
}

func TestReplayReadsWhatThereIsOfACutFile(t *testing.T) {
	whole := gzipped(t, logOf(combinedLine, 3000))
	name := write(t, t.TempDir(), "log.gz", whole[:len(whole)/2])
	rules := write(t, t.TempDir(), "robots.txt", manyRecords())
	got := runCommand(nil, "replay", "--robots-txt", rules, name)
	if got.status != 0 || !strings.Contains(got.err, "not all could be read: "+name) || !strings.Contains(got.err, "ends too early") {
		t.Errorf("got status %d and %q, want 0 and that %s ends too early", got.status, got.err, name)
	}
	if strings.HasPrefix(got.out, "0 requests") || strings.HasPrefix(got.out, "3,000 requests") {
		t.Errorf("got %.100s, want some of the 3,000 requests", got.out)
	}
}

// The counts of --json are those of the table, and add up.
func TestReplayJSON(t *testing.T) {
	rules := write(t, t.TempDir(), "robots.txt", "User-agent: GPTBot\nDisallow: /shop/category-1/\nUser-agent: curl\nDisallow: /\n")
	log := logOf(caddyLine, 6000) + `{"level":"info","logger":"http.log.error","msg":"another"}` + "\n" + "garbage\n"
	got := runCommand(strings.NewReader(log), "replay", "--json", "--robots-txt", rules, "-")
	if got.status != 0 {
		t.Fatalf("got %s", got)
	}
	var report struct {
		replayCounts
		RobotsTxt string `json:"robots_txt"`
		compliance.Report
	}
	decoder := json.NewDecoder(strings.NewReader(got.out))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&report); err != nil {
		t.Fatal(err)
	}
	c := report.replayCounts
	c.First, c.Last = c.First.UTC(), c.Last.UTC()
	if c.First.IsZero() || !c.First.Before(c.Last) {
		t.Errorf("first and last: got %s and %s", c.First, c.Last)
	}
	refusedRobots := c.RefusedRobots
	c.First, c.Last, c.RefusedRobots = report.replayCounts.First, report.replayCounts.Last, 0
	want := replayCounts{Requests: 6000, Browsers: 3000, Apps: 1000, Robots: 2000, RefusedApps: 1000, Unreadable: 1, Skipped: 1, First: c.First, Last: c.Last}
	if c.SavedBytes <= 0 || c.SavedBytes >= c.RobotBytes || c.SavedSeconds <= 0 || c.SavedSeconds >= c.RobotSeconds {
		t.Errorf("costs: got %+v, want that something is saved, and not all", c)
	}
	want.RobotBytes, want.RobotSeconds, want.SavedBytes, want.SavedSeconds = c.RobotBytes, c.RobotSeconds, c.SavedBytes, c.SavedSeconds
	if c != want {
		t.Errorf("counts: got %+v, want %+v", c, want)
	}
	if len(report.Sites) != 1 || report.Sites[0].Site != "www.example.com" || !strings.HasPrefix(report.RobotsTxt, "User-agent: GPTBot") {
		t.Fatalf("got sites %+v and the text %q, want www.example.com and the text of robots.txt", report.Sites, report.RobotsTxt)
	}
	requests := map[string]uint64{}
	refused := int64(0)
	for _, robot := range report.Sites[0].Robots {
		requests[robot.Robot] = robot.Requests
		refused += int64(robot.Observed)
	}
	if want := map[string]uint64{"GPTBot": 1000, "CCBot": 1000, "curl": 1000}; fmt.Sprint(requests) != fmt.Sprint(want) {
		t.Errorf("requests: got %v, want %v", requests, want)
	}
	if refusedRobots == 0 || refused != refusedRobots+1000 {
		t.Errorf("would be refused: got %d in all and %d of robots, want 1000 more in all", refused, refusedRobots)
	}
	var keys map[string]json.RawMessage
	if err := json.Unmarshal([]byte(got.out), &keys); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"requests", "browsers", "services", "apps", "robots", "unstated", "robots_txt", "user_agent_not_in_log", "refused_robots", "refused_unstated", "refused_services", "refused_apps",
		"refused_browsers", "robot_bytes", "robot_seconds", "would_save_bytes", "would_save_seconds", "first", "last", "unreadable_lines", "other_lines", "time", "since", "advice", "total", "operators", "purposes", "sites"} {
		if _, found := keys[key]; !found {
			t.Errorf("the key %q is missing", key)
		}
		delete(keys, key)
	}
	for key := range keys {
		t.Errorf("the key %q is new", key)
	}
}

func TestReplayWritesAPage(t *testing.T) {
	folder := t.TempDir()
	rules := write(t, folder, "robots.txt", "User-agent: GPTBot\nDisallow: /\n")
	name := filepath.Join(folder, "report.html")
	want := replayed(t, logOf(combinedLine, 60), "--robots-txt", rules, "-")
	if got := replayed(t, logOf(combinedLine, 60), "--robots-txt", rules, "--html", name, "-"); got != want {
		t.Errorf("with a page the table is another one: got\n%s\nwant\n%s", got, want)
	}
	page, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"<!doctype html>", "GPTBot", "Disallow: /", "replay of -"} {
		if !bytes.Contains(page, []byte(text)) {
			t.Errorf("the page does not hold %q", text)
		}
	}
}

func TestReplayMasksAddressesUnlessToldNotTo(t *testing.T) {
	rules := write(t, t.TempDir(), "robots.txt", closedAll)
	log := combinedLine(gptBot, 77) // from 203.0.113.77
	if got := replayed(t, log, "--json", "--robots-txt", rules, "-"); strings.Contains(got, "203.0.113.77") || !strings.Contains(got, "203.0.113.0/24") {
		t.Errorf("got %s, want the network alone", got)
	}
	if got := replayed(t, log, "--json", "--whole-addresses", "--robots-txt", rules, "-"); !strings.Contains(got, "203.0.113.77") {
		t.Errorf("with --whole-addresses: got %s, want the whole address", got)
	}
}
