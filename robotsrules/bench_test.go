package robotsrules_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/robotsrules"
)

const benchmarkAgent = "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)"

// literalRules returns a record with n different rules without stars.
func literalRules(n int) string {
	var b strings.Builder
	b.WriteString("User-agent: *\n")
	for i := range n {
		fmt.Fprintf(&b, "Disallow: /section%d/area%d/private/\n", i%97, i)
	}
	return b.String()
}

// fifthWildcards returns a record with n rules, every fifth of them with stars;
// where says how such a pattern is made of a number.
func fifthWildcards(n int, where string) string {
	var b strings.Builder
	b.WriteString("User-agent: *\n")
	for i := range n {
		if i%5 == 0 {
			fmt.Fprintf(&b, "Disallow: "+where+"\n", i)
		} else {
			fmt.Fprintf(&b, "Disallow: /section%d/area%d/private/\n", i%97, i)
		}
	}
	return b.String()
}

// namedGroups returns n records for different robots and a default one.
func namedGroups(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "User-agent: %sbot%d\nDisallow: /area%d/\n\n", string(rune('a'+i%26)), i, i)
	}
	b.WriteString("User-agent: GPTBot\nDisallow: /private/\n\nUser-agent: *\nDisallow: /tmp/\n")
	return b.String()
}

func policyOf(text string) *robotsrules.Policy {
	return robotsrules.Compile(robotsrules.Parse([]byte(text), robotsrules.Options{MaxBytes: 8 << 20}), robotsrules.MatchSubstring)
}

func benchmarkDecide(b *testing.B, text, target string) {
	binding := policyOf(text).Default()
	b.ReportAllocs()
	for b.Loop() {
		if !binding.Decide(target).Allowed() {
			b.Fatalf("Decide(%q) = disallowed, want allowed", target)
		}
	}
}

func BenchmarkDecide(b *testing.B) {
	const target = "/section5/area7/public/index.html?page=2"
	for _, n := range []int{10, 1000, 10000} {
		b.Run(fmt.Sprintf("literal=%d", n), func(b *testing.B) {
			benchmarkDecide(b, literalRules(n), target)
		})
		b.Run(fmt.Sprintf("wildcards=%d", n), func(b *testing.B) {
			benchmarkDecide(b, fifthWildcards(n, "/*/print%d$"), target)
		})
		b.Run(fmt.Sprintf("wildcards-query=%d", n), func(b *testing.B) {
			benchmarkDecide(b, fifthWildcards(n, "/*?sort%d="), target)
		})
	}
	b.Run("encoded", func(b *testing.B) {
		benchmarkDecide(b, literalRules(1000), "/section5/ar%65a7/caf\u00e9/index.html?page=2")
	})
	b.Run("100-stars-2KiB", func(b *testing.B) {
		text := "User-agent: *\nDisallow: /" + strings.Repeat("*a", 100) + "*b\n"
		benchmarkDecide(b, text, "/"+strings.Repeat("a", 2047))
	})
}

func BenchmarkFind(b *testing.B) {
	for _, n := range []int{10, 1000, 10000} {
		for _, d := range []robotsrules.Dialect{robotsrules.RFC9309, robotsrules.Draft1996} {
			b.Run(fmt.Sprintf("%s/groups=%d", d, n), func(b *testing.B) {
				file := robotsrules.Parse([]byte(namedGroups(n)), robotsrules.Options{Dialect: d, MaxBytes: 8 << 20})
				policy := robotsrules.Compile(file, robotsrules.MatchSubstring)
				robot := robotsrules.Robot{UserAgent: benchmarkAgent, Name: "GPTBot"}
				b.ReportAllocs()
				for b.Loop() {
					if policy.Find(robot) == nil {
						b.Fatalf("Find(%q) = nil, want a record", benchmarkAgent)
					}
				}
			})
		}
	}
}

// realistic returns about size bytes in the manner of a large site's file.
func realistic(size int) string {
	var b strings.Builder
	for i := 0; b.Len() < size; i++ {
		switch {
		case i%200 == 0:
			fmt.Fprintf(&b, "\n# rules of part %d\nUser-agent: Robot%d\nUser-agent: Spider%d/1.0\nCrawl-delay: %d\n", i, i, i, 1+i%9)
		case i%7 == 0:
			fmt.Fprintf(&b, "Allow: /shop/category-%d/*/reviews$\n", i)
		case i%11 == 0:
			fmt.Fprintf(&b, "Disallow: /*?sort%d=  # sorted views\n", i)
		default:
			fmt.Fprintf(&b, "Disallow: /shop/category-%d/item-%d/\n", i%300, i)
		}
	}
	return b.String()[:size]
}

