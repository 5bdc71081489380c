package robotsrules_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/robotsrules"
)

// joined joins the texts as parts named a, b, c and so on.
func joined(o robotsrules.Options, texts ...string) (string, []robotsrules.Diagnostic) {
	var parts []robotsrules.Part
	for i, text := range texts {
		parts = append(parts, robotsrules.Part{Name: string(rune('a' + i)), Text: text})
	}
	return robotsrules.Join(parts, o)
}

func TestJoin(t *testing.T) {
	for _, test := range []struct {
		name        string
		parts       []string
		want        string
		diagnostics []string // the beginning of each
	}{
		{
			name:  "one part stays as it is",
			parts: []string{"\uFEFFUser-agent: *\r\nDisallow: /x"},
			want:  "\uFEFFUser-agent: *\r\nDisallow: /x",
		},
		{
			name:  "each part has a comment line and lines that end in one way",
			parts: []string{"User-agent: a\r\nDisallow: /a", "User-agent: b\rDisallow: /b\r"},
			want:  "# from a\nUser-agent: a\nDisallow: /a\n\n# from b\nUser-agent: b\nDisallow: /b\n",
		},
		{
			name:  "a byte order mark at the start of a part is dropped",
			parts: []string{"User-agent: a\nDisallow: /a\n", "\uFEFFUser-agent: b\nDisallow: /b\n"},
			want:  "# from a\nUser-agent: a\nDisallow: /a\n\n# from b\nUser-agent: b\nDisallow: /b\n",
		},
		{
			name:        "a page contributes nothing",
			parts:       []string{"User-agent: a\nDisallow: /a\n", "<!doctype html>\nUser-agent: *\nDisallow: /\n", "User-agent: c\nDisallow: /c\n"},
			want:        "# from a\nUser-agent: a\nDisallow: /a\n\n# from b\n\n# from c\nUser-agent: c\nDisallow: /c\n",
			diagnostics: []string{"line 5: error: b: the text is an HTML or XML page"},
		},
		{
			name:        "UTF-16 contributes nothing",
			parts:       []string{"\xff\xfeU\x00s\x00", "User-agent: b\nDisallow: /b\n"},
			want:        "# from a\n\n# from b\nUser-agent: b\nDisallow: /b\n",
			diagnostics: []string{"line 1: error: a: the text is UTF-16"},
		},
		{
			name:        "a record without rules at the end of a part stays without",
			parts:       []string{"User-agent: a", "User-agent: b\nDisallow: /b\n"},
			want:        "# from a\nUser-agent: a\nDisallow:\n\n# from b\nUser-agent: b\nDisallow: /b\n",
			diagnostics: []string{"line 3: warning: the previous part ends with User-agent lines without a rule"},
		},
		{
			name:        "rules at the start of a part do not fall on the part before",
			parts:       []string{"User-agent: a\nDisallow: /a\n", "Disallow: /b\nCrawl-delay: 5\nContent-Signal: search=no\nSitemap: https://b.example/\n"},
			want:        "# from a\nUser-agent: a\nDisallow: /a\n\n# from b\n# Disallow: /b\n# Crawl-delay: 5\n# Content-Signal: search=no\nSitemap: https://b.example/\n",
			diagnostics: []string{"line 6: warning: \"Disallow: /b\" is above the first", "line 7: ", "line 8: "},
		},
		{
			name:        "Archived at the start of a part does not fall on the part before",
			parts:       []string{"TimeGate: https://a.example/\nArchived: a.example\n", "Archived: *\nTimeGate: https://b.example/\nArchived: b.example\n"},
			want:        "# from a\nTimeGate: https://a.example/\nArchived: a.example\n\n# from b\n# Archived: *\nTimeGate: https://b.example/\nArchived: b.example\n",
			diagnostics: []string{"line 6: warning: \"Archived: *\" is above the first"},
		},
		{
			name:        "a robot that two parts name",
			parts:       []string{"User-agent: GPTBot\nDisallow: /a\n", "User-agent: gptbot\nDisallow: /b\nUser-agent: gptbot/2\nDisallow: /c\n"},
			want:        "# from a\nUser-agent: GPTBot\nDisallow: /a\n\n# from b\nUser-agent: gptbot\nDisallow: /b\nUser-agent: gptbot/2\nDisallow: /c\n",
			diagnostics: []string{"line 6: warning: \"gptbot\" is named in another part too (a, line 2); their records are read as one"},
		},
		{
			name:        "a * record that is not the first part's",
			parts:       []string{"User-agent: a\nDisallow: /a\n", "User-agent: *\nDisallow: /\n"},
			want:        "# from a\nUser-agent: a\nDisallow: /a\n\n# from b\nUser-agent: *\nDisallow: /\n",
			diagnostics: []string{"line 6: warning: this part's record for * binds all robots"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			text, diagnostics := joined(robotsrules.Options{}, test.parts...)
			if text != test.want {
				t.Errorf("text: got\n%q\nwant\n%q", text, test.want)
			}
			if len(diagnostics) != len(test.diagnostics) {
				t.Fatalf("diagnostics: got %v, want %q", diagnostics, test.diagnostics)
			}
			for i, want := range test.diagnostics {
				if got := diagnostics[i].String(); !strings.HasPrefix(got, want) {
					t.Errorf("diagnostic: got %q, want it to begin with %q", got, want)
				}
			}
		})
	}
}

