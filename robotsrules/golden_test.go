package robotsrules_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/robotsrules"
)

// runners says how each section of expectations is checked.
var runners = map[string]func(*testing.T, testCase, []row){
	"decisions":   checkDecisions,
	"sentences":   checkSentences,
	"named":       checkNamed,
	"diagnostics": checkDiagnostics,
	"outline":     checkOutline,
	"pace":        checkPace,
	"shadowed":    checkShadowed,
	"differences": checkDifferences,
	"statements":  checkStatements,
	"time gates":  checkTimeGates,
	"links":       checkLinks,
}

func TestDecisionsOfTheSources(t *testing.T)    { runCases(t, "decide/sources/*.txt") }
func TestDecisionsOfRFC9309(t *testing.T)       { runCases(t, "decide/rfc9309/*.txt") }
func TestDecisionsOfDraft1996(t *testing.T)     { runCases(t, "decide/draft1996/*.txt") }
func TestDecisionsOfNoRobots1994(t *testing.T)  { runCases(t, "decide/norobots1994/*.txt") }
func TestDecisionsOfVersion2(t *testing.T)      { runCases(t, "decide/version2/*.txt") }
func TestDecisionsOfOurOwnChoices(t *testing.T) { runCases(t, "decide/house/*.txt") }
func TestDiagnostics(t *testing.T)              { runCases(t, "diagnose/*.txt") }
func TestOutlines(t *testing.T)                 { runCases(t, "outline/*.txt") }
func TestPace(t *testing.T)                     { runCases(t, "pace/*.txt") }

// runCases checks every expectation of the cases that match the glob.
func runCases(t *testing.T, glob string) {
	t.Helper()
	for _, c := range loadCases(t, glob) {
		t.Run(strings.TrimSuffix(c.name[strings.LastIndex(c.name, "/")+1:], ".txt"), func(t *testing.T) {
			for _, section := range expectationSections {
				if rows, ok := c.rows[section]; ok {
					runners[section](t, c, rows)
				}
			}
			if t.Failed() {
				t.Logf("claim: %s", c.claim)
			}
		})
	}
}

// checkDecisions reads rows of User-Agent, target, verdict and place.
func checkDecisions(t *testing.T, c testCase, rows []row) {
	requireRows(t, c, "decisions", rows)
	p := c.policy()
	for _, r := range rows {
		col := r.columns(t, 3)
		b := p.Bind(robot(col[0]))
		d := b.Decide(col[1])
		if got := verdictWord(d); got != col[2] {
			t.Errorf("%s: Decide(%q) for %q = %s (%v), want %s", r.at, col[1], col[0], got, d, col[2])
		}
		checkPlace(t, r, d, col[3])
	}
}

func verdictWord(d robotsrules.Decision) string {
	if d.Allowed() {
		return "allow"
	}
	return "disallow"
}

// checkPlace compares what decided with a place: `line 2`, `no rule`, `no
// record`, `no Allow line` or `always`, and after a comma `record line 1`.
func checkPlace(t *testing.T, r row, d robotsrules.Decision, want string) {
	t.Helper()
	want, record, withRecord := strings.Cut(want, ", ")
	if got := placeOf(d); got != want {
		t.Errorf("%s: decided by %s (%v), want %s", r.at, got, d, want)
	}
	if got := fmt.Sprintf("record line %d", d.Binding.Line()); withRecord && got != record {
		t.Errorf("%s: decided in %s (%v), want %s", r.at, got, d, record)
	}
}

func placeOf(d robotsrules.Decision) string {
	switch {
	case d.Rule != nil:
		return fmt.Sprintf("line %d", d.Rule.Line)
	case strings.HasSuffix(d.String(), "/robots.txt is always allowed"):
		return "always"
	case d.Binding == nil:
		return "no record"
	case !d.Allowed():
		return "no Allow line"
	}
	return "no rule"
}