// evilTexts are made to be as slow to read as their size allows.
func evilTexts(size int) map[string]string {
	fill := func(s string) string { return strings.Repeat(s, size/len(s)+1)[:size] }
	numbered := func(format string) string {
		var b strings.Builder
		for i := 0; b.Len() < size; i++ {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()[:size]
	}
	var nested, nestedTokens strings.Builder
	for i := 1; nested.Len() < size; i++ {
		nested.WriteString("Allow:/" + strings.Repeat("a", i) + "\n")
		nestedTokens.WriteString("User-agent:" + strings.Repeat("a", i) + "\n")
	}
	return map[string]string{
		"colons":       fill(":"),
		"returns":      fill("\r"),
		"letters":      fill("x\n"),
		"fields":       fill("x:\n"),
		"agents":       numbered("User-agent:%d\n"),
		"records":      numbered("User-agent:%d\nAllow:\n"),
		"nested":       ("User-agent:*\n" + nested.String())[:size],
		"nestedAgents": nestedTokens.String()[:size],
		"stars":        "User-agent:*\n" + fill("Allow:/"+strings.Repeat("*a", 99)+"\n"),
		"starsApart":   "User-agent:*\n" + numbered("Allow:/*%d*b\n"),
		"escapes":      "User-agent:*\n" + numbered("Allow:/%%c3%%a9%d\n"),
		"product":      numbered("User-agent:a%d\n")[:size/3] + "\n" + numbered("Allow:/%d\n")[:size/3] + "\n" + numbered("User-agent:a%d\nAllow:/\n")[:size/3],
		"windows":      "User-agent:*\n" + numbered("Request-rate:1/%d 0000-2359\nUser-agent:*\n"),
	}
}

func BenchmarkParseAndCompile(b *testing.B) {
	const size = 500 << 10
	texts := evilTexts(size)
	texts["realistic"] = realistic(size)
	for name, text := range texts {
		for _, dialect := range []robotsrules.Dialect{robotsrules.RFC9309, robotsrules.Draft1996, robotsrules.NoRobots1994} {
			b.Run(name+"/"+dialect.String(), func(b *testing.B) {
				raw := []byte(text)
				b.SetBytes(int64(len(raw)))
				b.ReportAllocs()
				for b.Loop() {
					file := robotsrules.Parse(raw, robotsrules.Options{MaxBytes: 1 << 20, Dialect: dialect})
					robotsrules.Compile(file, robotsrules.MatchSubstring)
				}
			})
		}
	}
}

func BenchmarkParseOnly(b *testing.B) {
	raw := []byte(realistic(500 << 10))
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	for b.Loop() {
		robotsrules.Parse(raw, robotsrules.Options{MaxBytes: 1 << 20})
	}
}

func TestNothingAllocatesOnTheWayToADecision(t *testing.T) {
	const text = "User-agent: GPTBot\nDisallow: /private/\nDisallow: /*/print$\nCrawl-delay: 5\n" +
		"Request-rate: 1/1m 0600-0800\n\nUser-agent: *\nDisallow: /tmp\n"
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, d := range []robotsrules.Dialect{robotsrules.RFC9309, robotsrules.Draft1996, robotsrules.NoRobots1994} {
		for _, m := range []robotsrules.Match{robotsrules.MatchSubstring, robotsrules.MatchToken} {
			p := robotsrules.Compile(robotsrules.Parse([]byte(text), robotsrules.Options{Dialect: d}), m)
			robot := robotsrules.Robot{UserAgent: benchmarkAgent, Name: "GPTBot", Products: []string{"GPTBot"}}
			b := p.Find(robot)
			if b == nil {
				t.Fatalf("%v, %v: Find(%q) = nil, want the record for GPTBot", d, m, benchmarkAgent)
			}
			calls := map[string]func(){
				"Find":           func() { p.Find(robot) },
				"Bind":           func() { p.Bind(robot) },
				"Named":          func() { p.Named("gptbot") },
				"Decide":         func() { b.Decide("/private/a") },
				"Decide star":    func() { b.Decide("/a/b/print") },
				"Decide encoded": func() { b.Decide("/pr%69vate/caf\u00e9") },
				"Decide query":   func() { b.Decide("?a=b") },
				"At":             func() { b.Pace().At(at) },
				"Visit":          func() { b.Pace().Visit(at) },
			}
			for name, call := range calls {
				if got := testing.AllocsPerRun(100, call); got != 0 {
					t.Errorf("%v, %v: %s allocates %v times, want 0", d, m, name, got)
				}
			}
		}
	}
}

func TestLongTargetsAreRewrittenInAKeptBuffer(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector makes sync.Pool drop what it keeps")
	}
	b := policyOf("User-agent: *\nDisallow: /private/\n").Default()
	target := "/pr%69vate/" + strings.Repeat("\u00e9", 4000)
	if got := testing.AllocsPerRun(1000, func() { b.Decide(target) }); got >= 1 {
		t.Errorf("Decide on %d bytes allocates %v times, want 0", len(target), got)
	}
	if got := b.Decide(target).Verdict; got != robotsrules.Disallowed {
		t.Errorf("Decide(%.20q...) = %v, want disallowed", target, got)
	}
}
