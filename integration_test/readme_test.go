package integration

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func read(tb testing.TB, name string) string {
	tb.Helper()
	text, err := os.ReadFile(filepath.Join("..", name))
	if err != nil {
		tb.Fatal(err)
	}
	return string(text)
}

// startExample runs the Caddyfile.example as it is, but for its port.
func startExample(t *testing.T) *caddy {
	t.Helper()
	const port = ":8480"
	example := read(t, "Caddyfile.example")
	if n := strings.Count(example, port); n != 1 {
		t.Fatalf("Caddyfile.example: got %s %d times, want once", port, n)
	}
	return startWith(t, strings.Replace(example, port, ":{$PORT}", 1), nil)
}

// readmeRequests are the requests of the README's curl commands, in their order.
func readmeRequests(t *testing.T, readme string) []request {
	t.Helper()
	_, console, found := strings.Cut(readme, "```console\n")
	console, _, closed := strings.Cut(console, "\n```")
	if !found || !closed {
		t.Fatal("README.md has no block of console commands")
	}
	command := regexp.MustCompile(`curl (?:\\\n|[^\n])*?localhost:8480(\S+)(?:\\\n|[^\n])*?-A '([^']+)'`)
	var requests []request
	for _, m := range command.FindAllStringSubmatch(console, -1) {
		requests = append(requests, request{path: m[1], agent: m[2]})
	}
	if len(requests) != 3 {
		t.Fatalf("README.md: got %d curl commands, want 3", len(requests))
	}
	return requests
}

func TestReadmeCommandsAreAnsweredAsItSays(t *testing.T) {
	readme := read(t, "README.md")
	requests := readmeRequests(t, readme)
	c := startExample(t)

	person, refused, paced := requests[0], requests[1], requests[2]
	c.expect(t, "", person.path, person.agent, 200)

	a := c.expect(t, "", refused.path, refused.agent, 403)
	if !strings.Contains(readme, a.body) || a.body == "" {
		t.Errorf("README.md does not show the answer to GET %s for %q, which is\n%s", refused.path, refused.agent, a.body)
	}

	c.expect(t, "", paced.path, paced.agent, 200)
	a = c.expect(t, "", paced.path, paced.agent, 429)
	if shown := "200\n429 " + a.header.Get("Retry-After") + "\n"; !strings.Contains(readme, shown) {
		t.Errorf("README.md does not show the answers to two GET %s for %q, which are\n%s", paced.path, paced.agent, shown)
	}
}

func TestTheExampleShowsWhoObeyed(t *testing.T) {
	readme := read(t, "README.md")
	page := regexp.MustCompile(`http://localhost:8480(/\S*report)\b`).FindStringSubmatch(readme)
	if page == nil {
		t.Fatal("README.md does not say where the report of the example is")
	}
	c := startExample(t)
	refused := readmeRequests(t, readme)[1]
	c.expect(t, "", refused.path, refused.agent, 403)
	if a := c.expect(t, "", page[1], chrome, 200); !strings.Contains(a.body, "GPTBot") {
		t.Errorf("%s does not show the robot that was refused", page[1])
	}
}

func TestReadmeLogLineIsWhatARefusalLogs(t *testing.T) {
	readme := read(t, "README.md")
	refused := readmeRequests(t, readme)[1]
	_, block, _ := strings.Cut(readme, "```json\n")
	block, _, _ = strings.Cut(block, "\n```")
	var shown line
	if err := json.Unmarshal([]byte(block), &shown); err != nil || len(shown) < 10 {
		t.Fatalf("README.md: its log line %q has %d fields, error %v", block, len(shown), err)
	}

	c := startExample(t)
	c.expect(t, "", refused.path, refused.agent, 403)
	logged := c.log.wait(t, "the robot was refused", c.ended, message(msgRefused))
	shown["host"] = c.address()
	for name, want := range shown {
		if got := logged[name]; got != want {
			t.Errorf("log line, field %q: got %v, README.md says %v", name, got, want)
		}
	}
}

func TestCaddyfilesInTheDocumentsAdapt(t *testing.T) {
	names, err := filepath.Glob(filepath.Join("..", "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	names = append(names, filepath.Join("..", "README.md"))
	fence := regexp.MustCompile("(?ms)^```caddyfile\n(.*?)^```$")
	adapted := 0
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range fence.FindAllSubmatch(text, -1) {
			adapted++
			// What the files hold that one of them imports is told beside it.
			block := strings.Replace(string(m[1]), "import sites/*", "example.com {\n\timport tenant example\n}", 1)
			if _, out, err := adapt(t, block); err != nil || !strings.Contains(out, `"handler":"robots"`) {
				t.Errorf("%s: this block does not adapt to a site with robots: error %v\n%s%s", name, err, m[1], out)
			}
		}
	}
	if adapted < 2 {
		t.Errorf("got %d Caddyfile blocks in %v, want at least 2", adapted, names)
	}
}
