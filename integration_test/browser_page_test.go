package integration

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/internal/compliance"
	"github.com/chromedp/chromedp/kb"
)

// shown is what a page of the report says, as a person reads it.
type shown struct {
	Glance string // what is seen first
	Sites  []struct {
		Name   string
		Robots []map[string]string // by the headings of the table
	}
}

// readPage gives a shown of the page. Of a number in several forms it takes the long one, and
// leaves out rows that are hidden.
const readPage = `(() => {
	const text = (e) => {
		e = e.cloneNode(true);
		for (const short of e.querySelectorAll(".short, [aria-hidden=true]")) short.remove();
		return e.textContent.replace(/[\u00ad\u202f]/g, "").replace(/\s+/g, " ").trim();
	};
	const robot = (row, heads) => Object.fromEntries(Array.from(row.cells, (cell, i) =>
		[heads[i], i ? text(cell) : (cell.querySelector("a") || cell.firstChild).textContent.trim()]));
	return {
		glance: text(document.querySelector(".glance")),
		sites: Array.from(document.querySelectorAll("section.site"), (site) => {
			const heads = Array.from(site.querySelectorAll("table.robots thead tr:last-child th"), text);
			const rows = Array.from(site.querySelectorAll("table.robots tbody tr"));
			return { name: text(site.querySelector("h2")), robots: rows.filter((r) => !r.hidden).map((r) => robot(r, heads)) };
		}),
	};
})()`

// read returns what the page says.
func (b *tab) read(t *testing.T) shown {
	t.Helper()
	return value[shown](t, b, readPage)
}

