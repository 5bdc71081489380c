package integration

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"golang.org/x/net/html"
)

const loopbackTrap = proxied + `
http://:{$PORT} {
	robots {
		trap /trap/
	}
	respond /robots.txt <<ROBOTS
		User-agent: *
		Disallow: /trap/
		ROBOTS
	header Content-Type "text/html; charset=utf-8"
	respond "<!doctype html><html lang=en><title>A page</title><main><h1>A page</h1></main>"
}
`

// front stands between a browser and Caddy, as a proxy that Caddy trusts: it says that all who come
// have one address, serves a page of its own at /page, and remembers what was asked for.
type front struct {
	*httptest.Server
	mu    sync.Mutex // guards page and asked
	page  string
	asked []string // paths
}

func newFront(t *testing.T, c *caddy) *front {
	t.Helper()
	f := new(front)
	upstream := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(&url.URL{Scheme: "http", Host: c.address()})
		r.Out.Host = r.In.Host
		r.Out.Header.Set("X-Forwarded-For", personal)
	}}
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		f.asked = append(f.asked, r.URL.Path)
		page := f.page
		f.mu.Unlock()
		if r.URL.Path != "/page" {
			upstream.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, page)
	}))
	t.Cleanup(f.Close)
	return f
}

// show has the front serve a page from now on, and forget what was asked for.
func (f *front) show(page string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.page, f.asked = page, nil
}

// wasAsked reports whether a path was asked for.
func (f *front) wasAsked(path string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Contains(f.asked, path)
}

// elsewhere is the front's address as one of another site.
func (f *front) elsewhere() string { return strings.Replace(f.URL, "127.0.0.1", "localhost", 1) }

// trapLink is the link that the documentation has for a page.
func trapLink(t *testing.T) string {
	t.Helper()
	found := regexp.MustCompile("(?ms)^```html\n(.*?)\n```$").FindAllStringSubmatch(read(t, "docs/caddyfile.md"), -1)
	if len(found) != 1 || !strings.Contains(found[0][1], `href="/trap/"`) {
		t.Fatalf("docs/caddyfile.md: got %q, want one HTML with a link to /trap/", found)
	}
	return found[0][1]
}

// pageWithTrap is a page with the link to the trap, style sheets that show whatever they can, and
// two ways to fetch every link ahead: the browser's and a script's.
func pageWithTrap(t *testing.T) string {
	t.Helper()
	return `<!doctype html><html lang="en"><title>A page</title>
<style>[hidden], template, template *, a { display: block !important; visibility: visible !important }</style>
<script type="speculationrules">{"prefetch": [{"source": "document", "where": {"href_matches": "/*"}, "eagerness": "immediate"}]}</script>
<main><h1>A page</h1><p><a href="/first">First</a></p>` + trapLink(t) + `<p><a href="/last">Last</a></p></main>
<script>for (const a of document.querySelectorAll("a")) fetch(a.href + "?ahead")</script>`
}

func TestNobodyInABrowserMeetsTheTrapLink(t *testing.T) {
	t.Parallel()
	axe := needAxe(t)
	c := startWith(t, loopbackTrap, nil)
	f := newFront(t, c)
	f.show(pageWithTrap(t))
	b := open(t, f.URL+"/page", look{})

	// Whoever goes through the links by keyboard, and comes round again.
	var at []string
	for range 6 {
		b.press(t, kb.Tab, 1)
		at = append(at, value[string](t, b, `document.activeElement.getAttribute("href") || ""`))
	}
	for _, want := range []string{"/first", "/last"} {
		if !slices.Contains(at, want) {
			t.Errorf("by Tab one comes to %q, want %s too", at, want)
		}
	}
	// Whoever sees it, and whoever has it read aloud.
	seen := value[string](t, b, "document.body.innerText")
	tree, err := chromedp.Call(b.ctx, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{})
	if err != nil {
		t.Fatal(err)
	}
	var read []string
	for _, node := range tree.Nodes {
		if node.Role != nil && !node.Ignored && string(node.Role.Value) == `"link"` {
			read = append(read, string(node.Name.Value))
		}
	}
	if want := []string{`"First"`, `"Last"`}; !slices.Equal(read, want) || strings.Join(strings.Fields(seen), " ") != "A page First Last" {
		t.Errorf("links that are read aloud: %s, want %s; text that is seen: %q", read, want, seen)
	}
	value[bool](t, b, axe+"; true")
	for _, violation := range value[struct{ Violations []string }](t, b, runAxe).Violations {
		t.Errorf("axe: %s", violation)
	}
	// What fetches ahead has had its time once the other links were fetched.
	for _, path := range []string{"/first", "/last"} {
		eventually(t, path+" is fetched ahead", func() bool { return f.wasAsked(path) })
	}
	if at = append(at, f.asked...); strings.Contains(strings.Join(at, " "), "trap") {
		t.Errorf("the browser came to %q, want nothing of the trap", at)
	}
}

