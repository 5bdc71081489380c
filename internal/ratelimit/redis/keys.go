package redis

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/caddy-robots/caddy-robots/internal/ratelimit"
)

const (
	// prefix begins every key.
	prefix = "caddy-robots:"

	// bansKey is the stream that tells of bans.
	bansKey = prefix + "bans"

	// nodesKey is the list of nodes that have published something, and nodePrefix begins
	// the keys of that.
	nodesKey   = prefix + "nodes"
	nodePrefix = prefix + "node:"

	// pingKey is what Ping writes to. No budget has it, since a tag of those has slashes.
	pingKey = prefix + "{ping}:" + paceSuffix

	// The suffixes of keys: of a budget, of a ban, and of the offences that count
	// towards one.
	paceSuffix     = "pace"
	banSuffix      = "ban:"
	offencesSuffix = "offences:"

	// maxTag and maxAddress bound the parts of a key, so that none is longer than
	// 200 bytes.
	maxTag     = 110
	maxAddress = 60
)

// appendStem appends what the keys of one budget have in common: the prefix and
// a tag in braces, by which a cluster keeps them together. The tag holds the parts
// of k between slashes.
func appendStem(b []byte, k *ratelimit.Key) []byte {
	b = append(b, prefix+"{"...)
	from := len(b)
	b = appendEscaped(b, k.Site)
	b = appendEscaped(append(b, '/'), k.Robot)
	b = appendEscaped(append(b, '/'), k.Standing)
	b = shorten(b, from, maxTag)
	return append(b, "}:"...)
}

// appendAddress appends an address as the last part of a key.
func appendAddress(b []byte, address string) []byte {
	from := len(b)
	return shorten(appendEscaped(b, address), from, maxAddress)
}

// appendEscaped appends s such that nothing in it can be taken for what stands
// between the parts of a key: other bytes than printable ASCII, and those that
// have a meaning, as % and two hexadecimal digits.
func appendEscaped(b []byte, s string) []byte {
	const digits = "0123456789ABCDEF"
	for i := range len(s) {
		switch c := s[i]; {
		case c <= ' ' || c >= 0x7f, c == '%', c == '/', c == '{', c == '}', c == '#':
			b = append(b, '%', digits[c>>4], digits[c&15])
		default:
			b = append(b, c)
		}
	}
	return b
}

// shorten replaces the end of b[from:], if that is longer than most, by # and a hash
// of all of it. What is not shortened has no #.
func shorten(b []byte, from, most int) []byte {
	if len(b)-from <= most {
		return b
	}
	hash := sha256.Sum256(b[from:])
	const bytes = 20
	b = append(b[:from+most-1-hex.EncodedLen(bytes)], '#')
	return hex.AppendEncode(b, hash[:bytes])
}