// figure returns the number before a word of what is seen first.
func (s shown) figure(t *testing.T, word string) int {
	t.Helper()
	found := regexp.MustCompile(`(\d+) ` + word).FindStringSubmatch(s.Glance)
	if found == nil {
		t.Fatalf("%q: got no number of %q", s.Glance, word)
	}
	n, err := strconv.Atoi(found[1])
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// column returns a column of the table of the first site.
func (s shown) column(name string) []string {
	var values []string
	for _, robot := range s.Sites[0].Robots {
		values = append(values, robot[name])
	}
	return values
}

// The robots of the log that is replayed, and how often they asked for pages and for
// disallowed ones.
var logged = []struct {
	agent, robot string
	pages, bad   int
}{
	{"GPTBot/1.2", "GPTBot", 0, 130},
	{"Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)", "bingbot", 90, 20},
	{"CCBot/2.0 (https://commoncrawl.org/faq/)", "CCBot", 140, 0},
	{"Bytespider", "Bytespider", 40, 9},
	{"<script>alert(1)</script>bot/1.0", "script", 10, 8},
}

// replayedPage writes the page of a replay and returns its address.
func replayedPage(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	write(t, filepath.Join(folder, "robots.txt"), `# <script>alert(2)</script> "quotes" 'and'
User-agent: *
Disallow: /private/

User-agent: GPTBot
Disallow: /
`)
	hostile := []string{`/private/"><script>alert(3)</script>`, `/private/'"quoted"'`, "/private/"}
	var log strings.Builder
	at := time.Date(2026, 11, 14, 0, 0, 0, 0, time.UTC)
	for _, r := range logged {
		for i := range r.pages + r.bad {
			path := "/page/" + strconv.Itoa(i)
			if i < r.bad {
				path = hostile[i%len(hostile)]
			}
			at = at.Add(23 * time.Minute)
			fmt.Fprintf(&log, "203.0.113.7 - - [%s] \"GET %s HTTP/1.1\" 200 5 \"-\" \"%s\"\n",
				at.Format("02/Jan/2006:15:04:05 -0700"), strings.ReplaceAll(path, `"`, `\"`), r.agent)
		}
	}
	write(t, filepath.Join(folder, "access.log"), log.String())
	got := runCommand(t, folder, nil, "replay", "--robots-txt", "robots.txt", "--html", "page.html", "access.log")
	if got.status != 0 || got.err != "" {
		t.Fatalf("replay: got status %d and %q", got.status, got.err)
	}
	return "file://" + filepath.Join(folder, "page.html")
}

// saysWhatWasLogged fails the test unless the page says what replayedPage had replayed.
func saysWhatWasLogged(t *testing.T, s shown) {
	t.Helper()
	if len(s.Sites) != 1 || len(s.Sites[0].Robots) != len(logged) {
		t.Fatalf("got %+v, want one site of %d robots", s, len(logged))
	}
	requests, against := 0, 0
	for _, r := range logged {
		requests, against = requests+r.pages+r.bad, against+r.bad
		i := slices.Index(s.column("Robot"), r.robot)
		if i < 0 {
			t.Errorf("robots: got %q, want %q among them", s.column("Robot"), r.robot)
			continue
		}
		row := s.Sites[0].Robots[i]
		if row["Requests"] != strconv.Itoa(r.pages+r.bad) || row["Disallowed"] != strconv.Itoa(r.bad) {
			t.Errorf("%s: got %s requests and %s disallowed, want %d and %d", r.robot, row["Requests"], row["Disallowed"], r.pages+r.bad, r.bad)
		}
	}
	for word, want := range map[string]int{"robots": len(logged), "judged": requests, "against the rules": against} {
		if got := s.figure(t, word); got != want {
			t.Errorf("%s: got %d, want %d", word, got, want)
		}
	}
}

func TestAReplayedPageSaysWhatWasLogged(t *testing.T) {
	t.Parallel()
	for name, how := range map[string]look{"with scripts": {}, "without scripts": {noScripts: true}} {
		t.Run(name, func(t *testing.T) {
			b := open(t, replayedPage(t), how)
			saysWhatWasLogged(t, b.read(t))
			if got, want := value[bool](t, b, `document.querySelector("form.tools").hidden`), how.noScripts; got != want {
				t.Errorf("the filter is hidden: got %t, want %t", got, want)
			}
			b.isClean(t)
		})
	}
}

func TestAReplayedPageIsAccessible(t *testing.T) {
	t.Parallel()
	axe := needAxe(t)
	for name, how := range looks {
		t.Run(name, func(t *testing.T) {
			b := open(t, replayedPage(t), how)
			b.isAccessible(t, axe)
			b.isClean(t)
		})
	}
}

// hostileTexts are texts that would do something if a page took them for markup.
var hostileTexts = []string{
	`<script>alert(1)</script>`, `"><img src=x onerror=alert(2)>`, `' onmouseover='alert(3)`, `</style><script>alert(4)</script>`,
	`javascript:alert(5)`, `</script><script>alert(6)</script>`, `<!--`, `{{.}}`, `&lt;b&gt;`, `<svg onload=alert(7)>`,
}

// Whatever a robot could come to be called, or asks for, is text. A User-Agent is cut before
// it is a name; here it is not.
func TestHostileTextsAreTextsInABrowser(t *testing.T) {
	t.Parallel()
	ledger := compliance.NewLedger(compliance.Options{})
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	var texts strings.Builder
	for i, text := range hostileTexts {
		fmt.Fprintf(&texts, "# %s\n", text)
		for range 3 {
			ledger.Note(&compliance.Event{
				Time: now, Site: "site.test", Robot: text, Class: "robot", Verdict: compliance.Disallowed, Refused: true,
				Version: "v1", Record: text, Line: i + 1, Rule: "Disallow: /" + text, Method: "GET", Path: "/" + text, Address: "203.0.113.7", Status: 403,
			})
		}
	}
	file := filepath.Join(t.TempDir(), "page.html")
	out, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	report := ledger.Snapshot(now)
	report.Sites[0].RobotsTxt = texts.String()
	if err := compliance.WritePage(out, report, compliance.PageOptions{Title: hostileTexts[0], Source: hostileTexts[1]}); err != nil {
		t.Fatal(err)
	}

	b := open(t, "file://"+file, look{})
	if got, want := b.read(t).column("Robot"), hostileTexts; !sameSet(got, want) {
		t.Errorf("robots: got %q, want %q", got, want)
	}
	if got := value[string](t, b, `document.querySelector("h1").textContent`); got != hostileTexts[0] {
		t.Errorf("title: got %q, want %q", got, hostileTexts[0])
	}
	page := value[string](t, b, `document.body.textContent`)
	for _, text := range hostileTexts {
		if !strings.Contains(page, "# "+text) || !strings.Contains(page, "/"+text) {
			t.Errorf("the page does not show %q as text, in robots.txt and as a path", text)
		}
	}
	if got := value[int](t, b, `document.querySelectorAll("script").length`); got != 1 {
		t.Errorf("scripts: got %d, want the page's own", got)
	}
	if got := value[int](t, b, `document.querySelectorAll("img, [onerror], [onload], [onmouseover], a[href^=javascript]").length`); got != 0 {
		t.Errorf("elements that a hostile text made: got %d, want none", got)
	}
	b.isClean(t)
}

func sameSet(a, b []string) bool {
	a, b = slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b))
	return slices.Equal(a, b)
}

