package robotsrules_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/robotsrules"
)

// twinState says what the records state of a target, line by line.
func twinState(d robotsrules.Dialect, b *robotsrules.Binding, target string) (s robotsrules.Statement) {
	var usages, signals []robotsrules.Field
	v2 := false
	for _, g := range b.Groups() {
		v2 = g.Version().Major >= 2 && d != robotsrules.NoRobots1994
		usages, signals = append(usages, g.ContentUsages()...), append(signals, g.ContentSignals()...)
		for _, r := range g.Noindex() {
			if matchesTarget(d, v2, r.Pattern(), twinTarget(target)) && (s.Noindex == nil || twinOutranks(d, v2, r.Pattern(), s.Noindex.Pattern())) {
				s.Noindex = r
			}
		}
	}
	if b.Decide(target).Allowed() {
		s.Usage, s.Signal = twinPreference(d, v2, usages, target), twinPreference(d, v2, signals, target)
	}
	return s
}

// twinOutranks says whether a pattern wins over one that stands before it.
func twinOutranks(d robotsrules.Dialect, v2 bool, pattern, before string) bool {
	switch {
	case v2:
		return !strings.Contains(pattern, "*") && strings.Contains(before, "*")
	case d == robotsrules.RFC9309:
		return specificity(pattern) > specificity(before)
	}
	return false
}

type twinLine struct{ pattern, preference string }

// twinPreference is the preference of the line that wins, with those of the lines for
// the same path.
func twinPreference(d robotsrules.Dialect, v2 bool, lines []robotsrules.Field, target string) string {
	var matching []twinLine
	for _, l := range lines {
		path, preference := "", l.Value
		if strings.HasPrefix(l.Value, "/") || strings.HasPrefix(l.Value, "*") {
			path, preference, _ = strings.Cut(strings.ReplaceAll(l.Value, "\t", " "), " ")
		}
		everything := path == ""
		if everything {
			path = "/"
		}
		if twinDictionary(preference) == nil || len(preference) > 2048 ||
			!matchesTarget(d, v2 && !everything, path, twinTarget(target)) && !everything {
			continue
		}
		if everything && v2 {
			path = "/*" // every path; without a star it would be just the one
		}
		matching = append(matching, twinLine{path, strings.Trim(preference, " ")})
	}
	if matching == nil {
		return ""
	}
	best := matching[0]
	for _, m := range matching[1:] {
		if twinOutranks(d, v2, m.pattern, best.pattern) {
			best = m
		}
	}
	same := func(m twinLine) bool {
		return slices.Equal(wildcardElements(d, twinPath(v2, m.pattern)), wildcardElements(d, twinPath(v2, best.pattern)))
	}
	said, joined := []string{}, 0
	for _, m := range matching {
		if same(m) {
			said, joined = append(said, m.preference), joined+1
		}
	}
	if joined == 1 {
		return best.preference
	}
	return twinJoin(said)
}

// twinPath writes a path of a record of version 2.0.0 in the one way there is: of several
// stars behind its literal beginning, and of several at its end, one. In RFC 9309 more
// stars make a path longer, and so another one.
func twinPath(v2 bool, path string) string {
	literal, rest, found := strings.Cut(path, "*")
	if !v2 || !found {
		return path
	}
	open := strings.Trim(rest, "*")
	if open == "" {
		return literal + "*"
	}
	if strings.HasSuffix(rest, "*") {
		open += "*"
	}
	return literal + "*" + open
}

// twinDictionary takes a dictionary apart, nil when it is none.
func twinDictionary(s string) (members []string) {
	const letters, more, word = "abcdefghijklmnopqrstuvwxyz*", "0123456789-_.", "0123456789-_.~:/?!$&'+;=%"
	for _, member := range strings.Split(s, ",") {
		member = strings.Trim(member, " \t")
		key, value, found := strings.Cut(member, "=")
		if key == "" || !strings.Contains(letters, key[:1]) || strings.Trim(key, letters+more) != "" {
			return nil
		}
		if found && (value == "" || strings.Trim(strings.ToLower(value), letters+word) != "" || !ascii(value)) {
			return nil
		}
		members = append(members, member)
	}
	return members
}

