package policies

import (
	"net/url"
	"slices"
	"strings"

	"github.com/caddy-robots/caddy-robots/internal/proof/ipranges"
	"github.com/caddy-robots/caddy-robots/robotsrules"
)

// Statements is a set of kinds of statements in a robots.txt that can be repeated as response
// headers. The zero value has none.
type Statements uint8

// The kinds of statements.
const (
	TimeGates Statements = 1 << iota
	ContentUsage
	Noindex
	Sitemaps
	Licenses
)

// MaxLinks is how many bytes the links of one relation may have together: clients and proxies
// bound the headers that they take. Those beyond are left out.
const MaxLinks = 4 << 10

// statementsOf returns the kinds of statements that the file has any of.
func statementsOf(file *robotsrules.File, compiled *robotsrules.Policy) (all Statements) {
	note := func(kind Statements, n int) {
		if n > 0 {
			all |= kind
		}
	}
	note(TimeGates, len(file.TimeGates))
	note(Sitemaps, len(compiled.Sitemaps()))
	note(Licenses, len(compiled.Licenses()))
	for _, group := range file.Groups {
		note(ContentUsage, len(group.ContentUsages())+len(group.ContentSignals()))
		note(Noindex, len(group.Noindex()))
	}
	return all
}

// AppendLink appends a link in the form of the Link header (RFC 8288) to others of the same
// header. Its target is base and rest together, which hold only bytes of URIs.
func AppendLink(text []byte, relation, base string, rest []byte) []byte {
	if len(text) > 0 {
		text = append(text, ", "...)
	}
	text = append(append(append(text, '<'), base...), rest...)
	return append(append(append(text, `>; rel="`...), relation...), '"')
}

// isInternal reports whether a URL leads to no host of the public internet.
func isInternal(address string) bool {
	u, err := url.Parse(address)
	return err != nil || !ipranges.IsPublicHost(u.Hostname())
}

// AppendTimeGates appends the time gates that answer for a resource, as
// [robotsrules.Policy.TimeGates] does, without those that are not to be told of.
func (rs *Rules) AppendTimeGates(dst []string, host, target string) []string {
	dst = rs.Compiled.TimeGates(dst, host, target)
	if len(rs.hidden) == 0 {
		return dst
	}
	return slices.DeleteFunc(dst, func(gate string) bool { return slices.Contains(rs.hidden, gate) })
}

// typeOfLicense is the type of what a License line names (RSL 1.0).
const typeOfLicense = `; type="application/rsl+xml"`

// linksTo returns links of one relation to all targets, as far as there is room. Each ends in the
// attributes.
func linksTo(relation, attributes string, targets []string) string {
	var text []byte
	for _, target := range targets {
		longer := append(AppendLink(text, relation, target, nil), attributes...)
		if len(longer) > MaxLinks {
			break
		}
		text = longer
	}
	return string(text)
}

// HasRelation reports whether any link of the Link headers has the relation (RFC 8288).
func HasRelation(headers []string, relation string) bool {
	for _, links := range headers {
		for links != "" {
			var link string
			link, links = cutUnquoted(links, ',')
			if relates(link, relation) {
				return true
			}
		}
	}
	return false
}

// relates reports whether one link has the relation, among others or alone.
func relates(link, relation string) bool {
	for link != "" {
		var parameter string
		parameter, link = cutUnquoted(link, ';')
		name, value, _ := strings.Cut(parameter, "=")
		if !strings.EqualFold(strings.TrimSpace(name), "rel") {
			continue
		}
		for word := range strings.FieldsSeq(strings.Trim(strings.TrimSpace(value), `"`)) {
			if strings.EqualFold(word, relation) {
				return true
			}
		}
	}
	return false
}

// cutUnquoted cuts s at the first separator that stands neither between quotes nor in the
// target of a link.
func cutUnquoted(s string, separator byte) (before, after string) {
	var until byte // what ends the part in which a separator is none
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case until == '"' && c == '\\':
			i++
		case until != 0:
			if c == until {
				until = 0
			}
		case c == '"':
			until = '"'
		case c == '<':
			until = '>'
		case c == separator:
			return s[:i], s[i+1:]
		}
	}
	return s, ""
}
