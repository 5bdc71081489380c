package integration

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/crawler"
)

// ranCommand is a caddy robots that has ended.
type ranCommand struct {
	out, err string
	status   int
	peak     int64 // the most memory it had, in bytes
	took     time.Duration
}

// runCommand runs caddy robots in a folder.
func runCommand(tb testing.TB, folder string, stdin io.Reader, args ...string) ranCommand {
	tb.Helper()
	run := exec.Command(caddyBinary(tb), append([]string{"robots"}, args...)...)
	run.Dir = folder
	run.Env = []string{"HOME=" + folder, "TZ=UTC"}
	run.Stdin = stdin
	var out, errs bytes.Buffer
	run.Stdout, run.Stderr = &out, &errs
	began := time.Now()
	if err := run.Start(); err != nil {
		tb.Fatal(err)
	}
	peak := peakMemory(run.Process.Pid, func() *os.ProcessState {
		_ = run.Wait() // what it returned is in the state
		return run.ProcessState
	})
	return ranCommand{out.String(), errs.String(), run.ProcessState.ExitCode(), peak, time.Since(began)}
}

// case is a line of a file of cases.
type commandCase struct {
	RobotsTxtFile string `json:"robots_txt_file,omitempty"`
	RobotsTxt     string `json:"robots_txt,omitempty"`
	UserAgent     string `json:"user_agent"`
	URL           string `json:"url"`
	Expect        string `json:"expect"`
}

func writeCases(tb testing.TB, name string, cases []commandCase) {
	tb.Helper()
	var lines bytes.Buffer
	encoder := json.NewEncoder(&lines)
	for _, c := range cases {
		if err := encoder.Encode(c); err != nil {
			tb.Fatal(err)
		}
	}
	write(tb, name, lines.String())
}

// headers are the User-Agents that are known which the commands take for headers, as they are
// sent: those in one word are robots' names to them. Half of them are robots'.
func headers(t *testing.T) []string {
	var robots, others []string
	for _, agent := range knownAgents(t) {
		switch {
		case agent != strings.TrimSpace(agent) || agent != "" && !strings.ContainsAny(agent, " \t/"):
		case crawler.Identify(agent).Class == crawler.Robot:
			robots = append(robots, agent)
		default:
			others = append(others, agent)
		}
	}
	return append(slices.Repeat(robots, 1+len(others)/len(robots)), others...)
}

// randomTarget returns a path in which the segments of randomRobotsTxt occur, often in an odd
// spelling.
func randomTarget(random *rand.Rand) string {
	segments := []string{"a", "b", "private", "x.pdf", "%70rivate", "..", ".", "", "b%2Fc", "%2e%2e", "a*", "%24", "caf%c3%a9", "caf%C3%A9"}
	var target strings.Builder
	for range 1 + random.IntN(4) {
		target.WriteString("/" + segments[random.IntN(len(segments))])
	}
	switch random.IntN(5) {
	case 0:
		target.WriteString("?q=1&x=/private/")
	case 1:
		target.WriteString("/")
	}
	return target.String()
}

// randomRobotsTxt returns a file of some records for robots that come, with rules of all kinds.
func randomRobotsTxt(random *rand.Rand, agents []string) string {
	patterns := []string{"/", "/a", "/a/", "/b$", "/*.pdf", "/*.pdf$", "/private/", "/*/private", "/caf%C3%A9", "*b", "/a/../b", "/b%2Fc", "/?q=", "", "/*q=1", "/$", "//"}
	var text strings.Builder
	for range 2 + random.IntN(4) {
		for range 1 + random.IntN(2) {
			token := "*"
			if who := crawler.Identify(agents[random.IntN(len(agents))]); random.IntN(2) > 0 && who.Name != "" {
				token = who.Name
			}
			fmt.Fprintf(&text, "User-agent: %s\n", token)
		}
		if random.IntN(8) == 0 {
			text.WriteString("Robot-version: 2.0.0\n")
		}
		for range 1 + random.IntN(6) {
			field := [...]string{"Allow", "Disallow", "Disallow", "Disallow", "Crawl-delay: 5\nDisallow", "\nDisallow"}[random.IntN(6)]
			fmt.Fprintf(&text, "%s: %s\n", field, patterns[random.IntN(len(patterns))])
		}
		text.WriteString("\n")
	}
	return text.String()
}

