// Package google compares what is decided here with Google's own parser, as ported to Go, on every
// robots.txt in the tree: where we are stricter, docs/google.md says why.
package google

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/jimsmart/grobotstxt"

	"github.com/caddy-robots/caddy-robots/robotsrules"
)

// oddity is a kind of line, name or pattern that we read otherwise than Google's parser.
type oddity string

// The rows of docs/google.md. Of a User-agent line the first that fits counts.
const (
	listOfRobots    oddity = "list-of-robots"
	wholeUserAgent  oddity = "whole-user-agent"
	starInName      oddity = "star-in-name"
	versionInName   oddity = "version-in-name"
	otherCharacters oddity = "other-characters"
	partOfName      oddity = "part-of-name"
	recordField     oddity = "record-field"
	missingColon    oddity = "missing-colon"
	longerField     oddity = "longer-field"
	longLine        oddity = "long-line"
	percentEncoding oddity = "percent-encoding"
	indexPage       oddity = "index-page"
	robotVersion    oddity = "robot-version"
)

var oddities = []oddity{
	listOfRobots, wholeUserAgent, starInName, versionInName, otherCharacters, partOfName, recordField,
	missingColon, longerField, longLine, percentEncoding, indexPage, robotVersion,
}

// reading is what a parser takes a line for: the zero value for nothing.
type reading struct {
	agents  []string // whom it names, "*" for all
	isRule  bool
	allow   bool
	pattern string
}

func (r reading) equals(other reading) bool {
	return slices.EqualFunc(r.agents, other.agents, strings.EqualFold) &&
		r.isRule == other.isRule && r.allow == other.allow && canonical(r.pattern, "%/*$") == canonical(other.pattern, "%/*$")
}

// readings are those of a text, by line. With its methods Google's parser fills them.
type readings map[int]reading

func (readings) HandleRobotsStart()                      {}
func (readings) HandleRobotsEnd()                        {}
func (readings) HandleSitemap(int, string)               {}
func (readings) HandleUnknownAction(int, string, string) {}

