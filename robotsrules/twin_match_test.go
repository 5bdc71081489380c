package robotsrules_test

import (
	"strings"

	"github.com/caddy-robots/caddy-robots/robotsrules"
)

// This half of the twin says what a single pattern matches, and how long it is.

// twinTarget cuts the fragment and supplies a missing path.
func twinTarget(target string) string {
	target, _, _ = strings.Cut(target, "#")
	if !strings.HasPrefix(target, "/") {
		return "/" + target
	}
	return target
}

// usable says whether a pattern can match at all: it begins with a slash, or,
// where `*` is a wildcard, with one.
func usable(v2 bool, d robotsrules.Dialect, pattern string) bool {
	wildcards := v2 || d == robotsrules.RFC9309
	return strings.HasPrefix(pattern, "/") || wildcards && strings.HasPrefix(pattern, "*")
}

// matchesTarget says whether a pattern matches a whole target.
func matchesTarget(d robotsrules.Dialect, v2 bool, pattern, target string) bool {
	if !usable(v2, d, pattern) {
		return false
	}
	var elements []int
	switch {
	case v2:
		elements = wildcardElements(d, pattern)
	case d == robotsrules.RFC9309 && strings.HasSuffix(pattern, "$"):
		elements = wildcardElements(d, strings.TrimSuffix(pattern, "$"))
	case d == robotsrules.RFC9309:
		elements = append(wildcardElements(d, pattern), star)
	default:
		elements = append(bytesIn(d, pattern), star)
	}
	return matchElements(elements, bytesIn(d, target))
}

// star is any number of bytes, encodedSlash the byte "%2F", which is not the
// slash that parts segments; every other element is a byte.
const (
	star         = -1
	encodedSlash = -2
)

// matchElements is the definition of a wildcard, written as a recursion.
func matchElements(pattern, target []int) bool {
	switch {
	case len(pattern) == 0:
		return len(target) == 0
	case pattern[0] == star && len(pattern) > 1 && pattern[1] == star:
		return matchElements(pattern[1:], target) // two stars are one; a plain recursion would take exponential time
	case pattern[0] == star:
		for i := range len(target) + 1 {
			if matchElements(pattern[1:], target[i:]) {
				return true
			}
		}
		return false
	}
	return len(target) > 0 && pattern[0] == target[0] && matchElements(pattern[1:], target[1:])
}

// wildcardElements reads a pattern in which a raw `*` is a wildcard.
func wildcardElements(d robotsrules.Dialect, pattern string) []int {
	var elements []int
	for i, part := range strings.Split(pattern, "*") {
		if i > 0 {
			elements = append(elements, star)
		}
		elements = append(elements, bytesIn(d, part)...)
	}
	return elements
}

// bytesIn decodes every `%xx`, except in the standard of 1994, which compares
// what is written.
func bytesIn(d robotsrules.Dialect, s string) []int {
	out := make([]int, 0, len(s))
	for i := 0; i < len(s); i++ {
		if d == robotsrules.NoRobots1994 || s[i] != '%' || i+2 >= len(s) || !isHex(s[i+1]) || !isHex(s[i+2]) {
			out = append(out, int(s[i]))
			continue
		}
		value := hexValue(s[i+1])<<4 | hexValue(s[i+2])
		if value == '/' {
			value = encodedSlash
		}
		out = append(out, value)
		i += 2
	}
	return out
}

func isHex(c byte) bool { return strings.IndexByte("0123456789abcdefABCDEF", c) >= 0 }

func hexValue(c byte) int {
	return strings.IndexByte("0123456789abcdef", lowerASCII(string(c))[0])
}

// specificity counts the bytes of a pattern in its shortest honest spelling:
// printable ASCII as itself, everything else as `%xx`.
func specificity(pattern string) int {
	n := 0
	for _, o := range bytesIn(robotsrules.RFC9309, pattern) {
		if o > ' ' && o < 0x7f && o != '%' {
			n++
		} else {
			n += len("%xx")
		}
	}
	return n
}
