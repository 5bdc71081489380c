package ipranges

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"strings"
	"unicode"
)

const (
	maxJSONDepth  = 32
	maxShownSteps = 6 // of a path in a message
)

// A jsonRanges walks through JSON and gathers the ranges in it, without building the values
// that mean nothing here.
type jsonRanges struct {
	decoder  *json.Decoder
	prefixes []netip.Prefix
	path     []jsonStep
}

// A jsonStep leads into an object, by key, or into an array, by index.
type jsonStep struct {
	key   string
	index int // -1 in an object
	list  listKind
}

// A listKind says what is known of the strings of an array.
type listKind uint8

const (
	unknownList listKind = iota // no string seen, and the key does not tell
	rangeList                   // its strings must be ranges
	otherList                   // its strings are something else
)

func prefixesInJSON(text []byte) ([]netip.Prefix, error) {
	j := &jsonRanges{decoder: json.NewDecoder(bytes.NewReader(text))}
	j.decoder.UseNumber() // a number may be too large for a float, and is none of ours
	if err := j.value(); err != nil {
		return nil, err
	}
	if _, err := j.decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("at byte %d: something follows the end of the JSON: remove it", j.decoder.InputOffset())
	}
	return j.prefixes, nil
}

// value reads the next value whole.
func (j *jsonRanges) value() error {
	token, err := j.token()
	if err != nil {
		return err
	}
	switch token := token.(type) {
	case string:
		return j.text(token)
	case json.Delim:
		if len(j.path) == maxJSONDepth {
			return fmt.Errorf("at byte %d: nested more than %d deep: this is not a list of ranges", j.decoder.InputOffset(), maxJSONDepth)
		}
		if token == '{' {
			return j.object()
		}
		return j.array()
	}
	return nil
}

func (j *jsonRanges) token() (json.Token, error) {
	token, err := j.decoder.Token()
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, fmt.Errorf("the JSON ends early, after %d bytes: fetch it again", j.decoder.InputOffset())
	}
	if err != nil {
		return nil, fmt.Errorf("at byte %d: not well-formed JSON: %w", j.decoder.InputOffset(), err)
	}
	return token, nil
}

func (j *jsonRanges) object() error {
	j.path = append(j.path, jsonStep{index: -1})
	for j.decoder.More() {
		token, err := j.token()
		if err != nil {
			return err
		}
		j.path[len(j.path)-1].key, _ = token.(string)
		if err := j.value(); err != nil {
			return err
		}
	}
	return j.end()
}

func (j *jsonRanges) array() error {
	step := jsonStep{list: rangeList} // a list without a key is all there is
	if n := len(j.path); n > 0 && !namesAddresses(j.path[n-1].key) {
		step.list = unknownList
	}
	j.path = append(j.path, step)
	for j.decoder.More() {
		if err := j.value(); err != nil {
			return err
		}
		j.path[len(j.path)-1].index++
	}
	return j.end()
}

// end reads the bracket that closes an object or array.
func (j *jsonRanges) end() error {
	_, err := j.token()
	j.path = j.path[:len(j.path)-1]
	return err
}

// text reads a string as a range where there must be one. An empty string says that there is none.
func (j *jsonRanges) text(s string) error {
	step := &j.path[len(j.path)-1]
	s = strings.TrimSpace(s)
	inObject := step.index < 0
	if s == "" || inObject && !namesAddresses(step.key) || step.list == otherList {
		return nil
	}
	prefix, err := ParseRange(s)
	if !inObject && step.list == unknownList {
		step.list = rangeList
		if err != nil && !prefix.IsValid() {
			step.list = otherList
			return nil
		}
	}
	if err == nil && len(j.prefixes) == maxRanges {
		err = errTooMany
	}
	if err != nil {
		return fmt.Errorf("%s: %w", j.where(), err)
	}
	j.prefixes = append(j.prefixes, prefix)
	return nil
}

// where writes the path as "prefixes[3].ipv4Prefix", or its end if it is long.
func (j *jsonRanges) where() string {
	var b strings.Builder
	path := j.path
	if skip := len(path) - maxShownSteps; skip > 0 {
		b.WriteString("...")
		path = path[skip:]
	}
	for i, step := range path {
		switch {
		case step.index >= 0:
			fmt.Fprintf(&b, "[%d]", step.index)
		case i > 0:
			b.WriteString("." + clipped(step.key))
		default:
			b.WriteString(clipped(step.key))
		}
	}
	return b.String()
}

// clipped is a key as it is, if it is an ordinary one.
func clipped(key string) string {
	if len(key) <= maxQuotedLength && strings.IndexFunc(key, isNoWord) < 0 {
		return key
	}
	return quoted(key)
}

func isNoWord(c rune) bool {
	return c != '_' && c != '-' && !unicode.IsLetter(c) && !unicode.IsDigit(c)
}

// namesAddresses reports whether a key or a column is named for addresses or ranges: its last
// word says what it holds, so ip_prefix and ipv4Prefix do, and ip_type and description do not.
func namesAddresses(key string) bool {
	if i := strings.LastIndexAny(key, "_- ."); i >= 0 {
		key = key[i+1:]
	}
	if isAddressWord(key) {
		return true
	}
	i := strings.LastIndexFunc(key, unicode.IsUpper)
	return i > 0 && isAddressWord(key[i:])
}

// isAddressWord compares words without a final s, so "addresse" and "prefixe" are plurals.
func isAddressWord(word string) bool {
	word = strings.TrimSuffix(strings.ToLower(word), "s")
	switch word {
	case "ip", "ipv4", "ipv6", "ip4", "ip6", "prefix", "prefixe", "cidr", "cidrv4", "cidrv6",
		"addres", "addresse", "range", "network", "subnet":
		return true
	}
	return false
}
