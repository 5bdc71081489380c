package google

import (
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Where we disallow what Google's parser allows, docs/google.md says why: on each robots.txt in
// the tree, and on the files below ROBOTS_CORPUS, a folder, if that is set.
func TestStricterThanGoogle(t *testing.T) {
	count := make(map[string]int)
	decisions, stricter := 0, 0
	for name, text := range corpus(t) {
		c := compareReadings(text)
		robots, targets := c.robots(text), c.targets()
		for _, robot := range robots {
			for _, target := range targets {
				decisions++
				if c.oursAllowed(robot, target) || !c.allowed(robot, target) {
					continue
				}
				stricter++
				why := c.why(robot, target)
				if why == nil {
					t.Errorf("%s: %s may not fetch %q here, and may by Google's parser: no kind of docs/google.md", name, robot, target)
				}
				count[fmt.Sprint(why)]++
			}
		}
	}
	t.Logf("%d decisions, %d stricter: %v", decisions, stricter, count)
}

var rowOfGoogle = regexp.MustCompile("(?m)^\\| `([a-z-]+)` \\| (`.+`|-) \\| (?:`([^`]+)`|-) \\| (?:`([^`]+)`|-) \\|")

// docs/google.md has each kind once and no other, and its examples are of it.
func TestDocumentedDifferences(t *testing.T) {
	text, err := os.ReadFile("../../docs/google.md")
	if err != nil {
		t.Fatal(err)
	}
	var documented []oddity
	for _, row := range rowOfGoogle.FindAllStringSubmatch(string(text), -1) {
		kind, robot, target := oddity(row[1]), row[3], row[4]
		documented = append(documented, kind)
		if row[2] == "-" {
			continue
		}
		c := compareReadings(strings.Trim(strings.ReplaceAll(row[2], "` `", "\n"), "`"))
		if c.oursAllowed(robot, target) || !c.allowed(robot, target) {
			t.Errorf("%s: allowed here %t, by Google's parser %t; want an example where we are stricter", kind, c.oursAllowed(robot, target), c.allowed(robot, target))
		} else if why := c.why(robot, target); !slices.Equal(why, []oddity{kind}) {
			t.Errorf("%s: the example is of %v", kind, why)
		}
	}
	if !slices.Equal(documented, oddities) {
		t.Errorf("docs/google.md has\n%v, want\n%v", documented, oddities)
	}
}

// corpus returns the robots.txt files of the tests, by file.
func corpus(tb testing.TB) map[string]string {
	tb.Helper()
	all := make(map[string]string)
	folders := map[string]bool{"../../robotsrules/testdata": true, "../../internal/cli/testdata/commands": true}
	if own := os.Getenv("ROBOTS_CORPUS"); own != "" {
		folders[own] = false
	}
	for folder, isCase := range folders {
		err := filepath.WalkDir(folder, func(name string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() || isCase && strings.Contains(name, "/fuzz/") {
				return err
			}
			text, err := os.ReadFile(name)
			if all[name] = string(text); isCase {
				all[name] = robotsTxtIn(string(text))
			}
			return err
		})
		if err != nil {
			tb.Fatal(err)
		}
	}
	if len(all) < 300 {
		tb.Fatalf("found %d robots.txt files, want 300 and more", len(all))
	}
	return all
}

var section = regexp.MustCompile(`(?m)^-- (.+) --\n`)

// robotsTxtIn returns the robots.txt of a case.
func robotsTxtIn(text string) string {
	marks := section.FindAllStringSubmatchIndex(text, -1)
	for i, m := range marks {
		name := text[m[2]:m[3]]
		if !strings.HasPrefix(name, "robots.txt") {
			continue
		}
		end := len(text)
		if i+1 < len(marks) {
			end = marks[i+1][0]
		}
		if text = text[m[1]:end]; !strings.HasSuffix(name, "(quoted)") {
			return text
		}
		var b strings.Builder
		for line := range strings.Lines(text) {
			unquoted, _ := strconv.Unquote(strings.TrimSpace(line))
			b.WriteString(unquoted)
		}
		return b.String()
	}
	return ""
}

const mostAsked = 60

// robots returns the robots to ask for: whom either parser finds named, well-known ones, and two that
// are not named.
func (c *comparison) robots(text string) []string {
	names := []string{"Googlebot", "Googlebot-Image", "bingbot", "GPTBot", "ExampleBot", "examplebot-image"}
	for _, n := range c.lines {
		names = append(names, c.google[n].agents...)
		names = append(names, c.ours[n].agents...)
	}
	for _, line := range strings.Fields(text) {
		if strings.Contains(strings.ToLower(line), "bot") {
			names = append(names, strings.Trim(line, `,;"'()|*`))
		}
	}
	return some(names)
}

// targets returns what to ask for: what the patterns of either parser match and nearly match, as
// they are written and percent-encoded.
func (c *comparison) targets() []string {
	targets := []string{"/", "/index.html", "/a"}
	for _, n := range c.lines {
		for _, r := range []reading{c.google[n], c.ours[n]} {
			if !r.isRule {
				continue
			}
			plain := "/" + strings.TrimLeft(strings.TrimSuffix(strings.ReplaceAll(r.pattern, "*", "x"), "$"), "/")
			plain, _, _ = strings.Cut(plain, "#")
			decoded, err := url.PathUnescape(plain)
			if err != nil {
				decoded = plain
			}
			folder := plain[:strings.LastIndexByte(plain, '/')+1]
			for _, target := range []string{plain, plain + "y", folder, decoded, strings.ReplaceAll(url.QueryEscape(decoded), "%2F", "/")} {
				targets = append(targets, asSent(target))
			}
		}
	}
	return some(targets)
}

// asSent percent-encodes what cannot stand on a request line.
func asSent(target string) string {
	var b strings.Builder
	for i := range len(target) {
		if c := target[i]; c <= ' ' || c > '~' || c == '#' {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// some returns as many different ones of all as are asked for, from all over.
func some(all []string) []string {
	slices.Sort(all)
	all = slices.DeleteFunc(slices.Compact(all), func(s string) bool { return s == "" || s == "*" })
	if len(all) <= mostAsked {
		return all
	}
	var chosen []string
	for i := range mostAsked {
		chosen = append(chosen, all[i*len(all)/mostAsked])
	}
	return chosen
}
