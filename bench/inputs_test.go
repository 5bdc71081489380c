// Package bench measures this module side by side with what an owner could use instead. It
// has a Go module of its own, so that nobody who builds Caddy has these libraries in it.
// How to run it is in README.md.
package bench

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
)

// The robots of the benchmarks: one that is refused, one with a record of its own, and one
// that always comes too fast.
const (
	refused = "GPTBot"
	allowed = "ExampleSearchBot"
	hasty   = "HastyBot"
)

const refusedAgent = "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)"

// robots returns the names of n robots, the well-known first and then made-up ones. The one
// that is refused is in the middle.
func robots(tb testing.TB, n int) []string {
	tb.Helper()
	text, err := os.ReadFile("../crawler/catalogue.txt")
	if err != nil {
		tb.Fatal(err)
	}
	var names []string
	for line := range strings.Lines(string(text)) {
		name, _, isEntry := strings.Cut(line, " | ")
		if isEntry && name != refused && name[0] != '#' && len(names) < n {
			names = append(names, name)
		}
	}
	for i := 0; len(names) < n; i++ {
		names = append(names, fmt.Sprintf("%c%cExample%dBot", 'A'+i%26, 'a'+i/26%26, i))
	}
	names[n/2] = refused
	return names
}

// robotsTxt keeps out all robots of that name, binds another one to its own rules and to a
// pace that it keeps, and a third one to a pace that it does not.
func robotsTxt(names []string) string {
	var b strings.Builder
	for _, name := range names {
		fmt.Fprintf(&b, "User-agent: %s\n", name)
	}
	b.WriteString("Disallow: /\n\n")
	fmt.Fprintf(&b, "User-agent: %s\nRequest-rate: 1000000/1s\nDisallow: /private/\nDisallow: /*.pdf$\nAllow: /private/press/\n\n", allowed)
	fmt.Fprintf(&b, "User-agent: %s\nCrawl-delay: 86400\n\n", hasty)
	b.WriteString("User-agent: *\nDisallow: /search\nDisallow: /cart\n")
	return b.String()
}

// traffic are the User-Agents that come, by kind.
var traffic = map[string][]string{
	"browser": browsers(16),
	"allowed": {
		allowed + "/1.0 (+https://search.example/bot)",
		"Mozilla/5.0 (compatible; " + allowed + "/2.1; +https://search.example/bot)",
		"Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; " + allowed + "/2.1; +https://search.example/bot) Chrome/142.0.0.0 Safari/537.36",
	},
	"refused": {refusedAgent},
	"hasty":   {hasty + "/1.0 (+https://hasty.example/bot)"},
}

// browsers returns the User-Agents of n different browsers.
func browsers(n int) []string {
	agents := make([]string, n)
	for i := range agents {
		switch i % 3 {
		case 0:
			agents[i] = fmt.Sprintf("Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.%d.0 Safari/537.36", i)
		case 1:
			agents[i] = fmt.Sprintf("Mozilla/5.0 (X11; Linux x86_64; rv:145.%d) Gecko/20100101 Firefox/145.%d", i, i)
		default:
			agents[i] = fmt.Sprintf("Mozilla/5.0 (iPhone; CPU iPhone OS 26_%d like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.%d Mobile/15E148 Safari/604.1", i, i)
		}
	}
	return agents
}

// requests returns one request from each of the agents at each of the hosts, for different pages,
// as it comes over a connection.
func requests(agents []string, hosts ...string) []*http.Request {
	var all []*http.Request
	connection := context.WithValue(context.Background(), http.LocalAddrContextKey, net.Addr(&net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 80}))
	for _, host := range hosts {
		for _, agent := range agents {
			r := httptest.NewRequestWithContext(connection, "GET", fmt.Sprintf("http://%s/articles/2026/11/page-%d.html?from=%d", host, len(all)%97, len(all)%7), nil)
			r.RequestURI = r.URL.RequestURI() // as on the request line
			r.RemoteAddr = fmt.Sprintf("203.0.113.%d:4711", len(all)%250)
			r.Header.Set("User-Agent", agent)
			r.Header.Set("Accept", "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8")
			r.Header.Set("Accept-Language", "en")
			all = append(all, r)
		}
	}
	return all
}