// checkSentences reads rows of User-Agent, target and the sentence that
// explains the decision.
func checkSentences(t *testing.T, c testCase, rows []row) {
	requireRows(t, c, "sentences", rows)
	p := c.policy()
	for _, r := range rows {
		col := r.columns(t, 2)
		if got := p.Bind(robot(col[0])).Decide(col[1]).String(); got != col[2] {
			t.Errorf("%s: decision for %q %q\n got %s\nwant %s", r.at, col[0], col[1], got, col[2])
		}
	}
}

// checkNamed reads rows of a token and `line N` or `none`.
func checkNamed(t *testing.T, c testCase, rows []row) {
	requireRows(t, c, "named", rows)
	p := c.policy()
	for _, r := range rows {
		col := r.columns(t, 1)
		got := "none"
		if b := p.Named(col[0]); b != nil {
			got = fmt.Sprintf("line %d", b.Line())
		}
		if got != col[1] {
			t.Errorf("%s: Named(%q) = %s, want %s", r.at, col[0], got, col[1])
		}
	}
}

// checkDiagnostics reads rows of `line N: severity: words`, one for each
// diagnostic and in their order; the words need only occur in the message.
func checkDiagnostics(t *testing.T, c testCase, rows []row) {
	diagnostics := robotsrules.Parse(c.text, c.options).Diagnostics
	for i, r := range rows {
		parts := strings.SplitN(r.text, ": ", 3)
		if len(parts) != 3 {
			t.Fatalf("%s: %q is not `line N: severity: words`", r.at, r.text)
		}
		if i >= len(diagnostics) {
			t.Errorf("%s: no diagnostic, want %s", r.at, r.text)
			continue
		}
		got := diagnostics[i].String()
		if !strings.HasPrefix(got, parts[0]+": "+parts[1]+": ") || !strings.Contains(got, parts[2]) {
			t.Errorf("%s: diagnostic %d\n got %s\nwant %s", r.at, i+1, got, r.text)
		}
	}
	for _, d := range diagnostics[min(len(rows), len(diagnostics)):] {
		t.Errorf("%s: a diagnostic more than expected: %s", c.name, d)
	}
}

// checkOutline compares the whole of what was parsed with the section.
func checkOutline(t *testing.T, c testCase, rows []row) {
	want := make([]string, 0, len(rows))
	for _, r := range rows {
		want = append(want, strings.TrimRight(r.text, " "))
	}
	got := outline(robotsrules.Parse(c.text, c.options), true)
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%s: outline\n got\n%s\nwant\n%s", c.name, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

const minuteLayout = "2006-01-02T15:04"

// checkPace reads rows of User-Agent, time (GMT), and `rate 10/1m0s line 3`,
// `none` or `closed until 2026-01-02T06:00 line 4`.
func checkPace(t *testing.T, c testCase, rows []row) {
	requireRows(t, c, "pace", rows)
	p := c.policy()
	for _, r := range rows {
		col := r.columns(t, 2)
		at, err := time.Parse(minuteLayout, col[1])
		if err != nil {
			t.Fatalf("%s: %v", r.at, err)
		}
		if got := paceAt(p.Bind(robot(col[0])).Pace(), at); got != col[2] {
			t.Errorf("%s: pace for %q at %s = %s, want %s", r.at, col[0], col[1], got, col[2])
		}
	}
}

func paceAt(p *robotsrules.Pace, at time.Time) string {
	if open, opens, line := p.Visit(at); !open {
		return fmt.Sprintf("closed until %s line %d", opens.UTC().Format(minuteLayout), line)
	}
	rate, ok := p.At(at)
	if !ok {
		return "none"
	}
	return fmt.Sprintf("rate %d/%s line %d", rate.Documents, rate.Period, rate.Line)
}

// requireRows keeps an empty section from passing for a check.
func requireRows(t *testing.T, c testCase, section string, rows []row) {
	t.Helper()
	if len(rows) == 0 {
		t.Fatalf("%s: section %q has no rows", c.name, section)
	}
}
