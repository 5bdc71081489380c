package compliance

import (
	"bufio"
	_ "embed"
	"html/template"
	"io"
	"strings"
	"time"
)

// PageOptions say what a page shows besides its report. The zero PageOptions are those of a
// page that is written once and kept.
type PageOptions struct {
	// Title is the heading of the page. Default: "What robots did".
	Title string

	// Source says where the figures come from, such as "live" or "replay of access.log".
	Source string

	// RefreshSeconds has a browser that runs scripts fetch the page again that often. Zero or
	// less: never.
	RefreshSeconds int

	// Nonce is that of the Content-Security-Policy that the page is served with; see [CSP].
	// Each answer needs one of its own. Empty for a page that is kept as a file.
	Nonce string

	// Links are shown at the end, such as those to the same report as JSON and CSV.
	Links []Link

	// MaxRobots is how many robots are shown, on all sites together; those that were most
	// disobedient are. Zero or less means 500.
	MaxRobots int

	// Zone is that of times on the page; a browser that runs scripts shows them in its own. Nil means
	// time.Local, the server's.
	Zone *time.Location

	// Self is the path at which a live page is served, empty for a page that is kept as a file. Robots are
	// links to it then, with a query of site, robot, class and standing that says which
	// [Selection] of the report is wanted. A file holds all itself.
	Self string

	// Selection is what was selected of the report. Where it names a robot, the page
	// shows each robot of the report whole instead of a table.
	Selection Selection
}

// Link is a link and what it says.
type Link struct{ Text, Target string }

var (
	//go:embed page.html
	pageHTML string
	//go:embed page.css
	pageCSS string
	//go:embed page.js
	pageJS string

	pageTemplate = template.Must(template.New("page").Parse(pageHTML))
)

// WritePage writes the report as one HTML document, which asks for nothing else and is
// complete without scripts. All that comes from robots and from robots.txt is taken for
// hostile. The Report is not changed.
func WritePage(w io.Writer, r *Report, o PageOptions) error {
	b := bufio.NewWriter(w)
	if err := pageTemplate.Execute(b, newPage(r, &o)); err != nil {
		return err
	}
	return b.Flush()
}

// CSP returns the Content-Security-Policy for a page with this nonce: nothing but its own
// style and script, which may fetch the page again.
func CSP(nonce string) string {
	source := "'nonce-" + safeNonce(nonce) + "'"
	return "default-src 'none'; style-src " + source + "; script-src " + source +
		"; img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
}

// safeNonce returns a nonce without anything that is not Base64: it must not be able to end
// what it stands in.
func safeNonce(nonce string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("+/-_=", r) {
			return r
		}
		return -1
	}, nonce)
}