func ascii(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r > 0x7e || r < ' ' }) < 0
}

// twinJoin keeps, for each key, the member that grants least: the first of those.
func twinJoin(said []string) string {
	var keys []string
	best := make(map[string]string)
	for _, one := range said {
		members := twinDictionary(one)
		for i, member := range members {
			key := twinKey(member)
			if slices.ContainsFunc(members[i+1:], func(later string) bool { return twinKey(later) == key }) {
				if !slices.Contains(keys, key) {
					keys = append(keys, key)
				}
				continue // of one key twice the last counts
			}
			if !slices.Contains(keys, key) {
				keys = append(keys, key)
			}
			if best[key] == "" || twinGrants(member) < twinGrants(best[key]) {
				best[key] = member
			}
		}
	}
	joined := best[keys[0]]
	for _, key := range keys[1:] {
		if len(joined)+2+len(best[key]) <= 2048 {
			joined += ", " + best[key]
		}
	}
	return joined
}

func twinKey(member string) string {
	return strings.Trim(regexp.MustCompile(`^[^=;]*`).FindString(member), " ")
}

func twinGrants(member string) int {
	value := strings.Trim(regexp.MustCompile(`;.*`).ReplaceAllString(member, ""), " ")
	_, value, _ = strings.Cut(value, "=")
	switch strings.Trim(value, " ") {
	case "n", "no", "immediate":
		return 0
	case "y", "yes", "reference":
		return 1
	case "full":
		return 2
	}
	return 3
}

// twinTimeGates asks every Archived line.
func twinTimeGates(f *robotsrules.File, host, target string) (gates []string) {
	for _, g := range f.TimeGates {
		if slices.ContainsFunc(g.Archived, func(a robotsrules.Archived) bool { return twinCovers(a, host, target) }) {
			gates = append(gates, g.URL)
		}
	}
	return gates
}

func twinCovers(a robotsrules.Archived, host, target string) bool {
	if a.All {
		return true
	}
	named, host := lowerASCII(strings.Trim(a.Host, ".")), lowerASCII(host)
	bare := host
	if i := strings.LastIndex(host, ":"); i > strings.LastIndex(host, "]") {
		bare = host[:i]
	}
	bare = strings.TrimSuffix(bare, ".")
	below := a.Suffix && strings.HasSuffix(bare, "."+named)
	if named != host && named != bare && !below {
		return false
	}
	path, asked := bytesIn(robotsrules.RFC9309, a.Path), bytesIn(robotsrules.RFC9309, twinTarget(target))
	return len(asked) >= len(path) && slices.Equal(asked[:len(path)], path)
}

// Files made at random state what the twin reads in them, in every dialect and in
// version 2.0.0.
func TestStatementsAgreeWithTheTwin(t *testing.T) {
	m := newMaker()
	said := 0
	for i := range 2000 / stride() {
		text := "User-agent: *\n"
		if i%4 == 3 {
			text += "Robot-version: 2.0.0\n"
		}
		for range 1 + m.IntN(12) {
			pattern := []string{"/", "/", "/*", "*"}[m.IntN(4)] + m.word([]string{"a", "b", "*", "/", "%61"}, 3)
			preference := []string{"t=n", "t=y", "t=y, s=n", "s=y"}[m.IntN(4)]
			text += []string{
				"Content-Usage: " + pattern + " " + preference, "Content-Usage: " + preference,
				"Content-Signal: " + pattern + "\t" + preference, "Noindex: " + pattern, "Disallow: /b" + pattern,
				"User-agent: *",
			}[m.IntN(6)] + "\n"
		}
		for d := range robotsrules.Dialect(3) {
			file := robotsrules.Parse([]byte(text), robotsrules.Options{Dialect: d})
			b := robotsrules.Compile(file, robotsrules.MatchSubstring).Default()
			for range 20 {
				target := "/" + m.word([]string{"a", "b", "/", "%61", "?", "é"}, 5)
				got, want := b.State(target), twinState(d, b, target)
				if got != want {
					t.Fatalf("%s: %s states of %q: got %s, want %s", d, text, target, statementWord(got), statementWord(want))
				}
				if got != (robotsrules.Statement{}) {
					said++
				}
			}
		}
	}
	if want := 50_000 / stride(); said < want {
		t.Errorf("something was stated %d times, want at least %d", said, want)
	}
}

