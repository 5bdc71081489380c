package robotsrules_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/robotsrules"
)

func TestStatements(t *testing.T) { runCases(t, "state/*.txt") }

// checkStatements reads rows of User-Agent, target, and `usage [train-ai=n]`,
// `signal [ai-train=no]`, `noindex [line 3]`, several of them, or `nothing`.
func checkStatements(t *testing.T, c testCase, rows []row) {
	requireRows(t, c, "statements", rows)
	p := c.policy()
	for _, r := range rows {
		col := r.columns(t, 2)
		if got := statementWord(p.Bind(robot(col[0])).State(col[1])); got != col[2] {
			t.Errorf("%s: State(%q) for %q = %s, want %s", r.at, col[1], col[0], got, col[2])
		}
	}
}

func statementWord(s robotsrules.Statement) string {
	var said []string
	if s.Usage != "" {
		said = append(said, "usage ["+s.Usage+"]")
	}
	if s.Signal != "" {
		said = append(said, "signal ["+s.Signal+"]")
	}
	if s.Noindex != nil {
		said = append(said, fmt.Sprintf("noindex [line %d]", s.Noindex.Line))
	}
	if said == nil {
		return "nothing"
	}
	return strings.Join(said, " ")
}

// checkTimeGates reads rows of a host, a target, and the base URLs that answer for
// them, or `none`.
func checkTimeGates(t *testing.T, c testCase, rows []row) {
	requireRows(t, c, "time gates", rows)
	p := c.policy()
	for _, r := range rows {
		col := r.columns(t, 2)
		got := strings.Join(p.TimeGates(nil, col[0], col[1]), " ")
		if got == "" {
			got = "none"
		}
		if got != col[2] {
			t.Errorf("%s: TimeGates(%q, %q) = %s, want %s", r.at, col[0], col[1], got, col[2])
		}
	}
}

// checkLinks reads rows of `sitemap` or `license` and an address: all there are, in
// their order.
func checkLinks(t *testing.T, c testCase, rows []row) {
	requireRows(t, c, "links", rows)
	p := c.policy()
	var got, want []string
	for _, link := range p.Sitemaps() {
		got = append(got, "sitemap "+link)
	}
	for _, link := range p.Licenses() {
		got = append(got, "license "+link)
	}
	for _, r := range rows {
		want = append(want, strings.Join(strings.Fields(r.text), " "))
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s: links\n got\n%s\nwant\n%s", c.name, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// What the policy of no file, and of an empty one, says.
func TestNoPolicyStatesNothing(t *testing.T) {
	var none *robotsrules.Policy
	for name, p := range map[string]*robotsrules.Policy{"nil": none, "empty": robotsrules.Compile(nil, robotsrules.MatchSubstring)} {
		if got := p.TimeGates(nil, "a.example", "/"); got != nil {
			t.Errorf("%s policy: time gates %q, want none", name, got)
		}
		if p.Sitemaps() != nil || p.Licenses() != nil {
			t.Errorf("%s policy: links %q and %q, want none", name, p.Sitemaps(), p.Licenses())
		}
		if got := p.Default().State("/"); got != (robotsrules.Statement{}) {
			t.Errorf("%s policy states %+v, want nothing", name, got)
		}
	}
}

// Groups that very many records share have statements of their own.
func TestStatementsOfGroupsThatManyRecordsShare(t *testing.T) {
	var text strings.Builder
	for i := range 40 {
		fmt.Fprintf(&text, "User-agent: bot%02d\n", i)
	}
	text.WriteString("Noindex: /n\nContent-Usage: train-ai=n\n")
	for i := range 40 {
		fmt.Fprintf(&text, "User-agent: bot%02d\nContent-Usage: /%02d/ train-ai=y\nNoindex: /%02d\n", i, i, i)
	}
	p := robotsrules.Compile(robotsrules.Parse([]byte(text.String()), robotsrules.Options{}), robotsrules.MatchSubstring)
	for target, want := range map[string]string{
		"/n/x":  "usage [train-ai=n] noindex [line 41]",
		"/07/x": "usage [train-ai=y] noindex [line 66]",
		"/08/x": "usage [train-ai=n]",
	} {
		if got := statementWord(p.Named("bot07").State(target)); got != want {
			t.Errorf("State(%q) for bot07 = %s, want %s", target, got, want)
		}
	}
}

func TestStatementsAreFoundWithoutAllocation(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	p := robotsrules.Compile(robotsrules.Parse([]byte(statedFile), robotsrules.Options{}), robotsrules.MatchSubstring)
	b := p.Default()
	var buf [4]string
	for _, target := range []string{"/a/page?x=1", "/a/%7epage", "/" + strings.Repeat("é", 300)} {
		allocs := testing.AllocsPerRun(100, func() {
			b.State(target)
			p.TimeGates(buf[:0], "WWW.Example.org:8080", target)
		})
		if allocs != 0 {
			t.Errorf("%.20q: %v allocations, want 0", target, allocs)
		}
	}
}

// statedFile states something of every kind.
const statedFile = `
TimeGate: https://archive.example/timegate/
Archived: .example.org/
Archived: example.com/a/
TimeGate: https://other.example/tg/
Archived: *
Sitemap: https://www.example.org/sitemap.xml
License: https://www.example.org/license.xml
User-agent: *
Allow: /
Noindex: /a/
Content-Usage: / train-ai=n
Content-Usage: /b/ train-ai=y
Content-Signal: search=yes, ai-train=no
`

func BenchmarkState(b *testing.B) {
	p := robotsrules.Compile(robotsrules.Parse([]byte(statedFile), robotsrules.Options{}), robotsrules.MatchSubstring)
	binding := p.Default()
	b.ReportAllocs()
	for b.Loop() {
		binding.State("/articles/2026/11/a-page.html")
	}
}

func BenchmarkTimeGates(b *testing.B) {
	p := robotsrules.Compile(robotsrules.Parse([]byte(statedFile), robotsrules.Options{}), robotsrules.MatchSubstring)
	var buf [4]string
	b.ReportAllocs()
	for b.Loop() {
		p.TimeGates(buf[:0], "www.example.org", "/articles/2026/11/a-page.html")
	}
}