func TestJoinKeepsANameOnItsLine(t *testing.T) {
	text, _ := robotsrules.Join([]robotsrules.Part{{Name: "x\nUser-agent: *\r\nDisallow: /"}, {Name: "y"}}, robotsrules.Options{})
	if file := robotsrules.Parse([]byte(text), robotsrules.Options{}); len(file.Groups) != 0 {
		t.Errorf("the name of a part became a record: %q", text)
	}
}

func TestJoinLimitsEachPartAndSaysSo(t *testing.T) {
	o := robotsrules.Options{MaxBytes: 40}
	text, diagnostics := joined(o, "User-agent: a\nDisallow: /a\nDisallow: /after/the/cut\n", "User-agent: b\nDisallow: /b\n")
	want := "# from a\nUser-agent: a\nDisallow: /a\n\n# from b\nUser-agent: b\nDisallow: /b\n"
	if text != want {
		t.Errorf("text: got %q, want %q", text, want)
	}
	if len(diagnostics) != 1 || !strings.Contains(diagnostics[0].String(), "a: only the first 40 bytes are read") {
		t.Errorf("diagnostics: got %v, want that a is cut", diagnostics)
	}
}

func TestJoinCutsTheOnlyPartWhereParseDoes(t *testing.T) {
	text := []byte("User-agent: *\nDisallow: /a\r\nDisallow: /b\rDisallow: /c\n")
	for limit := 1; limit <= len(text); limit++ {
		o := robotsrules.Options{MaxBytes: limit}
		cut, diagnostics := robotsrules.Join([]robotsrules.Part{{Text: string(text)}}, o)
		file := robotsrules.Parse(text, o)
		got, want := outline(robotsrules.Parse([]byte(cut), robotsrules.Options{}), true), outline(file, true)
		if !slices.Equal(got, want) {
			t.Errorf("limit %d: got %q, want %q", limit, got, want)
		}
		if got, want := len(diagnostics), len(file.Diagnostics); got != want {
			t.Errorf("limit %d: got %d diagnostics, want %d, as of Parse", limit, got, want)
		}
	}
}

func TestATextThatIsMoreThanRobotsReadIsTold(t *testing.T) {
	long := "User-agent: a\n" + strings.Repeat("Disallow: /filler\n", robotsrules.DefaultMaxBytes/20)
	_, diagnostics := joined(robotsrules.Options{}, long, "User-agent: b\n"+strings.Repeat("Disallow: /filler\n", robotsrules.DefaultMaxBytes/20))
	if len(diagnostics) != 1 || !strings.Contains(diagnostics[0].Message, "a robot need not read more") {
		t.Errorf("diagnostics: got %v, want one about the size", diagnostics)
	}
}

const list = `# a list
User-agent: GPTBot
User-agent: CCBot # the crawl
Comment: go away
Disallow: /
Crawl-delay: 10

User-agent: *
Disallow: /

User-agent: Named
User-agent: *
Disallow: /

User-agent: Partly
Disallow: /
Allow: /open/

User-agent: Elsewhere
Disallow: /private/

User-agent: Versioned
Robot-version: 2.0.0
Disallow: /

Sitemap: https://list.example/sitemap.xml
User-agent: Bytespider
Disallow: /

User-agent: NoRules
`

func TestAPartThatOnlyDisallowsAll(t *testing.T) {
	text, diagnostics := robotsrules.Join([]robotsrules.Part{
		{Name: "this site", Text: "User-agent: *\nDisallow: /own/\n"},
		{Name: "list", Text: list, OnlyDisallowAll: true},
	}, robotsrules.Options{})
	want := "# from this site\nUser-agent: *\nDisallow: /own/\n\n# from list\n# a list\n" +
		"User-agent: GPTBot\nUser-agent: CCBot # the crawl\nDisallow: /\n\nUser-agent: Bytespider\nDisallow: /\n\n"
	if text != want {
		t.Errorf("text: got\n%s\nwant\n%s", text, want)
	}
	leftOut := 0
	for line := range strings.Lines(list) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			leftOut++
		}
	}
	leftOut -= 5 // what passed
	if len(diagnostics) != leftOut {
		t.Errorf("diagnostics: got %d, want %d, one for each line left out", len(diagnostics), leftOut)
	}
	if got, want := diagnostics[0].String(), `line 5: info: line 4 of list is left out: "Comment: go away"`; got != want {
		t.Errorf("first diagnostic: got %q, want %q", got, want)
	}
}

