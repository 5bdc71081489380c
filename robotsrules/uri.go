package robotsrules

import (
	"slices"
	"strings"
)

// maxStated is how long a value may be that is repeated in a header.
const maxStated = 2 << 10

// inURI has the bytes that stand for themselves in a URI (RFC 3986, section 2),
// but for the # that begins a fragment. None of them ends a header field or the <>
// around the target of a link.
var inURI = func() (t [256]bool) {
	for c := '0'; c <= 'z'; c++ {
		t[c] = '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c
	}
	for _, c := range "-._~:/?[]@!$&'()*+,;=%" {
		t[c] = true
	}
	return t
}()

// AppendURI appends s to dst and percent-encodes every byte that a URI cannot have (RFC 3986,
// section 2), and the #, since s is a URI without a fragment. Bytes that are encoded already stay
// as they are.
func AppendURI(dst []byte, s string) []byte {
	from := 0
	for i := range len(s) {
		if c := s[i]; !inURI[c] {
			dst = append(append(dst, s[from:i]...), '%', capitalHex[c>>4], capitalHex[c&15])
			from = i + 1
		}
	}
	return append(dst, s[from:]...)
}

// isURI reports whether s holds only bytes of URIs.
func isURI(s string) bool {
	for i := range len(s) {
		if !inURI[s[i]] {
			return false
		}
	}
	return true
}

// isLink reports whether s can be the target of a link: an absolute http or https
// URI, or a path of this site.
func isLink(s string) bool {
	local := strings.HasPrefix(s, "/") && !strings.HasPrefix(s, "//")
	return (local || isHTTP(s)) && isURI(s) && len(s) <= maxStated
}

// checkLink complains about the value of a Sitemap or License line that cannot be
// the target of a link.
func (p *parser) checkLink(l *line) {
	links := strings.FieldsFunc(l.value, func(r rune) bool { return strings.ContainsRune(blanks+quotes+",;|<>", r) })
	links = slices.DeleteFunc(links, func(link string) bool { return !isHTTP(link) || !isLink(link) })
	if l.told || len(links) < 2 && isHTTP(l.value) && isLink(l.value) {
		return
	}
	d := detail{field: l.field.String(), text: l.value}
	d.fix = string(AppendURI(nil, strings.Trim(l.value, quotes+"<>()[]")))
	switch {
	case len(links) > 1:
		d.fix = linesFor(d.field, links)
		p.report(l.number, findLinks, d)
	case isLink(l.value):
		p.report(l.number, findRelative, d)
	case len(l.value) > maxStated:
		p.report(l.number, findLongValue, d)
	case isLink(d.fix):
		p.report(l.number, findNotURI, d)
	default:
		d.fix = `the whole address, such as "` + d.field + `: https://example.com/..."`
		if rest, scheme := cutScheme(l.value); isHTTP("https://"+rest) && (scheme || strings.HasPrefix(rest, "www.")) && isLink("https://"+rest) {
			d.fix = `"` + d.field + ": https://" + rest + `"`
		}
		p.report(l.number, findNoLink, d)
	}
}

// Sitemaps returns the addresses in Sitemap lines that can be the target of a link, once each and
// in file order. The caller must not change it.
func (p *Policy) Sitemaps() []string {
	if p == nil {
		return nil
	}
	return p.sitemaps
}

// Licenses returns the addresses in License lines, as Sitemaps does.
func (p *Policy) Licenses() []string {
	if p == nil {
		return nil
	}
	return p.licenses
}

// linksIn returns the values of the fields with this name, of all when it is "", that
// can be the target of a link, each once.
func linksIn(fields []Field, name string) []string {
	var links []string
	seen := make(map[string]bool)
	for _, f := range fields {
		if (name == "" || fold(f.Name) == name) && isLink(f.Value) && !seen[f.Value] {
			seen[f.Value] = true
			links = append(links, f.Value)
		}
	}
	return links
}
