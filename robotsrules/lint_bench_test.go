package robotsrules_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/robotsrules"
)

// lintTexts are the evil texts, those that are slow to search for shadows, and
// what large sites have.
func lintTexts() map[string]string {
	const size = 500 << 10
	fill := func(format string) string {
		var b strings.Builder
		b.WriteString("User-agent: *\n")
		for i := 0; b.Len() < size; i++ {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()[:size]
	}
	texts := map[string]string{
		"realistic":    realistic(size),
		"literal":      literalRules(10_000),
		"wildcards":    fifthWildcards(10_000, "/*/print%d$"),
		"queries":      fifthWildcards(10_000, "/*?sort%d="),
		"allWildcards": fill("Disallow: /*/item-%d/*\n"),
		"lateMismatch": fill("Disallow: /" + strings.Repeat("*a", 50) + "*%d\n"),
		"allShadowed":  fill("Allow: /a%d\nDisallow: /a%[1]d\n"),
		"longPatterns": fill("Disallow: /*b" + strings.Repeat("a", 8000) + "%d\n"),
	}
	maps.Copy(texts, evilTexts(size))
	return texts
}

func BenchmarkShadowed(b *testing.B) {
	for name, text := range lintTexts() {
		for d := range robotsrules.Dialect(3) {
			b.Run(fmt.Sprintf("%s/%s", name, d), func(b *testing.B) {
				file := robotsrules.Parse([]byte(text), robotsrules.Options{Dialect: d, MaxBytes: 1 << 20})
				p := robotsrules.Compile(file, robotsrules.MatchSubstring)
				b.ReportAllocs()
				found, all := 0, false
				for b.Loop() {
					shadows, complete := p.Shadowed()
					found, all = len(shadows), complete
				}
				b.ReportMetric(float64(found), "shadows")
				b.ReportMetric(asNumber(all), "complete")
			})
		}
	}
}

func BenchmarkDifferences(b *testing.B) {
	for name, text := range lintTexts() {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			found, all := 0, false
			for b.Loop() {
				rows, complete := robotsrules.Differences([]byte(text), robotsrules.Options{MaxBytes: 1 << 20}, robotsrules.MatchSubstring)
				found, all = len(rows), complete
			}
			b.ReportMetric(float64(found), "differences")
			b.ReportMetric(asNumber(all), "complete")
		})
	}
}

func asNumber(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