// The same files, User-Agents and paths go through a running Caddy and through caddy robots
// test: what is answered 403 is disallowed, and nothing else.
func TestTheCommandsAgreeWithARunningCaddy(t *testing.T) {
	t.Parallel()
	const batches = 40
	agents := headers(t)
	folder := t.TempDir()
	for i, dialect := range []string{"rfc9309", "draft1996", "norobots1994"} {
		t.Run(dialect, func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, uint64(i)))
			var sites strings.Builder
			for batch := range batches {
				name := filepath.Join(folder, fmt.Sprintf("%s-%d.txt", dialect, batch))
				write(t, name, randomRobotsTxt(random, agents))
				fmt.Fprintf(&sites, "http://site%d.test:{$PORT} {\n\trobots {\n\t\tsource file %s\n\t\tdialect %s\n\t\ttoo_fast observe\n\t}\n\trespond \"page\"\n}\n", batch, name, dialect)
			}
			c := start(t, sites.String(), nil)
			var cases []commandCase
			verdicts := make(map[int]int)
			for i := range visits {
				batch := i * batches / visits
				one := commandCase{UserAgent: agents[random.IntN(len(agents))], URL: randomTarget(random)}
				if i%(visits/batches) == 0 {
					one.RobotsTxtFile = fmt.Sprintf("%s-%d.txt", dialect, batch)
				}
				status := c.ask(t, request{host: fmt.Sprintf("site%d.test", batch), path: one.URL, agent: one.UserAgent}).status
				verdicts[status]++
				one.Expect = map[int]string{200: "allowed", 403: "disallowed"}[status]
				cases = append(cases, one)
			}
			for _, status := range []int{200, 403} {
				if verdicts[status] < visits/40 {
					t.Errorf("answers with status %d: got %d of %d, want at least %d", status, verdicts[status], visits, visits/40)
				}
			}
			name := filepath.Join(folder, dialect+".jsonl")
			writeCases(t, name, cases)
			got := runCommand(t, t.TempDir(), nil, "test", "--dialect", dialect, name)
			if want := fmt.Sprintf("%d passed, 0 failed\n", visits); got.out != want || got.status != 0 {
				t.Errorf("got status %d and\n%s%s", got.status, tail(got.out, 5000), got.err)
			}
		})
	}
}

// A process ends as the documents say: what a shell sees is not what a test in the process does.
func TestCommandsEndWithTheirStatus(t *testing.T) {
	folder := t.TempDir()
	write(t, filepath.Join(folder, "robots.txt"), "User-agent: *\nDisallow: /private/\n")
	for command, want := range map[string]int{
		"check --user-agent Bot /":         0,
		"check --user-agent Bot /private/": 1,
		"check --user-agent Bot":           2,
		"check --nonsense":                 2,
		"nonsense":                         2,
		"explain --user-agent Bot /a":      0,
		"lint":                             0,
		"lint nowhere.txt":                 2,
		"test nowhere.jsonl":               2,
		"replay --json --csv robots.txt":   2,
	} {
		got := runCommand(t, folder, nil, strings.Fields(command)...)
		if told := got.err != ""; got.status != want || told != (want == 2) {
			t.Errorf("%s: got status %d and %q, want %d, and a reason for 2 alone", command, got.status, got.err, want)
		}
	}
}

func TestShellsCompleteTheCommands(t *testing.T) {
	script, err := exec.Command(caddyBinary(t), "completion", "bash").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{"check", "test", "lint", "explain", "replay"} {
		if !bytes.Contains(script, []byte("_caddy_robots_"+command+"()")) {
			t.Errorf("caddy completion bash does not know caddy robots %s", command)
		}
	}
}

// How long 10,000 cases take, each with a robots.txt of its own, stands in the log of the test.
func TestTenThousandCases(t *testing.T) {
	random := rand.New(rand.NewPCG(seed, 10_000))
	agents := headers(t)
	var cases []commandCase
	for range 10_000 {
		cases = append(cases, commandCase{
			RobotsTxt: randomRobotsTxt(random, agents), UserAgent: agents[random.IntN(len(agents))], URL: randomTarget(random), Expect: "allowed",
		})
	}
	name := filepath.Join(t.TempDir(), "cases.jsonl")
	writeCases(t, name, cases)
	got := runCommand(t, t.TempDir(), nil, "test", "--json", name)
	if lines := strings.Count(got.out, "\n"); lines != len(cases) || got.status != 1 || got.err != "" {
		t.Errorf("got %d decisions, status %d, %q; want %d, 1 and no error", lines, got.status, got.err, len(cases))
	}
	t.Logf("10,000 cases took %s", got.took.Round(time.Millisecond))
}
