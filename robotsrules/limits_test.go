package robotsrules_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/robotsrules"
)

// evilShapes are pieces of text that cost a careless parser, compiler or
// matcher dearly when a file is full of them.
var evilShapes = map[string]string{
	"colons":                 ":",
	"carriage returns":       "\r",
	"line feeds":             "\n",
	"hash signs":             "#",
	"blanks":                 " ",
	"NUL":                    "\x00",
	"invalid UTF-8":          "\xff",
	"one-letter lines":       "a\n",
	"empty fields":           ":\n",
	"empty User-agents":      "User-agent:\n",
	"User-agents":            "User-agent: a\n",
	"default records":        "User-agent: *\nDisallow: /a\n",
	"records":                "User-agent: a\nDisallow: /a\n",
	"records with versions":  "User-agent: a\nRobot-version: 2.0.0\nAllow: /*a*b*c\n",
	"experimental records":   "User-agent: a\nRobot-version: 2.1.0\n",
	"bad versions":           "User-agent: a\nRobot-version: 9.9.9.9\n",
	"rules without a record": "Disallow: /\n",
	"bad patterns":           "User-agent: *\nDisallow: a\n",
	"stars":                  "User-agent: *\nDisallow: /" + strings.Repeat("*a", 200) + "\n",
	"star files":             "*",
	"percent signs":          "User-agent: *\nDisallow: /%%%%%2%2f%2F%zz%\n",
	"HTML":                   "<html>",
	"HTML comments":          "<!--",
	"time gates":             "TimeGate: http://a/\n",
	"archived":               "Archived: *\n",
	"delays":                 "User-agent: *\nCrawl-delay: 99999999999999999999999\n",
	"rates":                  "User-agent: *\nRequest-rate: 99999999999999999999/9999999999999999d 9999-9999\n",
	"visit times":            "User-agent: *\nVisit-time: -\n",
	"unknown fields":         "x: y\n",
	"missing colons":         "Disallow /\n",
}

// An evil file of any shape parses and compiles, keeps its diagnostics within
// bounds, and leaves a policy that answers.
func TestEvilFilesAreReadToTheEnd(t *testing.T) {
	for name, shape := range evilShapes {
		t.Run(name, func(t *testing.T) {
			text := []byte(strings.Repeat(shape, robotsrules.DefaultMaxBytes/len(shape)))
			for _, d := range []robotsrules.Dialect{robotsrules.RFC9309, robotsrules.Draft1996, robotsrules.NoRobots1994} {
				file := robotsrules.Parse(text, robotsrules.Options{Dialect: d})
				checkLines(t, file, text)
				p := robotsrules.Compile(file, robotsrules.MatchSubstring)
				if got := p.Bind(robot("AnyBot/1.0")).Decide("/robots.txt"); !got.Allowed() {
					t.Errorf("%s: Decide(/robots.txt) = %s, want allowed", d, got)
				}
			}
		})
	}
}

// Thousands of different tokens, rules with shared prefixes and stars compile
// into a policy that still finds the last of them.
func TestManyDifferentRecordsAreAllFound(t *testing.T) {
	const records = 10_000
	var b strings.Builder
	for i := range records {
		fmt.Fprintf(&b, "User-agent: bot%05d\nDisallow: /%05d/*x$\n", i, i)
	}
	p := robotsrules.Compile(robotsrules.Parse([]byte(b.String()), robotsrules.Options{}), robotsrules.MatchSubstring)
	for i := range records {
		userAgent, target := fmt.Sprintf("Bot%05d/1.0", i), fmt.Sprintf("/%05d/yx", i)
		got := decisionOf(p.Bind(robot(userAgent)).Decide(target))
		if want := (twinDecision{false, 2*i + 2}); got != want {
			t.Fatalf("Decide(%q) for %q = %+v, want %+v", target, userAgent, got, want)
		}
	}
}

func TestDiagnosticsEndWithTheirNumber(t *testing.T) {
	file := robotsrules.Parse([]byte("User-agent: *\n"+strings.Repeat("x: y\n", 1500)), robotsrules.Options{})
	if got := len(file.Diagnostics); got != maxDiagnostics {
		t.Fatalf("1500 unknown fields: %d diagnostics, want %d", got, maxDiagnostics)
	}
	if got := file.Diagnostics[maxDiagnostics-1].String(); !strings.Contains(got, "500") {
		t.Errorf("last diagnostic = %q, want one that says 500 more", got)
	}
}

func TestLinesOverSixteenKiBAreSkipped(t *testing.T) {
	const limit = 16 << 10
	for _, test := range []struct {
		name        string
		length      int
		wantRule    int
		diagnostics int
	}{
		{"at the limit", limit, 2, 0},
		{"one byte over it", limit + 1, 0, 1},
	} {
		line := "Disallow: /" + strings.Repeat("a", test.length-len("Disallow: /"))
		text := "User-agent: *\n" + line + "\nDisallow: /b\n"
		file := robotsrules.Parse([]byte(text), robotsrules.Options{})
		b := robotsrules.Compile(file, robotsrules.MatchSubstring).Default()
		if got := decisionOf(b.Decide(strings.TrimPrefix(line, "Disallow: "))).line; got != test.wantRule {
			t.Errorf("line %s: decided by line %d, want %d", test.name, got, test.wantRule)
		}
		if got := decisionOf(b.Decide("/b")).line; got != 3 {
			t.Errorf("line after one %s: decided by line %d, want 3", test.name, got)
		}
		if got := len(file.Diagnostics); got != test.diagnostics {
			t.Errorf("line %s: %d diagnostics, want %d", test.name, got, test.diagnostics)
		}
	}
}

func TestFiveHundredKiBAreReadByDefault(t *testing.T) {
	head, last := "User-agent: *\n", "Disallow: /last\n"
	filler := strings.Repeat("#\n", (robotsrules.DefaultMaxBytes-len(head)-len(last))/2)
	for _, test := range []struct {
		text string
		want bool
	}{
		{head + filler + last, false},
		{head + filler + "#\n" + last, true},
	} {
		p := robotsrules.Compile(robotsrules.Parse([]byte(test.text), robotsrules.Options{}), robotsrules.MatchSubstring)
		if got := p.Default().Decide("/last").Allowed(); got != test.want {
			t.Errorf("rule at the end of %d bytes: allowed = %t, want %t", len(test.text), got, test.want)
		}
	}
}

func TestATextWithoutLineEndsIsCutToNothing(t *testing.T) {
	file := robotsrules.Parse([]byte("User-agent: *"), robotsrules.Options{MaxBytes: 5})
	if len(file.Groups) != 0 || len(file.Diagnostics) != 1 {
		t.Errorf("Parse of one line cut short = %d groups, %d diagnostics, want 0 and 1", len(file.Groups), len(file.Diagnostics))
	}
}
