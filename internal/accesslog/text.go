package accesslog

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// blockSize is how much the strings of neighbouring records share.
const blockSize = 4 << 10

// text makes the strings of records. They are cut from blocks, so that a record costs a
// fraction of an allocation.
type text struct {
	block   strings.Builder
	scratch []byte
}

// take returns a string of its own.
func (t *text) take(b []byte) string {
	if t.block.Cap()-t.block.Len() < len(b) {
		t.block.Reset()
		t.block.Grow(max(blockSize, len(b)))
	}
	start := t.block.Len()
	t.block.Write(b)
	return t.block.String()[start:]
}

// json returns what a well-formed JSON string says, and nil for any other value. It is
// valid until the next call.
func (t *text) json(raw []byte) []byte {
	if len(raw) == 0 || raw[0] != '"' {
		return nil
	}
	raw = raw[1 : len(raw)-1]
	if bytes.IndexByte(raw, '\\') < 0 {
		return raw
	}
	t.scratch = appendUnescaped(t.scratch[:0], raw)
	return t.scratch
}

// takeJSON is json, as a string of its own.
func (t *text) takeJSON(raw []byte) string { return t.take(t.json(raw)) }

// quoted returns what a quoted field of the Common Log Format says, which is valid until
// the next call.
func (t *text) quoted(raw []byte) []byte {
	if bytes.IndexByte(raw, '\\') < 0 {
		return raw
	}
	t.scratch = appendUnquoted(t.scratch[:0], raw)
	return t.scratch
}

// controls are the control characters that a letter behind a backslash means.
var controls = [256]byte{'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t', 'v': '\v'}

// appendUnescaped resolves the escapes in the inside of a well-formed JSON string. Bytes
// that are not UTF-8 are kept.
func appendUnescaped(to, raw []byte) []byte {
	for {
		i := bytes.IndexByte(raw, '\\')
		if i < 0 {
			return append(to, raw...)
		}
		to = append(to, raw[:i]...)
		c := raw[i+1]
		raw = raw[i+2:]
		switch {
		case c == 'u':
			var r rune
			r, raw = unescapedRune(raw)
			to = utf8.AppendRune(to, r)
		case controls[c] != 0:
			to = append(to, controls[c])
		default:
			to = append(to, c)
		}
	}
}

// unescapedRune reads the four digits behind \u, and a second \u if both are the halves
// of one character. Half a character is U+FFFD.
func unescapedRune(raw []byte) (r rune, rest []byte) {
	r, rest = hexRune(raw[:4]), raw[4:]
	if !utf16.IsSurrogate(r) {
		return r, rest
	}
	if len(rest) >= 6 && rest[0] == '\\' && rest[1] == 'u' {
		if whole := utf16.DecodeRune(r, hexRune(rest[2:6])); whole != utf8.RuneError {
			return whole, rest[6:]
		}
	}
	return utf8.RuneError, rest
}

func hexRune(digits []byte) rune {
	n, _ := strconv.ParseUint(string(digits), 16, 32) // they are hexadecimal digits
	return rune(n)
}

// appendUnquoted resolves the escapes that Apache (ap_escape_logitem) and nginx write in
// quoted fields. A backslash that begins none of them stands for itself.
func appendUnquoted(to, raw []byte) []byte {
	for {
		i := bytes.IndexByte(raw, '\\')
		if i < 0 || i+1 == len(raw) {
			return append(to, raw...)
		}
		to = append(to, raw[:i]...)
		c := raw[i+1]
		raw = raw[i+2:]
		switch {
		case c == '"' || c == '\\':
			to = append(to, c)
		case controls[c] != 0:
			to = append(to, controls[c])
		case c == 'x' && len(raw) >= 2 && isHex(raw[0]) && isHex(raw[1]):
			to = append(to, byte(hexRune(raw[:2])))
			raw = raw[2:]
		default:
			to = append(to, '\\', c)
		}
	}
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
