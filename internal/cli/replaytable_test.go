package cli

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode"
)

// The table shows so many robots, and says how many more there are.
func TestReplayTableIsBounded(t *testing.T) {
	rules := write(t, t.TempDir(), "robots.txt", closedAll)
	var log strings.Builder
	for i := range 6000 {
		log.WriteString(combinedLine(fmt.Sprintf("Example%dBot/1.0", i), i))
	}
	got := replayed(t, log.String(), "--robots-txt", rules, "-")
	if !strings.Contains(got, "\nand 4,951 more; --csv and --json have them all\n") {
		t.Errorf("got %.6000s, want 50 of 5000 robots and (all others)", got)
	}
	if all := replayed(t, log.String(), "--csv", "--robots-txt", rules, "-"); strings.Count(all, "\n") != 5002 {
		t.Errorf("--csv: got %d lines, want a head, 5000 robots and all others", strings.Count(all, "\n"))
	}
}

// So do the sites, those first to which robots came most; all of a site is in JSON and CSV.
func TestReplayTellsSitesApart(t *testing.T) {
	rules := write(t, t.TempDir(), "robots.txt", closedAll)
	var log strings.Builder
	sites, n := 15, 0
	for site := range sites {
		for i := range 2 * (site + 1) {
			n++
			log.WriteString(strings.Replace(caddyLine(fmt.Sprintf("Example%dBot/1.0", i), i), `"host":"www.example.com"`, fmt.Sprintf(`"host":"S%d.example:8443"`, site), 1))
		}
	}
	got := replayed(t, log.String(), "--robots-txt", rules, "-")
	at := 0
	for i := range maxTableSites {
		requests := 2 * (sites - i)
		head := fmt.Sprintf("\ns%d.example: %d requests by robots, %d against robots.txt, %d would be refused\n", sites-1-i, requests, requests, requests)
		next := strings.Index(got, head)
		if next < at {
			t.Fatalf("got %s, want it to hold %q behind the site before", got, head)
		}
		at = next
	}
	if want := "\nand 5 more sites with 30 requests by robots; --csv and --json have them all\n"; !strings.Contains(got, want) || strings.Contains(got, "s4.example") {
		t.Errorf("got %s, want it to end with %q", got, want)
	}
	if lines := strings.Count(got, "\n"); lines > maxTableSites*(maxSiteRobots+5*maxSiteDisobeyers+6)+20 {
		t.Errorf("got %d lines for %d sites", lines, sites)
	}
	if all := replayed(t, log.String(), "--csv", "--robots-txt", rules, "-"); strings.Count(all, "\n") != n+1 || strings.Count(all, "\ns0.example,") != 2 {
		t.Errorf("--csv: got %s, want a head and %d robots, two of them of s0.example", all, n)
	}
}

// A service that comes to several sites is one, and the site is named where most of it would be refused.
func TestReplayAddsUpWhatAServiceMeets(t *testing.T) {
	rules := write(t, t.TempDir(), "robots.txt", "User-agent: UptimeRobot\nDisallow: /\n")
	var log strings.Builder
	for i := range 30 {
		log.WriteString(strings.Replace(caddyLine("UptimeRobot/2.0", i), `"host":"www.example.com"`, fmt.Sprintf(`"host":"s%d.example"`, i%7/3), 1))
	}
	got := replayed(t, log.String(), "--robots-txt", rules, "-")
	if want := "\nUptimeRobot (service): 30 requests, most on s0.example\n"; !strings.Contains(got, want) {
		t.Errorf("got %s, want %q", got, want)
	}
}

// A path is counted exactly, however many others there are.
func TestReplayCountsPathsExactly(t *testing.T) {
	rules := write(t, t.TempDir(), "robots.txt", closedAll)
	var log strings.Builder
	for i := range 3000 {
		log.WriteString(strings.Replace(combinedLine(gptBot, i), "/shop/category-", fmt.Sprintf("/once-%d/", i), 1))
		if i%9 == 0 {
			log.WriteString(strings.Replace(combinedLine(gptBot, i), "/shop/category-", "/often/?", 1))
		}
	}
	got := replayed(t, log.String(), "--json", "--robots-txt", rules, "-")
	if !strings.Contains(got, `"paths":[{"path":"/often/?","line":2,"requests":334},`) || !strings.Contains(got, `"other_paths":2981,`) {
		t.Errorf("got %.3000s, want 334 requests for /often/ and 2981 for other paths than the first twenty", got[strings.Index(got, `"paths"`):])
	}
}

func TestTablesFitTheirWidth(t *testing.T) {
	rules := write(t, t.TempDir(), "robots.txt", "User-agent: *\nDisallow: /"+strings.Repeat("shop", 40)+"\nDisallow: /\nCrawl-delay: 3600\n")
	var log strings.Builder
	for i := range 20 {
		agent := fmt.Sprintf("Mozilla/5.0 (compatible; %sBot/1.0; +https://example.com)", strings.Repeat("VeryLong", i))
		log.WriteString(combinedLine(agent, i))
		log.WriteString(strings.Replace(combinedLine("", i), "/shop", "/"+strings.Repeat("shop", 40+i), 1))
	}
	for _, width := range []int{80, 100, 200} {
		t.Setenv("COLUMNS", fmt.Sprint(width))
		got := replayed(t, log.String(), "--robots-txt", rules, "-")
		for line := range strings.Lines(got) {
			if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > width {
				t.Errorf("%d columns: one line has %d: %s", width, n, line)
			}
		}
		if !strings.Contains(got, "…") {
			t.Errorf("%d columns: nothing was cut: %s", width, got)
		}
	}
}

// A plain table is for reading later: nothing in it moves a cursor or is coloured.
func TestOutputHasNoEscapes(t *testing.T) {
	rules := write(t, t.TempDir(), "robots.txt", manyRecords())
	for _, args := range [][]string{
		{"replay", "--robots-txt", rules, "-"}, {"lint", rules}, {"check", "--robots-txt", rules, "--user-agent", "GPTBot", "/"},
		{"explain", "--robots-txt", rules, "--user-agent", "GPTBot", "/"},
	} {
		got := runCommand(strings.NewReader(logOf(combinedLine, 30)), args...)
		if i := strings.IndexFunc(got.out+got.err, func(r rune) bool { return r < ' ' && r != '\n' }); i >= 0 || got.out == "" {
			t.Errorf("%q: got a control character at %d of %q", args, i, got.out+got.err)
		}
	}
}

func TestFit(t *testing.T) {
	for _, tc := range []struct {
		text  string
		width int
		want  string
	}{
		{"", 0, ""}, {"abc", 3, "abc"}, {"abcd", 3, "ab…"}, {"ab cd", 4, "ab…"}, {"äöü", 3, "äöü"}, {"äöüß", 3, "äö…"}, {"abc", 1, "…"}, {"abc", 0, "…"},
	} {
		if got := fit(tc.text, tc.width); got != tc.want {
			t.Errorf("fit(%q, %d): got %q, want %q", tc.text, tc.width, got, tc.want)
		}
	}
}

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
