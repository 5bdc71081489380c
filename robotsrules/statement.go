package robotsrules

import (
	"slices"
	"strings"

	"github.com/caddy-robots/caddy-robots/robotsrules/internal/index"
)

// Statement is what a record says of a target beyond whether it may be fetched. The
// zero value says nothing.
type Statement struct {
	// Usage is the preference of the Content-Usage line with the longest path that
	// matches, such as "train-ai=n", or "" when there is none. Its value is fit for
	// the header of that name, and so is that of Signal.
	Usage string
	// Signal is the same for Content-Signal lines.
	Signal string
	// Noindex is the Noindex line that matches, nil when none does.
	Noindex *Rule
}

// State returns the record's statements about target, which has the form that Decide takes. Paths
// match like those of Allow and Disallow. A target that the record disallows has no preference
// (draft-ietf-aipref-attach, section 3.1). State does not allocate.
func (b *Binding) State(target string) Statement {
	if b == nil || b.record.besides().stated == nil {
		return Statement{}
	}
	if hash := strings.IndexByte(target, '#'); hash >= 0 {
		target = target[:hash]
	}
	rooted := target != "" && target[0] == '/'
	if rooted && (b.record.reading == readNoRobots1994 || isCanonical(target)) {
		return b.state(target)
	}
	return b.stateRewritten(target)
}

// state takes a target in the form that the record's reading compares.
func (b *Binding) state(target string) (s Statement) {
	said, all := b.record.besides().stated, b.record.shared
	if found := all.index.Find(said.noindex, target); found != index.NoRank {
		s.Noindex = all.noindex[uint32(found)]
	}
	usage, signal := all.index.Find(said.usage, target), all.index.Find(said.signal, target)
	if usage == index.NoRank && signal == index.NoRank || !isRobotsTxt(target) && !b.decide(target).Allowed() {
		return s
	}
	if usage != index.NoRank {
		s.Usage = all.preferences[uint32(usage)]
	}
	if signal != index.NoRank {
		s.Signal = all.preferences[uint32(signal)]
	}
	return s
}

// stateRewritten is to State what decideRewritten is to Decide.
func (b *Binding) stateRewritten(target string) Statement {
	var buf [1024]byte
	text, long := b.rewritten(buf[:], target)
	s := b.state(text)
	keepBuffer(long)
	return s
}

// stated is where a record's statements are found, by target.
type stated struct {
	noindex, usage, signal index.Trees
}

// clause is a kind of line that is found by target.
type clause uint8

const (
	clauseRule clause = iota
	clauseNoindex
	clauseUsage
	clauseSignal
)

// statesAnything reports whether a group has lines that state something.
func statesAnything(g *Group) bool {
	return len(g.Noindex()) > 0 || len(g.ContentUsages()) > 0 || len(g.ContentSignals()) > 0
}

// state compiles the statements of the groups with these numbers, nil when they have
// none.
func (s *recordSet) state(ids []int) *stated {
	if !slices.ContainsFunc(ids, func(id int) bool { return statesAnything(s.file.Groups[id]) }) {
		return nil
	}
	return &stated{
		noindex: s.treesOf(ids, clauseNoindex),
		usage:   s.treesOf(ids, clauseUsage),
		signal:  s.treesOf(ids, clauseSignal),
	}
}

// addNoindex compiles the Noindex lines of a group. Of the statements that match, the
// one counts that would decide if all were rules of the same kind.
func (s *recordSet) addNoindex(g *Group) {
	reading := readingOf(s.file.Dialect, g)
	for _, r := range g.Noindex() {
		if counts(r, reading) {
			p := compilePattern(r.Pattern(), reading)
			s.builder.Add(p.Pattern, rankOf(Noindex, &p, reading, len(s.shared.noindex)))
			s.shared.noindex = append(s.shared.noindex, r)
		}
	}
}

// preferencePath is what a preference is stated for: what the pattern matches, and how
// specific it is.
type preferencePath struct {
	index.Pattern
	order index.Rank
}

