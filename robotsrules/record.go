package robotsrules

import (
	"encoding/binary"
	"slices"
)

// record is what the groups that bind a robot say together: one in the older
// dialects, all that have the robot's token in RFC 9309, section 2.2.1. Robots
// with the same groups share it.
type record struct {
	groups []*Group
	book   *book
	trees  trees
	// strict says that a target which no rule matches is disallowed (seed 003).
	strict  bool
	reading reading
	// everything is the empty Disallow by which all may be fetched (seed 004).
	everything *Rule
	pace       *Pace
	stated     *stated // nil: nothing
}

// book is what the records of a file share.
type book struct {
	index
	// roots are the trees of the index, by record: each has a run of them.
	roots []uint32
	// What the trees lead to, by the number in the low half of a rank.
	rules       []*Rule
	noindex     []*Rule
	preferences []string
}

// trees are those in book.roots from one number to another. They are searched
// together: those of groups that many records share lie apart.
type trees struct{ from, to uint32 }

// find returns the lowest rank of what the trees hold that matches target, noRank for
// none.
func (b *book) find(t trees, target string) rank {
	best := noRank
	for _, tree := range b.rootsOf(t) {
		best = min(best, b.index.find(tree, target))
	}
	return best
}

// rootsOf returns the trees by their numbers in the index.
func (b *book) rootsOf(t trees) []uint32 { return b.roots[t.from:t.to] }

// maxCopies is in how many records the rules of a group are indexed again. A
// group with more of them has an index of its own, which the records share:
// otherwise a file of many robots in many groups would need memory that grows
// with their product.
const maxCopies = 16

// recordSet makes the records of a file, one for each set of groups.
type recordSet struct {
	file     *File
	book     *book
	base     []int // number of the first rule of each group
	asks     []asks
	single   []*record          // by the number of its group
	together map[string]*record // by the numbers of its groups
	users    []int              // in how many records each group is
	shared   map[clauseOfGroup]plantedTree
	queue    []pendingRecord
	builder  builder
	records  slab[record]
	numbers  slab[int]
}

type pendingRecord struct {
	*record
	ids []int
}

func newRecordSet(f *File) *recordSet {
	s := &recordSet{
		file:     f,
		book:     new(book),
		base:     make([]int, len(f.Groups)),
		asks:     make([]asks, len(f.Groups)),
		single:   make([]*record, len(f.Groups)),
		together: make(map[string]*record),
		users:    make([]int, len(f.Groups)),
		shared:   make(map[clauseOfGroup]plantedTree),
		queue:    make([]pendingRecord, 0, len(f.Groups)),
	}
	rules := 0
	for i, g := range f.Groups {
		s.base[i] = rules
		rules += len(g.Rules)
		s.asks[i] = asksOf(g)
	}
	s.book.rules = make([]*Rule, 0, rules)
	s.builder = newBuilder(rules)
	for _, g := range f.Groups {
		s.book.rules = append(s.book.rules, g.Rules...)
	}
	return s
}

// record returns the record of the groups with these numbers, in file order. It
// is complete once finish was called. The caller may use ids again.
func (s *recordSet) record(ids []int) *record {
	if len(ids) == 1 {
		return s.alone(ids[0])
	}
	var buf [64]byte
	key := buf[:0]
	for _, id := range ids {
		key = binary.AppendUvarint(key, uint64(id))
	}
	r := s.together[string(key)]
	if r == nil {
		groups := make([]*Group, len(ids))
		for i, id := range ids {
			groups[i] = s.file.Groups[id]
		}
		r = s.add(groups, slices.Clone(ids))
		s.together[string(key)] = r
	}
	return r
}

func (s *recordSet) alone(id int) *record {
	if s.single[id] == nil {
		s.single[id] = s.add(s.file.Groups[id:id+1:id+1], s.numbers.list(id))
	}
	return s.single[id]
}

func (s *recordSet) add(groups []*Group, ids []int) *record {
	for _, id := range ids {
		s.users[id]++
	}
	r := s.records.put(record{book: s.book, groups: groups, reading: readingOf(s.file.Dialect, groups[0])})
	s.queue = append(s.queue, pendingRecord{r, ids})
	return r
}

// finish compiles the lines of all records.
func (s *recordSet) finish() {
	for _, p := range s.queue {
		var a asks
		for _, id := range p.ids {
			a = a.join(s.asks[id])
		}
		p.pace = a.pace()
		p.trees = s.plant(p.ids, clauseRule)
		p.stated = s.state(p.ids)
		p.strict = isStrict(p.record)
		p.everything = emptyDisallow(p.record)
	}
	s.book.index = s.builder.build()
}

// clauseOfGroup names the lines of one kind of one group.
type clauseOfGroup struct {
	group int
	clause
}

// plantedTree is a tree, if there was anything to plant.
type plantedTree struct {
	root    uint32
	planted bool
}

