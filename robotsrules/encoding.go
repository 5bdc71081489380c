package robotsrules

import "strings"

// Patterns and targets are compared in one canonical text, so that every byte
// equals its percent-encoding (RFC 9309, section 2.2.2; the 1996 draft, section
// 3.2.2): visible ASCII stands for itself, every other byte and the % itself
// are %XX with capital digits. An encoded slash stays %2F, as it is not the
// slash that divides a path.

const capitalHex = "0123456789ABCDEF"

// plain has the bytes that stand for themselves.
var plain = func() (t [256]bool) {
	for c := 0x21; c <= 0x7E; c++ {
		t[c] = c != '%'
	}
	return t
}()

// isCanonical reports whether s is canonical text.
func isCanonical(s string) bool {
	i := 0
	for ; i+8 <= len(s); i += 8 {
		if !arePlain(s[i : i+8]) {
			break
		}
	}
	for ; i < len(s); i++ {
		if !plain[s[i]] && (s[i] != '%' || !isCanonicalEscape(s[i:])) {
			return false
		}
	}
	return true
}

// arePlain reports whether the first eight bytes of s are plain. It looks at them as one number, in
// each byte of which a borrow or a carry shows what is out of bounds.
func arePlain(s string) bool {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	_ = s[7]
	w := uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
	percent := w ^ '%'*ones
	below := (w - 0x21*ones) | (percent - ones) // what is less than '!', or is '%'
	above := w + ones | w                       // what is more than '~'
	return (below|above)&highs == 0
}

func isCanonicalEscape(s string) bool {
	c, ok := unescape(s)
	if !ok || plain[c] && c != '/' {
		return false
	}
	return s[1] == capitalHex[c>>4] && s[2] == capitalHex[c&15]
}

// unescape returns the byte that the %XX at the beginning of s stands for.
func unescape(s string) (c byte, ok bool) {
	if len(s) < 3 {
		return 0, false
	}
	high, ok1 := hexDigit(s[1])
	low, ok2 := hexDigit(s[2])
	return high<<4 | low, ok1 && ok2
}

func hexDigit(c byte) (byte, bool) {
	switch {
	case '0' <= c && c <= '9':
		return c - '0', true
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10, true
	case 'A' <= c && c <= 'F':
		return c - 'A' + 10, true
	}
	return 0, false
}

// appendCanonical appends the canonical text of s to dst.
func appendCanonical(dst []byte, s string) []byte {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == '%' {
			if decoded, ok := unescape(s[i:]); ok {
				c = decoded
				i += 2
				if c == '/' {
					dst = append(dst, "%2F"...)
					continue
				}
			}
		}
		if plain[c] {
			dst = append(dst, c)
		} else {
			dst = append(dst, '%', capitalHex[c>>4], capitalHex[c&15])
		}
	}
	return dst
}

// maxGrowth is how many bytes one byte can become in canonical text.
const maxGrowth = 3

// isRobotsTxt reports whether target is /robots.txt, however it is encoded, without a
// query: behind one an application may have any other page.
func isRobotsTxt(target string) bool {
	const path = "/robots.txt"
	rest := strings.TrimPrefix(target, "/")
	for i := 1; i < len(path); i++ {
		if rest == "" {
			return false
		}
		c, n := rest[0], 1
		if c == '%' {
			if decoded, ok := unescape(rest); ok {
				c, n = decoded, 3
			}
		}
		if c != path[i] {
			return false
		}
		rest = rest[n:]
	}
	return rest == "" || rest[0] == '#'
}