func TestARobotThatReadsPagesMeetsTheTrapLink(t *testing.T) {
	t.Parallel()
	c := startWith(t, loopbackTrap, nil)
	var links []string
	for z := html.NewTokenizer(strings.NewReader(pageWithTrap(t))); z.Next() != html.ErrorToken; {
		token := z.Token()
		if token.Data == "a" && len(token.Attr) > 0 {
			links = append(links, token.Attr[0].Val)
		}
	}
	if want := []string{"/first", "/trap/", "/last"}; !slices.Equal(links, want) {
		t.Fatalf("links: got %q, want %q", links, want)
	}
	for _, link := range links {
		c.expectFrom(t, disguise, "", link, chrome, map[bool]int{true: 403, false: 200}[link == "/trap/"], "")
	}
	if got := c.trapped(t); len(got) != 1 {
		t.Errorf("trapped: got %v, want one", got)
	}
}

// What people do in a browser that ends in the trap, and what pages do to them.
func TestNothingAPersonDoesInABrowserIsTrapped(t *testing.T) {
	t.Parallel()
	c := startWith(t, loopbackTrap, nil)
	f := newFront(t, c)
	b := open(t, f.URL+"/", look{})
	visit := func(address string) func() {
		return func() { b.do(t, chromedp.Navigate(address)) }
	}
	own, other := visit(f.URL+"/page"), visit(f.elsewhere()+"/page")
	click := func() { b.do(t, chromedp.Click("#x")) }
	enter := func() {
		value[bool](t, b, `document.querySelector("#x").focus(), true`)
		b.press(t, kb.Enter, 1)
	}
	for _, tt := range []struct {
		what, page string
		do         []func()
	}{
		{"types the address", "", []func(){visit(f.URL + "/trap/x")}},
		{"loads it again", "", []func(){visit(f.URL + "/trap/x"), func() { f.show(""); b.do(t, chromedp.Reload()) }}},
		{"goes back to it", "", []func(){visit(f.URL + "/trap/x"), visit(f.URL + "/"), func() { value[bool](t, b, "history.back(), true") }}},
		{"clicks a link", `<a id="x" href="{}">go</a>`, []func(){own, click}},
		{"opens a link by keyboard", `<a id="x" href="{}">go</a>`, []func(){own, enter}},
		{"opens a link in a new window", `<a id="x" href="{}" target="_blank">go</a>`, []func(){own, click}},
		{"sends a form", `<form action="{}"><button id="x">go</button></form>`, []func(){own, click}},
		{"presses what a script handles", `<button id="x" onclick="location.href='{}'">go</button>`, []func(){own, click}},
		{"clicks a link of another site", `<a id="x" href="{}">go</a>`, []func(){other, click}},
		{"is sent on by another site", `<meta http-equiv="refresh" content="0;url={}">`, []func(){other}},
		{"is sent on by a script of another site", `<script>location.href = "{}"</script>`, []func(){other}},
		{"sees a picture", `<img alt="" src="{}">`, []func(){own}},
		{"sees a frame", `<iframe title="x" src="{}"></iframe>`, []func(){own}},
		{"sees an object", `<object data="{}"></object>`, []func(){own}},
		{"is shown a style sheet", `<link rel="stylesheet" href="{}">`, []func(){own}},
		{"is sent a script", `<script src="{}"></script>`, []func(){own}},
		{"has a script fetch", `<script>fetch("{}")</script>`, []func(){own}},
		{"has a script fetch as of old", `<script>const x = new XMLHttpRequest(); x.open("GET", "{}"); x.send()</script>`, []func(){own}},
		{"leaves a ping", `<script>navigator.sendBeacon("{}")</script>`, []func(){own}},
		{"has it fetched ahead", `<link rel="prefetch" href="{}">`, []func(){own}},
		{"sees another site's picture", `<img alt="" src="{}">`, []func(){other}},
		{"sees another site's frame", `<iframe title="x" src="{}"></iframe>`, []func(){other}},
	} {
		f.show(`<!doctype html><title>A page</title>` + strings.ReplaceAll(tt.page, "{}", f.URL+"/trap/x"))
		for _, do := range tt.do {
			do()
		}
		eventually(t, "who "+tt.what+" comes to the trap", func() bool { return f.wasAsked("/trap/x") })
		if got := c.trapped(t); len(got) != 0 {
			t.Errorf("who %s is trapped: %v", tt.what, got)
			c.release(t, "DELETE", "?address="+personal)
		}
	}
	// What all that is worth: the same place catches who says nothing.
	c.expectFrom(t, disguise, "", "/trap/x", chrome, 403, "")
}
