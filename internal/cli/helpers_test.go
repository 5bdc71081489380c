package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

const (
	chrome    = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36"
	gptBot    = "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)"
	ccBot     = "CCBot/2.0 (https://commoncrawl.org/faq/)"
	curl      = "curl/8.14.1"
	closedAll = "User-agent: *\nDisallow: /\n"
)

// manyRecords is a robots.txt of 500 records, as the long ones of the real web.
func manyRecords() string {
	var b strings.Builder
	for i := range 498 {
		fmt.Fprintf(&b, "User-agent: Example%dBot\nDisallow: /\n\n", i)
	}
	b.WriteString("User-agent: GPTBot\nCrawl-delay: 1\nDisallow: /private/\nDisallow: /*.pdf$\nAllow: /private/press/\n\n")
	b.WriteString("User-agent: *\nDisallow: /search\nDisallow: /cart\n")
	return b.String()
}

// userAgents returns the User-Agents of package crawler's test data, which has rows
// "class | name | User-Agent".
func userAgents(t *testing.T) (all []string) {
	t.Helper()
	names, err := filepath.Glob("../../crawler/testdata/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			line = strings.TrimSpace(line)
			if line == "" || strings.HasPrefix(line, "#") {
				continue
			}
			parts := strings.SplitN(line, "|", 3)
			if len(parts) != 3 {
				t.Fatalf("%s: malformed row %q", name, line)
			}
			agent := strings.TrimSpace(parts[2])
			if unquoted, err := strconv.Unquote(agent); err == nil {
				agent = unquoted
			}
			all = append(all, agent)
		}
	}
	return all
}

// How a command ends.
const (
	exitFine  = 0
	exitFound = 1
)
