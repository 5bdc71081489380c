package compliance

import (
	"strings"
	"testing"
	"unicode"
)

// hostile are texts that are more than text where they are not escaped.
var hostile = []string{
	"<script>alert(1)</script>", "</script><script>alert(1)</script>", "</style><img src=x onerror=alert(1)>",
	"<!--", "-->", "]]>", "<![CDATA[", "'", "\"", "\" onmouseover=\"alert(1)", "'onfocus='alert(1)", "`${alert(1)}`",
	"&lt;script&gt;", "&#0;", "&", "javascript:alert(1)", "data:text/html,<script>alert(1)</script>", "//evil.example/",
	"\u202egnp.exe", "\u2066\u200b\ufeff", "\x00\x01\x1b[31m\x7f", "\xff\xfe\xed\xa0\x80", "\u2028\u2029", "{{.}}", "{{template \"n\"}}",
	"\\u003cscript\\u003e", "+ADw-script+AD4-", "a\tb", "a\rb\nc", "﷽", strings.Repeat("<", 300), strings.Repeat("\u202e", 200), "=1+1",
}

// reportOf returns a report with this text everywhere where a text can stand.
func reportOf(text string) *Report {
	t := Tally{Requests: 3, Disobedient: 2, Refused: 1, Obedience: 1.0 / 3, Verdicts: map[Verdict]Count{Allowed: {1, 0}, Disallowed: {2, 1}}}
	oneLine := strings.Map(func(r rune) rune {
		if r == '\n' || r == '\r' {
			return '#'
		}
		return r
	}, "Disallow: /a"+text)
	robot := Robot{
		Robot: "r" + text, Class: "c" + text, Standing: "s" + text, Record: "u" + text, Tally: t, First: start, Last: start,
		Fetches: 1, Fetched: start, FetchedVersion: "v" + text,
		Lines: []Line{{1, ruleOf(oneLine), 2, false}, {7, "x" + text, 1, true}}, Paths: []Path{{Path: text, Requests: 2}},
		OtherPaths: 3, OtherByRule: []Line{{1, "o" + text, 2, true}, {Requests: 1}},
		AllowedPaths: []Path{{Path: "a" + text, Requests: 2, About: true}}, OtherAllowed: 1, OtherAllowedByRule: []Line{{9, text, 1, false}},
		Evidence: []Evidence{{start, "m" + text, text, 403, Disallowed, 1, ruleOf(oneLine), text}},
	}
	site := Site{Site: "e" + text, Version: "w" + text, RobotsTxt: oneLine + "\n", Tally: t, Robots: []Robot{robot}}
	return &Report{Time: start, Since: start, Total: t, Sites: []Site{site, site}}
}

// optionsOf returns the options of each kind of page: a file, a live one, and one of robots that are shown whole.
func optionsOf(text string) [3]PageOptions {
	o := PageOptions{Title: "t" + text, Source: "o" + text, Nonce: "n" + text, RefreshSeconds: 5, Links: []Link{{"l" + text, "p" + text}}}
	live, whole := o, o
	live.Self, live.Selection = "/s"+text, Selection{Site: "e" + text}
	whole.Self, whole.Selection = "s"+text, Selection{Robot: "r" + text}
	return [...]PageOptions{o, live, whole}
}

// harmless are the pages with which hostile ones are compared.
var harmless [3]struct {
	raw      string // what stands in styles and scripts
	elements []element
}

// checkHostile fails the test if a text changes anything but the text of a page: its elements and their
// attributes are those of a page with a harmless text, and no character is hidden.
func checkHostile(t *testing.T, text string) {
	t.Helper()
	for kind := range harmless {
		checkHostilePage(t, text, kind)
	}
}

func checkHostilePage(t *testing.T, text string, kind int) {
	t.Helper()
	same := &harmless[kind]
	if same.elements == nil {
		want := page(t, reportOf("x"), optionsOf("x")[kind])
		_, same.raw = split(want)
		same.elements = parse(t, want)
	}
	got := page(t, reportOf(text), optionsOf(text)[kind])
	g, w := checkMarkup(t, got), same.elements
	if len(g) != len(w) {
		t.Fatalf("elements: %.80q: got %d, want %d", text, len(g), len(w))
	}
	for i := range g {
		same := g[i].name == w[i].name && len(g[i].attr) == len(w[i].attr)
		for name := range g[i].attr {
			_, there := w[i].attr[name]
			same = same && there
		}
		if !same {
			t.Fatalf("elements: %q: got <%s %v>, want <%s %v>", text, g[i].name, g[i].attr, w[i].name, w[i].attr)
		}
	}
	markup, raw := split(got)
	for _, r := range markup {
		if r != '\n' && r != '\t' && r != '\u202f' && hidden(r) || unicode.Is(unicode.Bidi_Control, r) {
			t.Fatalf("nothing hidden: %.80q: got %U as it is, want an escape", text, r)
		}
	}
	if raw != same.raw {
		t.Fatalf("scripts: %q changes the script or the style", text)
	}
}

// TestHostileTexts has all of them at once; FuzzPage begins with each.
func TestHostileTexts(t *testing.T) {
	checkHostile(t, strings.Join(hostile, ""))
}

func TestLinksRunNoScripts(t *testing.T) {
	got := page(t, fewRobots(), PageOptions{Links: []Link{{"JSON", "javascript:alert(1)"}}})
	if strings.Contains(got, "javascript:") {
		t.Error("a link that is a script is on the page")
	}
}

// FuzzPage puts any text in every place of one of the kinds of page. It holds three properties:
//
//   - elements: those of the page, and their attributes, are the same as with a harmless text;
//   - scripts: so is what stands in its scripts and styles;
//   - nothing hidden: each character can be seen, and none turns the order of others round.
func FuzzPage(f *testing.F) {
	for i, text := range hostile {
		f.Add(text, uint8(i))
	}
	f.Fuzz(func(t *testing.T, text string, kind uint8) { checkHostilePage(t, text, int(kind)%len(harmless)) })
}