// plant makes the trees of one kind of line of the groups with these numbers. Groups
// in many records have a tree of their own, the others have one together.
func (s *recordSet) plant(ids []int, c clause) trees {
	from := len(s.book.roots)
	for _, id := range ids {
		if s.users[id] > maxCopies {
			s.addRoot(s.plantShared(clauseOfGroup{id, c}))
		}
	}
	first := len(s.builder.entries)
	for _, id := range ids {
		if s.users[id] <= maxCopies {
			s.appendEntries(id, c)
		}
	}
	s.addRoot(s.plantFrom(first, c))
	return trees{uint32(from), uint32(len(s.book.roots))}
}

func (s *recordSet) addRoot(t plantedTree) {
	if t.planted {
		s.book.roots = append(s.book.roots, t.root)
	}
}

func (s *recordSet) plantShared(of clauseOfGroup) plantedTree {
	t, found := s.shared[of]
	if !found {
		first := len(s.builder.entries)
		s.appendEntries(of.group, of.clause)
		t = s.plantFrom(first, of.clause)
		s.shared[of] = t
	}
	return t
}

// plantFrom makes a tree of the entries from the given one on.
func (s *recordSet) plantFrom(first int, c clause) plantedTree {
	if c == clauseUsage || c == clauseSignal {
		s.joinPreferences(first)
	}
	root, planted := s.builder.plant(first)
	return plantedTree{root, planted}
}

// appendEntries compiles the lines of one kind of a group.
func (s *recordSet) appendEntries(id int, c clause) {
	g := s.file.Groups[id]
	switch c {
	case clauseRule:
		s.appendRules(g, s.base[id])
	case clauseNoindex:
		s.appendNoindex(g)
	case clauseUsage:
		s.appendPreferences(g, g.ContentUsages)
	case clauseSignal:
		s.appendPreferences(g, g.ContentSignals)
	}
}

// appendRules compiles the rules of a group, of which the first has the number base.
func (s *recordSet) appendRules(g *Group, base int) {
	reading := readingOf(s.file.Dialect, g)
	for i, r := range g.Rules {
		if counts(r, reading) {
			p := compilePattern(r.Pattern, reading)
			s.addEntry(r.Kind, &p, reading, base+i)
		}
	}
}

func (s *recordSet) addEntry(k Kind, p *pattern, reading reading, number int) {
	s.builder.entries = append(s.builder.entries, entry{
		key: p.literal, rest: p.rest, shape: p.shape, anchor: p.anchor,
		rank: rankOf(k, p, reading, number),
	})
}

// counts reports whether a target can match the rule.
func counts(r *Rule, reading reading) bool {
	if reading == readNoRobots1994 && r.Kind == Allow {
		return false
	}
	return r.Pattern != "" && canMatch(r.Pattern, reading.stars())
}

// maxOctets is more than any pattern has.
const maxOctets = 1<<30 - 1

// rankOf says which of the rules that match decides.
func rankOf(k Kind, p *pattern, reading reading, number int) rank {
	order := rank(0)
	switch {
	case reading == readRFC9309:
		// The most octets; Allow when they are as many (RFC 9309, section 2.2.2).
		order = rank(maxOctets-min(p.octets, maxOctets)) << 1
		if k == Disallow {
			order++
		}
	case reading == readVersion2 && k == Disallow:
		order = 1
	case reading == readVersion2 && p.shape != exact:
		order = 2
	}
	return order<<32 | rank(number)
}

// isStrict reports whether the record disallows what none of its rules matches:
// one of version 2 does when it has an Allow with stars, or Allows only
// (seed 003). Lines that can match nothing are left out of the account.
func isStrict(r *record) bool {
	if r.reading != readVersion2 {
		return false
	}
	allows, disallows := false, false
	for _, g := range r.groups {
		for _, rule := range g.Rules {
			switch {
			case !counts(rule, readVersion2):
			case rule.Kind == Disallow:
				disallows = true
			case compilePattern(rule.Pattern, readVersion2).shape != exact:
				return true
			default:
				allows = true
			}
		}
	}
	return allows && !disallows
}

// isOpenToAll reports whether a rule says that all may be fetched: in the 1994 standard
// an empty Disallow does.
func isOpenToAll(r *Rule, reading reading) bool {
	return reading == readNoRobots1994 && r.Kind == Disallow && r.Pattern == ""
}

// emptyDisallow returns the rule by which all may be fetched, nil when there is none.
func emptyDisallow(r *record) *Rule {
	for _, rule := range r.groups[0].Rules {
		if isOpenToAll(rule, r.reading) {
			return rule
		}
	}
	return nil
}

// find returns the rule that decides about target, which is in the form that the
// record's reading compares.
func (r *record) find(target string) *Rule {
	if r.everything != nil {
		return r.everything
	}
	best := r.book.find(r.trees, target)
	if best == noRank {
		return nil
	}
	return r.book.rules[uint32(best)]
}