func TestTheLinesLeftOutThatAreToldAreBounded(t *testing.T) {
	_, diagnostics := robotsrules.Join([]robotsrules.Part{
		{Name: "list", Text: "User-agent: *\n" + strings.Repeat("Disallow: /x\n", 5000), OnlyDisallowAll: true},
	}, robotsrules.Options{})
	last := diagnostics[len(diagnostics)-1].Message
	if len(diagnostics) != 101 || last != "4901 more lines of list are left out" {
		t.Errorf("got %d diagnostics, the last %q; want 101 and that 4901 more lines are left out", len(diagnostics), last)
	}
}

// ownOutline is what records, Sitemap and TimeGate lines say, without the lines that stand
// for nothing: fields that are not known, and a Disallow without value.
func ownOutline(files ...*robotsrules.File) []string {
	var records, rest []string
	for _, f := range files {
		inRecords := true
		for _, line := range outline(f, false) {
			word, _, _ := strings.Cut(strings.TrimSpace(line), " ")
			inRecords = inRecords && word != "sitemap" && word != "timegate"
			switch {
			case word == "field", strings.TrimSpace(line) == `disallow ""`:
			case inRecords:
				records = append(records, line)
			case word == "sitemap":
				records = append([]string{line}, records...)
			default:
				rest = append(rest, line)
			}
		}
	}
	slices.Sort(records[:sitemaps(records)])
	return append(records, rest...)
}

func sitemaps(lines []string) int {
	n := slices.IndexFunc(lines, func(line string) bool { return !strings.HasPrefix(line, "sitemap") })
	if n < 0 {
		return len(lines)
	}
	return n
}

// checkJoined holds that a joined text says what its parts say, each by itself.
func checkJoined(t *testing.T, d robotsrules.Dialect, texts ...string) {
	t.Helper()
	text, diagnostics := joined(robotsrules.Options{Dialect: d}, texts...)
	var alone []*robotsrules.File
	for _, part := range texts {
		alone = append(alone, robotsrules.Parse([]byte(part), robotsrules.Options{Dialect: d}))
	}
	whole := robotsrules.Parse([]byte(text), robotsrules.Options{Dialect: d, MaxBytes: len(text) + 1})
	if got, want := ownOutline(whole), ownOutline(alone...); !slices.Equal(got, want) {
		t.Errorf("%s: %q joined as\n%s\nreads\n%s\nwant\n%s", d, texts, text, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	lines := countLines([]byte(text))
	for _, diagnostic := range diagnostics {
		if diagnostic.Line < 1 || diagnostic.Line > lines {
			t.Errorf("diagnostic %q: line %d of %d", diagnostic, diagnostic.Line, lines)
		}
	}
}

func TestJoinedPartsSayWhatEachSaysAlone(t *testing.T) {
	m := newMaker()
	for range 300 / stride() {
		for d := range robotsrules.Dialect(3) {
			var texts []string
			for range 2 + m.IntN(3) {
				text := m.rules(m.IntN(2)) + m.records(m.IntN(4), 2)
				switch m.IntN(5) {
				case 0:
					text += "User-agent: open"
				case 1:
					text = "Archived: *\nContent-Usage: train-ai=n\n" + text + "TimeGate: https://gate.example/\n"
				case 2:
					text += fmt.Sprintf("Archived: %d.example\nSitemap: https://%d.example/", m.IntN(9), m.IntN(9))
				}
				texts = append(texts, strings.ReplaceAll(text, "\n", []string{"\n", "\r", "\r\n"}[m.IntN(3)]))
			}
			checkJoined(t, d, texts...)
		}
	}
}

// FuzzJoin holds two properties: joined parts say what each says alone, and a part that
// only disallows all says nothing else.
func FuzzJoin(f *testing.F) {
	for _, c := range allCases(f) {
		f.Add(c.text, []byte("Disallow: /\nUser-agent: b\n"), uint8(c.options.Dialect))
		f.Add([]byte("TimeGate: https://a.example/\nUser-agent: a\n"), c.text, uint8(c.options.Dialect))
	}
	f.Fuzz(func(t *testing.T, a, b []byte, dialect uint8) {
		d := dialectOf(dialect)
		checkJoined(t, d, string(a), string(b))
		text, _ := robotsrules.Join([]robotsrules.Part{{Name: "list", Text: string(a), OnlyDisallowAll: true}}, robotsrules.Options{Dialect: d})
		file := robotsrules.Parse([]byte(text), robotsrules.Options{Dialect: d})
		for _, line := range outline(file, false) {
			if line != "record" && line != `  disallow "/"` && (!strings.HasPrefix(line, "  robot ") || line == `  robot "*"`) {
				t.Errorf("%q lets through %q: %q", a, line, text)
			}
		}
	})
}