// addPreferences compiles lines of a group that state preferences. Those of one tree that
// are stated for the same path become one.
func (s *recordSet) addPreferences(g *Group, lines []Field) {
	if s.paths == nil && len(lines) > 0 {
		s.paths = make(map[preferencePath]int)
		if s.said == nil {
			s.said = make(map[int][]string)
		}
	}
	reading, all := readingOf(s.file.Dialect, g), s.shared
	for _, l := range lines {
		path, preference := cutPreference(l.Value)
		p := pattern{index.Pattern{Literal: "/"}, 1} // every path
		switch {
		case !isPreference(preference) || path != "" && !canMatch(path, reading.stars()):
			continue
		case path != "":
			p = compilePattern(path, reading)
		}
		rank := rankOf(Noindex, &p, reading, len(all.preferences))
		key := preferencePath{p.Pattern, rank >> 32}
		if first, found := s.paths[key]; found {
			if s.said[first] == nil {
				s.said[first] = []string{all.preferences[first]}
			}
			s.said[first] = append(s.said[first], preference)
			continue
		}
		s.paths[key] = len(all.preferences)
		s.builder.Add(p.Pattern, rank)
		all.preferences = append(all.preferences, preference)
	}
}

// A Content-Usage line (draft-ietf-aipref-attach, section 3) states, for a path, a
// preference on how content may be used: a dictionary such as "train-ai=n, search=y".
// The path may be left out, which means every path. A Content-Signal line, which has
// other words, is read the same way.

// cutPreference takes the value of such a line apart; the path is "" when the line
// has none.
func cutPreference(value string) (path, preference string) {
	if value == "" || value[0] != '/' && value[0] != '*' {
		return "", value
	}
	end := strings.IndexAny(value, blanks)
	if end < 0 {
		end = len(value)
	}
	return value[:end], trim(value[end:])
}

// isPreference reports whether s is a dictionary of plain words (RFC 9651, section
// 3.2). Such a text can stand in a header as it is.
func isPreference(s string) bool {
	if len(s) > maxStated {
		return false
	}
	for member := range strings.SplitSeq(s, ",") {
		key, word, found := strings.Cut(trim(member), "=")
		if !isKey(key) || found && !isWord(word) {
			return false
		}
	}
	return true
}

// isKey reports whether s is a key of a dictionary.
func isKey(s string) bool {
	for i := range len(s) {
		c := s[i]
		letter := 'a' <= c && c <= 'z' || c == '*'
		if !letter && (i == 0 || !('0' <= c && c <= '9') && strings.IndexByte("-_.", c) < 0) {
			return false
		}
	}
	return s != ""
}

// isWord reports whether s is a bare word, with parameters behind it or not.
func isWord(s string) bool {
	for i := range len(s) {
		if !inURI[s[i]] || strings.IndexByte("[]@(),", s[i]) >= 0 {
			return false
		}
	}
	return s != ""
}

// content takes a Content-Usage or Content-Signal line, and keeps what the record, or
// the file, says.
func (p *parser) content(l *line) {
	p.checkPreference(l)
	if p.group == nil {
		p.file.Fields = append(p.file.Fields, l.kept())
		return
	}
	p.body = true
	rest := p.group.open()
	rest.body = true
	if l.field == contentSignal {
		rest.contentSignals = append(rest.contentSignals, l.kept())
		return
	}
	rest.contentUsages = append(rest.contentUsages, l.kept())
}

func (p *parser) checkPreference(l *line) {
	path, preference := cutPreference(l.value)
	d := detail{field: l.field.String(), text: l.value, fix: "train-ai=n"}
	if l.field == contentSignal {
		d.fix = "ai-train=no"
	}
	switch {
	case l.told:
	case len(l.value) > maxStated:
		p.report(l.number, findLongValue, d)
	case preference == "" && path != "":
		d.fix = path + " " + d.fix
		p.report(l.number, findNoPreference, d)
	case !isPreference(preference):
		p.report(l.number, findBadPreference, d)
	case p.group == nil:
		p.report(l.number, p.noRecord(), detail{field: l.field.String(), number: p.blank})
	case path != "" && !canMatch(path, readingOf(p.file.Dialect, p.group).stars()):
		p.report(l.number, findStar, detail{field: l.field.String(), text: path, fix: p.file.Dialect.String()})
	default:
		p.checkVocabulary(l, path, preference)
	}
}
