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
	said, book := b.record.stated, b.record.book
	if found := book.find(said.noindex, target); found != noRank {
		s.Noindex = book.noindex[uint32(found)]
	}
	usage, signal := book.find(said.usage, target), book.find(said.signal, target)
	if usage == noRank && signal == noRank || !isRobotsTxt(target) && !b.decide(target).Allowed() {
		return s
	}
	if usage != noRank {
		s.Usage = book.preferences[uint32(usage)]
	}
	if signal != noRank {
		s.Signal = book.preferences[uint32(signal)]
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
	noindex, usage, signal trees
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
		noindex: s.plant(ids, clauseNoindex),
		usage:   s.plant(ids, clauseUsage),
		signal:  s.plant(ids, clauseSignal),
	}
}

// appendNoindex compiles the Noindex lines of a group. Of the statements that match, the
// one counts that would decide if all were rules of the same kind.
func (s *recordSet) appendNoindex(g *Group) {
	reading := readingOf(s.file.Dialect, g)
	for _, r := range g.Noindex {
		if counts(r, reading) {
			p := compilePattern(r.Pattern, reading)
			s.addEntry(Noindex, &p, reading, len(s.book.noindex))
			s.book.noindex = append(s.book.noindex, r)
		}
	}
}

// appendPreferences compiles lines of a group that state preferences.
func (s *recordSet) appendPreferences(g *Group, lines []Field) {
	reading := readingOf(s.file.Dialect, g)
	for _, l := range lines {
		path, preference := cutPreference(l.Value)
		p := pattern{literal: "/", octets: 1} // every path
		switch {
		case !isPreference(preference) || path != "" && !canMatch(path, reading.stars()):
			continue
		case path != "":
			p = compilePattern(path, reading)
		}
		s.addEntry(Noindex, &p, reading, len(s.book.preferences))
		s.book.preferences = append(s.book.preferences, preference)
	}
}

// joinPreferences makes one of the preferences that are stated for the same path, among
// the entries from the given one on.
func (s *recordSet) joinPreferences(first int) {
	entries := s.builder.entries[first:]
	if len(entries) < 2 {
		return
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
		preference := &s.book.preferences[uint32(last.rank)]
		*preference = joinPreferences(*preference, s.book.preferences[uint32(e.rank)])
	}
	s.builder.entries = s.builder.entries[:first+len(kept)]
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
