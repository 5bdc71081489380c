package compliance

import (
	"html/template"
	"net/url"
	"strings"
)

// links makes the addresses of the other parts of a live page: its path, or empty in a file, which
// has no others.
type links string

// newLinks returns the links to a path on the same server, whatever it is.
func newLinks(self string) links {
	if self == "" {
		return ""
	}
	u := url.URL{Path: "/" + strings.TrimLeft(self, "/")}
	return links(u.EscapedPath())
}

// to returns the address of a selection.
func (l links) to(q Selection) string {
	return string(l) + "?" + q.Values().Encode()
}

// robot returns the address of a robot as an attribute: its own page or, in a file, its details. It is empty if
// there is neither.
func (l links) robot(r *Robot, s *Site, detail string) string {
	switch {
	case l != "":
		return template.HTMLEscapeString(l.to(selectionOf(s.Site, r)))
	case detail != "":
		return "#" + detail
	}
	return ""
}