// focused says which heading of the table has the keyboard's focus.
const focused = `(document.activeElement.closest("thead th")?.textContent || "").replace(/\u00ad/g, "")`

// sortedBy gives the heading that the table is sorted by, and how.
const sortedBy = `Array.from(document.querySelectorAll("th[aria-sort]"), (th) => th.textContent.replace(/\u00ad/g, "") + " " + th.getAttribute("aria-sort")).join()`

func TestTheTableIsSortedByTheKeyboard(t *testing.T) {
	t.Parallel()
	b := open(t, replayedPage(t), look{})
	b.tabTo(t, focused+` === "Requests"`)
	for _, want := range []struct {
		sorted   string
		requests []string
	}{
		{"Requests descending", []string{"140", "130", "110", "49", "18"}},
		{"Requests ascending", []string{"18", "49", "110", "130", "140"}},
	} {
		b.press(t, kb.Enter, 1)
		if got := value[string](t, b, sortedBy); got != want.sorted {
			t.Errorf("aria-sort: got %q, want %q", got, want.sorted)
		}
		if got := b.read(t).column("Requests"); !slices.Equal(got, want.requests) {
			t.Errorf("%s: got %q, want %q", want.sorted, got, want.requests)
		}
	}
	b.tabTo(t, focused+` === "Disallowed"`)
	b.press(t, " ", 1)
	if got, want := value[string](t, b, sortedBy), "Disallowed descending"; got != want {
		t.Errorf("aria-sort: got %q, want %q", got, want)
	}
	if got, want := b.read(t).column("Disallowed"), []string{"130", "20", "9", "8", "0"}; !slices.Equal(got, want) {
		t.Errorf("disallowed: got %q, want %q", got, want)
	}
	b.isClean(t)
}

func TestTheTableIsFilteredByTheKeyboard(t *testing.T) {
	t.Parallel()
	b := open(t, replayedPage(t), look{})
	b.tabTo(t, `document.activeElement.type === "search"`)
	b.press(t, "bot", 1)
	if got, want := b.read(t).column("Robot"), []string{"GPTBot", "bingbot", "CCBot"}; !sameSet(got, want) {
		t.Errorf("robots with bot: got %q, want %q", got, want)
	}
	b.press(t, kb.Tab, 1)
	b.press(t, " ", 1)
	if got, want := b.read(t).column("Robot"), []string{"GPTBot", "bingbot"}; !sameSet(got, want) {
		t.Errorf("of those, who broke a rule: got %q, want %q", got, want)
	}
	if got, want := value[string](t, b, `document.querySelector("form.tools output").textContent`), "2 of 5"; got != want {
		t.Errorf("how many are left: got %q, want %q", got, want)
	}
	b.isClean(t)
}

// tabTo presses the Tab key until a condition holds.
func (b *tab) tabTo(t *testing.T, condition string) {
	t.Helper()
	for range 100 {
		b.press(t, kb.Tab, 1)
		if value[bool](t, b, condition) {
			return
		}
	}
	t.Fatalf("100 times Tab, and not %s", condition)
}
