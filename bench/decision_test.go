package bench

import (
	"fmt"
	"strings"
	"testing"

	"github.com/temoto/robotstxt"

	"github.com/caddy-robots/caddy-robots/robotsrules"
)

// target is what is asked for. No rule of the benchmarks matches it, which is what most
// requests find, and the most work for who tries one rule after the other.
const target = "/section5/area7/public/index.html?page=2"

// rules returns a record with n rules; of kind "wildcards" every fifth has a star in it.
func rules(kind string, n int) string {
	var b strings.Builder
	b.WriteString("User-agent: *\n")
	for i := range n {
		if kind == "wildcards" && i%5 == 0 {
			fmt.Fprintf(&b, "Disallow: /*/print%d$\n", i)
		} else {
			fmt.Fprintf(&b, "Disallow: /section%d/area%d/private/\n", i%97, i)
		}
	}
	return b.String()
}

// records returns n records for one robot each, the refused one's among them.
func records(n int) string {
	var b strings.Builder
	for i := range n - 1 {
		fmt.Fprintf(&b, "User-agent: %cbot%d\nDisallow: /area%d/\n\n", 'a'+i%26, i, i)
	}
	b.WriteString("User-agent: " + refused + "\nDisallow: /private/\n")
	return b.String()
}

// large returns some bytes in the manner of a large site's robots.txt.
func large(size int) string {
	var b strings.Builder
	for i := 0; b.Len() < size; i++ {
		switch {
		case i%200 == 0:
			fmt.Fprintf(&b, "\n# rules of part %d\nUser-agent: Robot%d\nUser-agent: Spider%d\nCrawl-delay: %d\n", i, i, i, 1+i%9)
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

func ours(text string) *robotsrules.Policy {
	return robotsrules.Compile(robotsrules.ParseString(text, robotsrules.Options{MaxBytes: 8 << 20}), robotsrules.MatchSubstring)
}

func temotos(b *testing.B, text string) *robotstxt.RobotsData {
	b.Helper()
	data, err := robotstxt.FromString(text)
	if err != nil {
		b.Fatal(err)
	}
	return data
}

// BenchmarkDecision is one decision by a record that has been found.
func BenchmarkDecision(b *testing.B) {
	for _, kind := range []string{"literal", "wildcards"} {
		for _, n := range []int{10, 100, 1000, 10_000} {
			text := rules(kind, n)
			b.Run(fmt.Sprintf("kind=%s/rules=%d/by=temoto", kind, n), func(b *testing.B) {
				group := temotos(b, text).FindGroup(refused)
				b.ReportAllocs()
				for b.Loop() {
					if !group.Test(target) {
						b.Fatalf("%s is disallowed, want allowed", target)
					}
				}
			})
			b.Run(fmt.Sprintf("kind=%s/rules=%d/by=ours", kind, n), func(b *testing.B) {
				binding := ours(text).Default()
				b.ReportAllocs()
				for b.Loop() {
					if !binding.Decide(target).Allowed() {
						b.Fatalf("%s is disallowed, want allowed", target)
					}
				}
			})
		}
	}
}

// BenchmarkFind looks for the record of one robot among n. The other library is told the
// robot's name, ours the whole User-Agent.
func BenchmarkFind(b *testing.B) {
	for _, n := range []int{10, 1000, 10_000} {
		text := records(n)
		b.Run(fmt.Sprintf("records=%d/by=temoto", n), func(b *testing.B) {
			data := temotos(b, text)
			b.ReportAllocs()
			for b.Loop() {
				if data.FindGroup(refused).Agent == "*" {
					b.Fatal("got the default record, want the robot's own")
				}
			}
		})
		b.Run(fmt.Sprintf("records=%d/by=ours", n), func(b *testing.B) {
			policy, robot := ours(text), robotsrules.Robot{UserAgent: refusedAgent, Name: refused}
			b.ReportAllocs()
			for b.Loop() {
				if policy.Find(robot) == nil {
					b.Fatal("got no record, want the robot's own")
				}
			}
		})
	}
}

// BenchmarkParse reads a robots.txt and makes it ready for decisions.
func BenchmarkParse(b *testing.B) {
	for _, is := range []struct{ name, text string }{
		{"KiB=4", large(4 << 10)},
		{"KiB=500", large(500 << 10)},
		{"kind=literal", rules("literal", 16_000)[:500<<10]},
		{"kind=wildcards", rules("wildcards", 18_000)[:500<<10]},
		{"kind=records", records(10_000)},
	} {
		perKiB := func(b *testing.B) {
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(is.text))*1024, "ns/KiB")
		}
		b.Run(is.name+"/by=temoto", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				temotos(b, is.text)
			}
			perKiB(b)
		})
		b.Run(is.name+"/by=ours", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				ours(is.text)
			}
			perKiB(b)
		})
	}
}
