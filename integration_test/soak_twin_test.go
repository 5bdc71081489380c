//go:build soak

package integration

import (
	"path"
	"strings"
)

// creed is a robots.txt as the twin of this module reads it: slowly, and by the words of RFC
// 9309 alone. It reads the plain texts of the soak, no others: fields as they are documented,
// no percent-encoding in patterns.
type creed struct {
	text    string
	records []record
}

// record is the rules of the robots that have one of the tokens in their User-Agent.
type record struct {
	tokens []string // in small letters
	rules  []rule
}

type rule struct {
	allow   bool
	pattern string
}

// creedOf reads a text. A web page, whose first byte is that of a tag, has no records.
func creedOf(text string) *creed {
	c := &creed{text: text}
	if strings.HasPrefix(text, "<") {
		return c
	}
	for line := range strings.Lines(text) {
		field, value, found := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		if !found {
			continue
		}
		last := len(c.records) - 1
		switch strings.ToLower(strings.TrimSpace(field)) {
		case "user-agent":
			if last < 0 || len(c.records[last].rules) > 0 {
				c.records = append(c.records, record{})
				last++
			}
			c.records[last].tokens = append(c.records[last].tokens, strings.ToLower(value))
		case "allow", "disallow":
			if last >= 0 {
				c.records[last].rules = append(c.records[last].rules, rule{strings.EqualFold(field, "allow"), value})
			}
		}
	}
	return c
}

// visitor is a client as the twin knows it, which is told and guesses nothing.
type visitor struct {
	agent string // its User-Agent
	reach reach
}

// reach is how far robots.txt may bind a visitor.
type reach int

const (
	person reach = iota // by nothing
	robot               // by the record that names it, else by that of *
	app                 // by the record that names it
	nobody              // no record names it: by that of *
)

// binding returns the rules that bind v: those of all records of the longest token that occurs
// in its User-Agent, and of an app is its name.
func (c *creed) binding(v visitor) []rule {
	agent, longest := strings.ToLower(v.agent), ""
	for _, r := range c.records {
		for _, token := range r.tokens {
			named := v.reach == robot && strings.Contains(agent, token) ||
				v.reach == app && strings.HasPrefix(agent, token+"/")
			if token != "*" && named && len(token) > len(longest) {
				longest = token
			}
		}
	}
	if longest == "" && (v.reach == robot || v.reach == nobody) {
		longest = "*"
	}
	var rules []rule
	for _, r := range c.records {
		for _, token := range r.tokens {
			if token == longest && longest != "" {
				rules = append(rules, r.rules...)
				break
			}
		}
	}
	return rules
}

// refuses tells whether v may not fetch the target: as it is spelt, or as a file server
// would find it.
func (c *creed) refuses(v visitor, target string) bool {
	file, query, asks := strings.Cut(unescaped(target), "?")
	if file == "/robots.txt" {
		return false
	}
	found := path.Clean(file)
	if strings.HasSuffix(file, "/") && found != "/" {
		found += "/"
	}
	if asks {
		file, found = file+"?"+query, found+"?"+query
	}
	rules := c.binding(v)
	return forbids(rules, file) || forbids(rules, found)
}

// forbids tells what the rule with the longest pattern says, and Allow of two as long.
func forbids(rules []rule, target string) bool {
	longest, allow := 0, true
	for _, r := range rules {
		if length := len(r.pattern); fits(r.pattern, target) && (length > longest || length == longest && r.allow) {
			longest, allow = length, r.allow
		}
	}
	return !allow
}

// fits tells whether a pattern matches a target. An empty one matches nothing.
func fits(pattern, target string) bool {
	switch {
	case pattern == "":
		return false
	case pattern == "$":
		return target == ""
	case pattern[0] == '*':
		for i := range len(target) + 1 {
			if pattern == "*" || fits(pattern[1:], target[i:]) {
				return true
			}
		}
		return false
	case target == "" || pattern[0] != target[0]:
		return false
	default:
		return pattern[1:] == "" || fits(pattern[1:], target[1:])
	}
}

// unescaped returns a target with its percent-encoded letters, all that the soak encodes, as they
// are.
func unescaped(target string) string {
	var plain strings.Builder
	for i := 0; i < len(target); i++ {
		if c, ok := letter(target[i:]); ok {
			plain.WriteByte(c)
			i += len("%61") - 1
			continue
		}
		plain.WriteByte(target[i])
	}
	return plain.String()
}

// letter returns the small letter that text begins with, percent-encoded.
func letter(text string) (c byte, ok bool) {
	const digits = "0123456789abcdef"
	if len(text) < 3 || text[0] != '%' {
		return 0, false
	}
	c = byte(strings.IndexByte(digits, text[1])<<4 + strings.IndexByte(digits, text[2]))
	return c, c >= 'a' && c <= 'z'
}
