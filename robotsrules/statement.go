package robotsrules

import (
	"cmp"
	"slices"
	"strings"
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
	said := b.record.stated
	if found := said.noindex.find(target); found != noRank {
		s.Noindex = said.terms.noindex[uint32(found)]
	}
	usage, signal := said.usage.find(target), said.signal.find(target)
	if usage == noRank && signal == noRank || !isRobotsTxt(target) && !b.decide(target).Allowed() {
		return s
	}
	if usage != noRank {
		s.Usage = said.terms.preferences[uint32(usage)]
	}
	if signal != noRank {
		s.Signal = said.terms.preferences[uint32(signal)]
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
	noindex, usage, signal indexes
	terms                  *terms
}

// terms are the statements of a whole file, by the numbers in the low half of ranks.
type terms struct {
	noindex     []*Rule
	preferences []string
}

// indexes are searched together: those of groups that many records share lie apart.
type indexes []*index

func (x indexes) find(target string) rank {
	best := noRank
	for _, one := range x {
		best = min(best, one.find(target))
	}
	return best
}

// clause is a kind of line that states something.
type clause uint8

const (
	clauseNoindex clause = iota
	clauseUsage
	clauseSignal
	clauses
)

// clausesOf tells which statements a group has.
func clausesOf(g *Group) (has [clauses]bool) {
	has[clauseNoindex] = len(g.Noindex) > 0
	has[clauseUsage] = len(g.ContentUsages) > 0
	has[clauseSignal] = len(g.ContentSignals) > 0
	return has
}

// state compiles the statements of the groups with these numbers, nil when they have
// none.
func (s *recordSet) state(ids []int) *stated {
	said := stated{
		noindex: s.statements(ids, clauseNoindex),
		usage:   s.statements(ids, clauseUsage),
		signal:  s.statements(ids, clauseSignal),
		terms:   &s.terms,
	}
	if said.noindex == nil && said.usage == nil && said.signal == nil {
		return nil
	}
	return &said
}

// statements returns the indexes of one kind of line. Groups in many records have one
// of their own, as for rules.
func (s *recordSet) statements(ids []int, c clause) (found indexes) {
	var entries []entry
	for _, id := range ids {
		switch {
		case !clausesOf(s.file.Groups[id])[c]:
		case s.users[id] <= maxCopies:
			entries = s.appendClause(entries, id, c)
		default:
			key := sharedClause{id, c}
			if _, made := s.sharedClauses[key]; !made {
				s.sharedClauses[key] = s.builder.build(s.joined(s.appendClause(nil, id, c), c))
			}
			if x := s.sharedClauses[key]; x != nil {
				found = append(found, x)
			}
		}
	}
	if x := s.builder.build(s.joined(entries, c)); x != nil {
		found = append(found, x)
	}
	return found
}

// sharedClause names the lines of one kind of one group.
type sharedClause struct {
	group int
	clause
}

// appendClause compiles the lines of one kind of a group.
func (s *recordSet) appendClause(entries []entry, id int, c clause) []entry {
	g := s.file.Groups[id]
	reading := readingOf(s.file.Dialect, g)
	if c == clauseNoindex {
		for _, r := range g.Noindex {
			if counts(r, reading) {
				entries = append(entries, entryOf(compilePattern(r.Pattern, reading), reading, len(s.terms.noindex)))
				s.terms.noindex = append(s.terms.noindex, r)
			}
		}
		return entries
	}
	lines := g.ContentUsages
	if c == clauseSignal {
		lines = g.ContentSignals
	}
	for _, l := range lines {
		path, preference := cutPreference(l.Value)
		p := pattern{literal: "/", octets: 1} // every path
		switch {
		case !isPreference(preference) || path != "" && !canMatch(path, reading.stars()):
			continue
		case path != "":
			p = compilePattern(path, reading)
		}
		entries = append(entries, entryOf(p, reading, len(s.terms.preferences)))
		s.terms.preferences = append(s.terms.preferences, preference)
	}
	return entries
}

// entryOf is the entry of a line that is neither Allow nor Disallow: of those that
// match, the one decides that would if they were all the same.
func entryOf(p pattern, reading reading, number int) entry {
	return entry{
		key: p.literal, rest: p.rest, shape: p.shape, anchor: p.anchor,
		rank: rankOf(Noindex, p, reading, number),
	}
}

// joined makes one of the preferences that are stated for the same path.
func (s *recordSet) joined(entries []entry, c clause) []entry {
	if c == clauseNoindex || len(entries) < 2 {
		return entries
	}
	slices.SortFunc(entries, func(a, b entry) int {
		return cmp.Or(a.comparePattern(b), cmp.Compare(a.rank, b.rank))
	})
	kept := entries[:1]
	for _, e := range entries[1:] {
		last := kept[len(kept)-1]
		if last.comparePattern(e) != 0 {
			kept = append(kept, e)
			continue
		}
		preference := &s.terms.preferences[uint32(last.rank)]
		*preference = joinPreferences(*preference, s.terms.preferences[uint32(e.rank)])
	}
	return kept
}

// comparePattern orders entries by what they match, and how specific that is.
func (e entry) comparePattern(other entry) int {
	if e.anchor != other.anchor {
		if e.anchor {
			return 1
		}
		return -1
	}
	return cmp.Or(strings.Compare(e.key, other.key), strings.Compare(e.rest, other.rest),
		cmp.Compare(e.shape, other.shape), cmp.Compare(e.rank>>32, other.rank>>32))
}
