package compliance

import (
	"fmt"
	"html"
	"regexp"
	"strings"
	"testing"
	"time"
)

// page returns a report as a page.
func page(t *testing.T, r *Report, o PageOptions) string {
	t.Helper()
	if o.Zone == nil {
		o.Zone = time.UTC
	}
	var b strings.Builder
	if err := WritePage(&b, r, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

var (
	blockPattern = regexp.MustCompile(`</?(p|h[1-6]|li|dt|tr|caption|summary|figcaption|label|title|output|button|header|section|ol|ul|table)\b[^>]*>`)
	cellPattern  = regexp.MustCompile(`</t[dh]>`)
	anyPattern   = regexp.MustCompile(`<[^>]*>`)
	linesPattern = regexp.MustCompile(`\s*\n\s*`)
)

// words returns what a page says, a line for each line of a list or table.
func words(page string) string {
	page = rawPattern.ReplaceAllString(page, "")
	page = cellPattern.ReplaceAllString(strings.ReplaceAll(page, "\n", " "), " | ")
	page = anyPattern.ReplaceAllString(blockPattern.ReplaceAllString(page, "\n"), "")
	page = strings.NewReplacer("\u202f", " ", "\u00ad", "").Replace(html.UnescapeString(page))
	return strings.TrimSpace(linesPattern.ReplaceAllString(page, "\n")) + "\n"
}

func TestWhatThePageSays(t *testing.T) {
	text := page(t, fewRobots(), PageOptions{Source: "replay of access.log", Links: []Link{{"JSON", "report.json"}}})
	checkMarkup(t, text)
	golden(t, "page.txt", words(text))
}

func TestPageOfAWeek(t *testing.T) {
	r := sampleLedger().Snapshot(week)
	r.Sites[0].RobotsTxt = sampleText
	all := checkMarkup(t, page(t, r, PageOptions{Title: "Robots on www.example.com", RefreshSeconds: 30, Nonce: "abc"}))
	cells, broken := 0, 0
	for _, e := range all {
		if e.name == "td" && e.attr["role"] == "cell" || e.attr["role"] == "rowheader" {
			cells++
		}
		if e.attr["class"] == "broken" {
			broken++
		}
	}
	if want := 14 * len(r.Sites[0].Robots); cells != want {
		t.Errorf("cells of the table: got %d, want %d", cells, want)
	}
	if broken != 4 {
		t.Errorf("lines that are marked: got %d, want 4", broken)
	}
}

func TestEmptyPage(t *testing.T) {
	text := page(t, NewLedger(Options{}).Snapshot(start), PageOptions{})
	checkMarkup(t, text)
	if !strings.Contains(words(text), "No robot has come yet") {
		t.Errorf("got %q", words(text))
	}
}

func TestPageUnderObserve(t *testing.T) {
	l := NewLedger(Options{})
	e := disallowed("figtree")
	e.Refused = false
	note(l, e, 7)
	if got := words(page(t, l.Snapshot(start), PageOptions{})); !strings.Contains(got, "7 would have been refused") {
		t.Errorf("got %q", got)
	}
	note(l, disallowed("figtree"), 2)
	if got := words(page(t, l.Snapshot(start), PageOptions{})); !strings.Contains(got, "2 refused") || !strings.Contains(got, "7 that would have been, but were only observed") {
		t.Errorf("with some that were refused: got %q", got)
	}
}

func TestARobotOnSeveralSitesCountsOnce(t *testing.T) {
	l := NewLedger(Options{})
	for i := range 3 {
		e := allowed("figtree")
		e.Site = fmt.Sprint(i, ".example")
		note(l, e, 5)
	}
	e := disallowed("figtree")
	e.Site = "0.example"
	note(l, e, 1)
	got := words(page(t, l.Snapshot(start), PageOptions{}))
	if all := got[strings.Index(got, "All sites"):strings.Index(got, "Site |")]; !strings.Contains(all, "1 robot\n") || !strings.Contains(all, "1 kept them nearly always") {
		t.Errorf("got %q", all)
	}
}

func TestARobotThatReadAnOlderTextIsToldApart(t *testing.T) {
	for version, want := range map[string]bool{"two": false, "one": true, "": false} {
		l := NewLedger(Options{})
		e := allowed("figtree")
		e.RobotsTxt, e.Version = true, version
		note(l, e, 1)
		e.RobotsTxt, e.Version = false, "two"
		note(l, e, 1)
		if got := strings.Contains(page(t, l.Snapshot(start), PageOptions{}), `class="older"`); got != want {
			t.Errorf("read %q, and two is in force: got %v, want %v", version, got, want)
		}
	}
}

func TestLinesLeadToWhereTheyAre(t *testing.T) {
	l := NewLedger(Options{})
	note(l, disallowed("figtree"), 3)
	for text, want := range map[string]string{
		"\ufeffUser-agent: *\r\n# \r  Disallow: /private/ # ours\n": `<a href="#L3">line 3</a>`,
		"User-agent: *\n\nDisallow: /other/\n":                      `line 3 of another text`,
		"User-agent: *\n":                                           `line 3 of another text`,
		"":                                                          `<td role="cell" class="worst">line 3 <code>`,
	} {
		r := l.Snapshot(start)
		r.Sites[0].RobotsTxt = text
		got := page(t, r, PageOptions{})
		checkMarkup(t, got)
		if !strings.Contains(got, want) {
			t.Errorf("%q: got no %q", text, want)
		}
		if marked := strings.Contains(got, "broken 3 × by 1 robot"); marked != strings.HasPrefix(want, "<a") {
			t.Errorf("%q: got a mark: %v", text, marked)
		}
	}
}

// TestPageIsBounded shows more robots and a longer robots.txt than a page has room for.
func TestPageIsBounded(t *testing.T) {
	l := crowd(600)
	e := disallowed("worst")
	e.Site, e.Line, e.Rule = "www.example.com", 40_000, "Disallow: /far/"
	note(l, e, 100)
	r := l.Snapshot(start.Add(160 * time.Hour))
	r.Sites[0].RobotsTxt = strings.Repeat("Disallow: /one/of/many/\n", 39_999) + "Disallow: /far/\n"
	got := page(t, r, PageOptions{})
	checkMarkup(t, got)
	if len(got) > 2<<20 {
		t.Errorf("got %d bytes, want at most 2 MiB", len(got))
	}
	for _, want := range []string{"101 more robots", "more lines, which nobody broke", `id="L40000"`, `href="#L40000"`} {
		if !strings.Contains(got, want) {
			t.Errorf("got no %q", want)
		}
	}
	if few := page(t, r, PageOptions{MaxRobots: 10}); strings.Count(few, `role="rowheader"`) != 10 {
		t.Error("a page of 10 robots does not have 10")
	}
}

func TestNonce(t *testing.T) {
	r := fewRobots()
	if got := page(t, r, PageOptions{}); strings.Contains(got, "nonce") {
		t.Error("a page that is kept as a file has a nonce")
	}
	const nonce = "r4nd0m+/=_-"
	for _, e := range parse(t, page(t, r, PageOptions{Nonce: nonce})) {
		if got := html.UnescapeString(e.attr["nonce"]); (e.name == "style" || e.name == "script") && got != nonce {
			t.Errorf("<%s>: got nonce %q, want %q", e.name, got, nonce)
		}
	}
	want := "default-src 'none'; style-src 'nonce-r4nd0m+/=_-'; script-src 'nonce-r4nd0m+/=_-'; img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
	if got := CSP(nonce); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := CSP("a'; script-src *; 'b\r\n"); strings.Contains(got, "*") || strings.ContainsAny(got, "\r\n") {
		t.Errorf("a nonce that is none: got %q", got)
	}
}

// Where all is only observed, as in a replay, no column says how much was refused.
func TestAPageOfWhatIsObservedSaysSo(t *testing.T) {
	l := NewLedger(Options{})
	for i, refused := range []bool{false, true} {
		for _, site := range []string{"a.example", "b.example"} {
			e := disallowed("figtree")
			e.Site, e.Refused = site, refused
			note(l, e, 1234)
		}
		got := words(page(t, l.Snapshot(start), PageOptions{Self: "/robots"}))
		for text, want := range map[string]bool{
			"| Would have been refused |": i == 0, "| Refused |": i == 1, "Period | Requests | Against the rules | Sent |": i == 0,
			"a.example | 1 | 1,234 | 0 % | 1,234 | 1,234 |": i == 0, "a.example | 1 | 2,468 | 0 % | 2,468 | 1,234 |": i == 1,
		} {
			if strings.Contains(got, text) != want {
				t.Errorf("refused %t, %q: got %t, want %t in %.900s", refused, text, !want, want, got)
			}
		}
	}
}
