package enforce

import (
	"slices"
	"strings"

	"github.com/caddy-robots/caddy-robots/robotsrules"
)

// IsSpelledBy reports whether the target, which a server may take for another one, stands in the
// pattern of an Allow just so: with all that makes it odd, in its order, such as the "%2F" of
// "Allow: /a%2Fb.html". Then its owner means it, and the rule decides about no other reading. What a
// plain "Allow: /" or the "/a%2F" of a pattern allows beyond that, it does not spell.
func (r *Request) IsSpelledBy(rule *robotsrules.Rule) bool {
	if rule == nil || rule.Kind != robotsrules.Allow || strings.Contains(r.Target, "#") {
		return false // no pattern can spell a "#"
	}
	odd := oddForms(r.Target)
	return len(odd) > 0 && slices.Equal(odd, oddForms(strings.TrimRight(rule.Pattern(), "*$")))
}

// oddForms returns all that makes a server take a path, or the pattern of one, for another, in its
// order: encoded slashes, empty segments, "." and "..". A dot may be encoded (RFC 3986, section
// 6.2.2.2).
func oddForms(path string) (odd []string) {
	path, _, _ = strings.Cut(decodeDots(path), "?") // there is no "#"
	for first := true; ; first = false {
		end, length := nextSlash(path)
		segment := path[:end]
		switch {
		case segment == "" && !first && length > 0:
			odd = append(odd, "//")
		case segment == "." || segment == "..":
			odd = append(odd, segment)
		}
		if length == 0 {
			return odd
		}
		if length > 1 {
			odd = append(odd, "%2F")
		}
		path = path[end+length:]
	}
}

// nextSlash returns where the next slash begins, encoded or not, and its length; the end and 0 if
// there is none.
func nextSlash(path string) (at, length int) {
	for i := range len(path) {
		switch {
		case path[i] == '/':
			return i, 1
		case path[i] == '%' && len(path) > i+2 && path[i+1] == '2' && path[i+2]|0x20 == 'f':
			return i, 3
		}
	}
	return len(path), 0
}
