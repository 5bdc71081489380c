package caddymodule

import (
	"strings"
	"unsafe"
)

// maxLinks is how long the links of one relation may be together: clients and proxies bound
// the headers that they take. Those beyond are left out.
const maxLinks = 4 << 10

// appendLink appends a link in the form of the Link header (RFC 8288) to others of the same
// header. Its target is base and rest together, which hold only octets of URIs.
func appendLink(text []byte, relation, base, rest string) []byte {
	if len(text) > 0 {
		text = append(text, ", "...)
	}
	text = append(append(append(text, '<'), base...), rest...)
	return append(append(append(text, `>; rel="`...), relation...), '"')
}

// linksTo returns links of one relation to all targets, as far as there is room.
func linksTo(relation string, targets []string) string {
	var text []byte
	for _, target := range targets {
		longer := appendLink(text, relation, target, "")
		if len(longer) > maxLinks {
			break
		}
		text = longer
	}
	return string(text)
}

// hasRelation tells whether any link of the Link headers has the relation.
func hasRelation(headers []string, relation string) bool {
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

// relates tells whether one link has the relation, among others or alone.
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

// view returns b as a string without a copy. Nothing may change b from then on.
func view(b []byte) string {
	return unsafe.String(unsafe.SliceData(b), len(b))
}