// HandleUserAgent cuts the name where the original does, behind letters, _ and -: the port reads
// on. A star with a blank behind it is for all.
func (r readings) HandleUserAgent(line int, value string) {
	name := value[:len(value)-len(strings.TrimLeft(value, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-"))]
	if value == "*" || strings.HasPrefix(value, "* ") || strings.HasPrefix(value, "*\t") {
		name = "*"
	}
	r[line] = reading{agents: []string{name}}
}

func (r readings) HandleAllow(line int, pattern string) {
	r[line] = reading{isRule: true, allow: true, pattern: pattern}
}

func (r readings) HandleDisallow(line int, pattern string) {
	r[line] = reading{isRule: true, pattern: pattern}
}

// comparison is one robots.txt as both read it.
type comparison struct {
	file         *robotsrules.File
	policy       *robotsrules.Policy
	google, ours readings
	lines        []int          // that either reads, in order
	odd          map[int]oddity // those that are read differently
	begins       map[int]bool   // where a record begins for us
	versions     bool           // whether a Robot-version says how to read a record
}

func compareReadings(text string) *comparison {
	text = text[:min(len(text), robotsrules.DefaultMaxBytes)] // as much as Googlebot reads
	c := &comparison{google: make(readings), ours: make(readings), odd: make(map[int]oddity), begins: make(map[int]bool)}
	grobotstxt.Parse(text, c.google)
	c.file = robotsrules.Parse([]byte(text), robotsrules.Options{})
	c.policy = robotsrules.Compile(c.file, robotsrules.MatchSubstring)
	for _, g := range c.file.Groups {
		c.begins[g.Line] = true
		c.versions = c.versions || g.Version().Major >= 2 || g.Version().Minor%2 == 1
		for _, t := range g.Tokens {
			r := c.ours[t.Line]
			r.agents = append(r.agents, t.Value)
			c.ours[t.Line] = r
		}
		for _, r := range g.Rules {
			c.ours[r.Line] = reading{isRule: true, allow: r.Kind == robotsrules.Allow, pattern: r.Pattern()}
		}
	}
	both := maps.Clone(c.google)
	maps.Copy(both, c.ours)
	c.lines = slices.Sorted(maps.Keys(both))
	written := strings.Split(lineEnds.Replace(text), "\n")
	for _, n := range c.lines {
		if !c.google[n].equals(c.ours[n]) {
			c.odd[n] = oddityOf(written[n-1])
		}
	}
	return c
}

var (
	lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n")
	version  = regexp.MustCompile(`[ \t]v?[0-9][0-9A-Za-z.]*[ \t]*$`)
)

// oddityOf returns the kind of a line that is read differently.
func oddityOf(line string) oddity {
	if len(line) > 16<<10 {
		return longLine
	}
	line, _, _ = strings.Cut(line, "#")
	field, value, found := strings.Cut(line, ":")
	name, _, _ := strings.Cut(value, "/")
	name = strings.Trim(name, " \t")
	switch lower := strings.ToLower(value); {
	case !found || strings.Contains(field, "/"):
		return missingColon
	case !strings.Contains(strings.ToLower(field), "agent"):
		return longerField
	case strings.Contains(lower, "mozilla") || strings.Contains(lower, "opera"):
		return wholeUserAgent
	case strings.Contains(value, ","):
		return listOfRobots
	case strings.Contains(strings.TrimRight(name, "* \t"), "*") || strings.HasPrefix(name, "* "):
		return starInName
	case version.MatchString(name):
		return versionInName
	}
	return otherCharacters
}

// allowed decides as Google's parser does, but for the oddities that are read as ours does.
func (c *comparison) allowed(robot, target string, asOurs ...oddity) bool {
	is := func(o oddity) bool { return slices.Contains(asOurs, o) }
	if is(robotVersion) && c.versions {
		return c.oursAllowed(robot, target)
	}
	read := func(n int) reading {
		if o, odd := c.odd[n]; odd && is(o) {
			return c.ours[n]
		}
		return c.google[n]
	}
	name := robot
	if is(partOfName) {
		var all []string
		for _, n := range c.lines {
			all = append(all, read(n).agents...)
		}
		name = ""
		if i, found := robotsrules.NewTokens(all, robotsrules.MatchSubstring).Find(robotCalled(robot)); found {
			name = all[i]
		}
	}
	// How long the longest patterns are that match: in the robot's own records, and in those for all.
	type longest struct{ allow, disallow int }
	var own, forAll longest
	var inOwn, inForAll, hasOwn, inRules bool
	for _, n := range c.lines {
		r := read(n)
		if r.agents != nil && (inRules || is(recordField) && c.begins[n]) {
			inOwn, inForAll, inRules = false, false, false
		}
		for _, agent := range r.agents {
			inForAll = inForAll || agent == "*"
			inOwn = inOwn || name != "" && strings.EqualFold(agent, name)
			hasOwn = hasOwn || inOwn
		}
		if !r.isRule || !inOwn && !inForAll {
			continue
		}
		inRules = true
		in := &forAll
		if inOwn {
			in = &own
		}
		if length := matched(r, target, is(percentEncoding), is(indexPage)); r.allow {
			in.allow = max(in.allow, length)
		} else {
			in.disallow = max(in.disallow, length)
		}
	}
	if hasOwn {
		return own.disallow <= own.allow
	}
	return forAll.disallow <= forAll.allow
}

// matched returns how long the pattern of a rule that matches the target is, else 0.
func matched(r reading, target string, decoded, noIndexPage bool) int {
	pattern, length := r.pattern, len(r.pattern)
	if decoded {
		pattern, target = canonical(pattern, "%/*$"), strings.NewReplacer("*", "%2A", "$", "%24").Replace(canonical(target, "%/*$"))
		length = len(canonical(pattern, "%/"))
		if body, isAnchored := strings.CutSuffix(pattern, "$"); isAnchored {
			pattern = strings.ReplaceAll(body, "$", "%24") + "$"
		} else {
			pattern = strings.ReplaceAll(pattern, "$", "%24")
		}
	}
	if grobotstxt.Matches(target, pattern) {
		return length
	}
	slash := strings.LastIndexByte(pattern, '/')
	if r.allow && !noIndexPage && slash >= 0 && strings.HasPrefix(pattern[slash:], "/index.htm") && grobotstxt.Matches(target, pattern[:slash+1]+"$") {
		return slash + 2
	}
	return 0
}

// canonical returns a path or pattern with escapes for what is no visible ASCII and, where it was
// escaped, for the bytes of keep. A % is always escaped.
func canonical(path, keep string) string {
	var b strings.Builder
	for i := 0; i < len(path); i++ {
		c, escaped := path[i], false
		if c == '%' && i+2 < len(path) {
			high, low := strings.IndexByte(digits, path[i+1]|0x20), strings.IndexByte(digits, path[i+2]|0x20)
			if high >= 0 && low >= 0 {
				c, escaped = byte(high<<4|low), true
				i += 2
			}
		}
		if c <= ' ' || c > '~' || c == '%' || escaped && strings.IndexByte(keep, c) >= 0 {
			b.WriteString(strings.ToUpper("%" + digits[c>>4:c>>4+1] + digits[c&15:c&15+1]))
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

const digits = "0123456789abcdef"

// robotCalled returns a robot that says nothing of itself but its name.
func robotCalled(name string) robotsrules.Robot {
	return robotsrules.Robot{UserAgent: name, Name: name, Products: []string{name}}
}

func (c *comparison) oursAllowed(robot, target string) bool {
	return c.policy.Bind(robotCalled(robot)).Decide(target).Allowed()
}

// why returns the fewest oddities that explain why we disallow what Google's parser allows, nil
// where not even all of them do.
func (c *comparison) why(robot, target string) []oddity {
	for i, one := range oddities {
		if !c.allowed(robot, target, one) {
			return oddities[i : i+1]
		}
	}
	for i, one := range oddities {
		for _, other := range oddities[i+1:] {
			if !c.allowed(robot, target, one, other) {
				return []oddity{one, other}
			}
		}
	}
	if !c.allowed(robot, target, oddities...) {
		return oddities
	}
	return nil
}
