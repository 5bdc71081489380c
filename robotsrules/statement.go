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

// State returns what the record says of target, which is as Decide has it. Paths
// match as those of Allow and Disallow do. Of a target that the record disallows, it
// states no preference (draft-ietf-aipref-attach, section 3.1). It does not allocate.
func (b *Binding) State(target string) Statement {
	if b == nil || b.record.stated == nil {
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
	said, all := b.record.stated, b.record.shared
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

// states reports whether a group has lines that state something.
func states(g *Group) bool {
	return len(g.Noindex) > 0 || len(g.ContentUsages) > 0 || len(g.ContentSignals) > 0
}

// state compiles the statements of the groups with these numbers, nil when they have
// none.
func (s *recordSet) state(ids []int) *stated {
	if !slices.ContainsFunc(ids, func(id int) bool { return states(s.file.Groups[id]) }) {
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
	for _, r := range g.Noindex {
		if counts(r, reading) {
			p := compilePattern(r.Pattern, reading)
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
			all.preferences[first] = joinPreferences(all.preferences[first], preference)
			continue
		}
		s.paths[key] = len(all.preferences)
		s.builder.Add(p.Pattern, rank)
		all.preferences = append(all.preferences, preference)
	}
}
