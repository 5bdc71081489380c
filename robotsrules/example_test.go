package robotsrules_test

import (
	"fmt"
	"time"

	"github.com/caddy-robots/caddy-robots/robotsrules"
)

const exampleText = `User-agent: GPTBot
Disallow: /private/
Allow: /private/*.html$
Crawl-delay: 5
Request-rate: 1/1m 0600-0800

User-agent: *
Disallow: /tmp/
`

func ExamplePolicy_Find() {
	file := robotsrules.Parse([]byte(exampleText), robotsrules.Options{})
	policy := robotsrules.Compile(file, robotsrules.MatchSubstring)

	named := policy.Find(robotsrules.Robot{UserAgent: "Mozilla/5.0 (compatible; GPTBot/1.2)"})
	fmt.Println(named.Token(), named.Line())

	other := robotsrules.Robot{UserAgent: "Figtree/0.1"}
	fmt.Println(policy.Find(other) == nil, policy.Bind(other).Token())
	// Output:
	// GPTBot 1
	// true *
}

func ExampleBinding_Decide() {
	file := robotsrules.Parse([]byte(exampleText), robotsrules.Options{})
	policy := robotsrules.Compile(file, robotsrules.MatchSubstring)
	binding := policy.Named("gptbot")
	for _, target := range []string{"/private/a", "/private/a.html", "/tmp/a", "/robots.txt"} {
		fmt.Println(binding.Decide(target))
	}
	// Output:
	// disallowed by line 2 "Disallow: /private/" in the record for "GPTBot" (line 1)
	// allowed by line 3 "Allow: /private/*.html$" in the record for "GPTBot" (line 1)
	// allowed: no line of the record for "GPTBot" (line 1) matches
	// allowed: /robots.txt is always allowed
}

func ExampleParse_diagnostics() {
	file := robotsrules.Parse([]byte(`Crawl-delay: 5
User-agent: *
Dissallow: /tmp/
Disallow private/
Disallow: https://example.org/cgi-bin/
`), robotsrules.Options{})
	for _, d := range file.Diagnostics {
		fmt.Println(d)
	}
	// Output:
	// line 1: warning: Crawl-delay is not below a User-agent line, so it binds nobody; write a User-agent line above it, or delete it
	// line 3: warning: "Dissallow" is read as "Disallow"; write "Disallow: /tmp/"
	// line 4: warning: the colon after "Disallow" is missing; it is read as if it stood there; write "Disallow: private/"
	// line 4: warning: "private/" matches nothing: a path begins with /; write "Disallow: /private/"
	// line 5: warning: "https://example.org/cgi-bin/" matches nothing: it is an address, and only paths are compared; write "Disallow: /cgi-bin/"
}

func ExamplePace_At() {
	file := robotsrules.Parse([]byte(exampleText), robotsrules.Options{})
	pace := robotsrules.Compile(file, robotsrules.MatchSubstring).Named("GPTBot").Pace()
	for _, hour := range []int{5, 6} {
		rate, _ := pace.At(time.Date(2026, time.January, 2, hour, 0, 0, 0, time.UTC))
		fmt.Printf("%02d:00 GMT: one in %v, by line %d %q\n", hour, rate.Interval(), rate.Line, rate.Text)
	}
	// Output:
	// 05:00 GMT: one in 5s, by line 4 "Crawl-delay: 5"
	// 06:00 GMT: one in 1m0s, by line 5 "Request-rate: 1/1m 0600-0800"
}