// Every pair of small Archived lines covers what the twin says.
func TestTimeGatesAgreeWithTheTwin(t *testing.T) {
	values := []string{"*", ".be", ".be/", "be/", "a.be", "a.be/", ".a.be/", "A.be/x", "a.be/%78/", "a.be:80/", ".b.a.be/x", "xa.be/", "[::1]/"}
	hosts := []string{"be", "a.be", "A.BE", "a.be.", "a.be:80", "a.be:81", "b.a.be", "c.b.a.be:80", "xa.be", "abe", "[::1]", "[::1]:80", ""}
	targets := []string{"/", "/x", "/x/y", "/%78/", "/X", "", "/y?/x"}
	covered := 0
	for _, first := range values {
		for _, second := range values {
			text := "TimeGate: http://one.example/\nArchived: " + first + "\nTimeGate: http://two.example/\nArchived: " + second + "\n"
			file := robotsrules.Parse([]byte(text), robotsrules.Options{})
			p := robotsrules.Compile(file, robotsrules.MatchSubstring)
			for _, host := range hosts {
				for _, target := range targets {
					got, want := p.TimeGates(nil, host, target), twinTimeGates(file, host, target)
					if !slices.Equal(got, want) {
						t.Fatalf("%q: TimeGates(%q, %q) = %q, want %q", text, host, target, got, want)
					}
					covered += len(got)
				}
			}
		}
	}
	if covered < 2000 {
		t.Errorf("%d time gates were found, want at least 2000", covered)
	}
}

// FuzzState holds two properties: what a file states is what the twin reads in it; and
// every value that it gives for a header can stand in one.
func FuzzState(f *testing.F) {
	for _, c := range allCases(f) {
		f.Add(c.text, uint8(c.options.Dialect), "a.example", "/a")
	}
	f.Add([]byte(statedFile), uint8(0), "www.example.org:80", "/a/b")
	f.Fuzz(func(t *testing.T, text []byte, dialect uint8, host, target string) {
		d := dialectOf(dialect)
		file := robotsrules.Parse(text, robotsrules.Options{Dialect: d})
		p := robotsrules.Compile(file, robotsrules.MatchSubstring)
		gates := p.TimeGates(nil, host, target)
		for _, uri := range slices.Concat(gates, p.Sitemaps(), p.Licenses()) {
			if strings.Trim(uri, uriBytes) != "" || uri == "" {
				t.Errorf("%q: %q cannot stand in a Link header", text, uri)
			}
		}
		b := p.Default()
		s := b.State(target)
		for _, preference := range []string{s.Usage, s.Signal} {
			if preference != "" && (twinDictionary(preference) == nil || !ascii(strings.ReplaceAll(preference, "\t", " "))) {
				t.Errorf("%q: %q cannot stand in a Content-Usage header", text, preference)
			}
		}
		if tooSlowForTheTwin(file, target) || manyStars(statedPatterns(b)) {
			t.Skip()
		}
		if want := twinState(d, b, target); s != want {
			t.Errorf("%s: %q states of %q\n got %s\nwant %s", d, text, target, statementWord(s), statementWord(want))
		}
	})
}

// uriBytes are what a URI is made of (RFC 3986, appendix A), without the #.
const uriBytes = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~:/?[]@!$&'()*+,;=%"

// statedPatterns returns all that has the pattern of a statement in it.
func statedPatterns(b *robotsrules.Binding) (patterns []string) {
	for _, g := range b.Groups() {
		for _, r := range g.Noindex() {
			patterns = append(patterns, r.Pattern())
		}
		for _, l := range slices.Concat(g.ContentUsages(), g.ContentSignals()) {
			patterns = append(patterns, l.Value)
		}
	}
	return patterns
}
