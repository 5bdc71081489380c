package robotsrules

import (
	"encoding/binary"
	"slices"

	"github.com/caddy-robots/caddy-robots/robotsrules/internal/index"
)

// record is what the groups that bind a robot say together: one in the older
// dialects, all that have the robot's token in RFC 9309, section 2.2.1. Robots
// with the same groups share it.
type record struct {
	shared   *shared
	more     *besides // nil: nothing
	from, to uint32   // its groups in shared.groups
	trees    index.Trees
	// strict says that a target which no rule matches is disallowed (the 1996 proposal 2.0.0).
	strict  bool
	reading reading
}

// besides is what few records have besides rules that match.
type besides struct {
	// everything is the empty Disallow by which all may be fetched (the 1994 standard).
	everything *Rule
	pace       *Pace
	stated     *stated // nil: nothing
}

var nothing besides

func (r *record) besides() *besides {
	if r.more == nil {
		return &nothing
	}
	return r.more
}

func (r *record) groups() []*Group { return r.shared.groups[r.from:r.to:r.to] }

// shared is what all records of a file share.
type shared struct {
	index  index.Index
	groups []*Group // those of the file, and then lists of such as are read as one
	// What the index finds, by the number in the low half of a rank.
	rules       []*Rule
	noindex     []*Rule
	preferences []string
}

// maxCopies is in how many records the rules of a group are indexed again. A
// group with more of them has an index of its own, which the records share:
// otherwise a file of many robots in many groups would need memory that grows
// with their product.
const maxCopies = 16

// recordSet makes the records of a file, one for each set of groups.
type recordSet struct {
	file     *File
	shared   *shared
	base     []int              // number of the first rule of each group
	single   []*record          // by the number of its group
	together map[string]*record // by the numbers of its groups
	users    []int              // in how many records each group is
	queue    []pendingRecord
	builder  *index.Builder
	ofGroup  map[clauseOfGroup]index.Tree // of groups in many records
	trees    []index.Tree                 // room for those of one record
	paths    map[preferencePath]int       // the preferences of the next tree
	said     map[int][]string             // what is stated several times, by its preference
	records  index.Arena[record]
	numbers  index.Arena[int]
}

type pendingRecord struct {
	*record
	ids []int
}

func newRecordSet(f *File) *recordSet {
	s := &recordSet{
		file:     f,
		shared:   &shared{groups: slices.Clip(f.Groups), rules: f.allRules()},
		base:     make([]int, len(f.Groups)),
		single:   make([]*record, len(f.Groups)),
		together: make(map[string]*record),
		users:    make([]int, len(f.Groups)),
		ofGroup:  make(map[clauseOfGroup]index.Tree),
		queue:    make([]pendingRecord, 0, len(f.Groups)),
	}
	rules, most := 0, 0
	for i, g := range f.Groups {
		s.base[i] = rules
		rules += len(g.Rules)
		most = max(most, len(g.Rules))
	}
	s.builder = index.NewBuilder(rules, most)
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
		from := len(s.shared.groups)
		for _, id := range ids {
			s.shared.groups = append(s.shared.groups, s.file.Groups[id])
		}
		r = s.add(from, slices.Clone(ids))
		s.together[string(key)] = r
	}
	return r
}

func (s *recordSet) alone(id int) *record {
	if s.single[id] == nil {
		s.single[id] = s.add(id, s.numbers.List(id))
	}
	return s.single[id]
}

// add makes the record of groups that begin at a place in shared.groups.
func (s *recordSet) add(from int, ids []int) *record {
	for _, id := range ids {
		s.users[id]++
	}
	r := s.records.Put(record{
		shared: s.shared, from: uint32(from), to: uint32(from + len(ids)),
		reading: readingOf(s.file.Dialect, s.shared.groups[from]),
	})
	s.queue = append(s.queue, pendingRecord{r, ids})
	return r
}

// finish compiles the lines of all records.
func (s *recordSet) finish() {
	for _, p := range s.queue {
		p.trees = s.treesOf(p.ids, clauseRule)
		p.strict = isStrict(p.record)
		more := besides{everything: emptyDisallow(p.record)}
		if slices.ContainsFunc(p.groups(), func(g *Group) bool { return g.rest != nil }) {
			more.pace, more.stated = paceOf(p.groups()), s.state(p.ids)
		}
		if more != nothing {
			p.more = new(more)
		}
	}
	for i, said := range s.said {
		s.shared.preferences[i] = joinPreferences(said)
	}
	s.shared.index = s.builder.Index()
}

// clauseOfGroup names the lines of one kind of one group.
type clauseOfGroup struct {
	group int
	clause
}

// treesOf makes the trees of one kind of line of the groups with these numbers. Groups in
// many records have a tree of their own, the others have one together.
func (s *recordSet) treesOf(ids []int, c clause) index.Trees {
	s.trees = s.trees[:0]
	for _, id := range ids {
		if s.users[id] > maxCopies {
			s.trees = append(s.trees, s.treeOfGroup(clauseOfGroup{id, c}))
		}
	}
	for _, id := range ids {
		if s.users[id] <= maxCopies {
			s.addLines(id, c)
		}
	}
	return s.builder.Together(append(s.trees, s.tree()))
}

func (s *recordSet) treeOfGroup(of clauseOfGroup) index.Tree {
	t, found := s.ofGroup[of]
	if !found {
		s.addLines(of.group, of.clause)
		t = s.tree()
		s.ofGroup[of] = t
	}
	return t
}

// tree makes a tree of the lines that were added since the last one.
func (s *recordSet) tree() index.Tree {
	s.paths = nil
	return s.builder.Tree()
}

// addLines compiles the lines of one kind of a group.
func (s *recordSet) addLines(id int, c clause) {
	g := s.file.Groups[id]
	switch c {
	case clauseRule:
		s.addRules(g, s.base[id])
	case clauseNoindex:
		s.addNoindex(g)
	case clauseUsage:
		s.addPreferences(g, g.ContentUsages())
	case clauseSignal:
		s.addPreferences(g, g.ContentSignals())
	}
}

// addRules compiles the rules of a group, of which the first has the number base.
func (s *recordSet) addRules(g *Group, base int) {
	reading := readingOf(s.file.Dialect, g)
	for i, r := range g.Rules {
		if counts(r, reading) {
			p := r.compile(reading)
			s.builder.Add(p.Pattern, rankOf(r.Kind, &p, reading, base+i))
		}
	}
}

// counts reports whether a target can match the rule.
func counts(r *Rule, reading reading) bool {
	if reading == readNoRobots1994 && r.Kind == Allow {
		return false
	}
	return r.Pattern() != "" && canMatch(r.Pattern(), reading.stars())
}

// maxLength is more than the length of any pattern.
const maxLength = 1<<30 - 1

// rankOf says which of the rules that match decides.
func rankOf(k Kind, p *pattern, reading reading, number int) index.Rank {
	order := index.Rank(0)
	switch {
	case reading == readRFC9309:
		// The longest; Allow when two are as long (RFC 9309, section 2.2.2).
		order = index.Rank(maxLength-min(p.length, maxLength)) << 1
		if k == Disallow {
			order++
		}
	case reading == readVersion2 && k == Disallow:
		order = 1
	case reading == readVersion2 && p.Shape != index.Exact:
		order = 2
	}
	return order<<32 | index.Rank(number)
}

// isStrict reports whether the record disallows what none of its rules matches:
// one of version 2 does when it has an Allow with stars, or Allows only
// (the 1996 proposal 2.0.0). Lines that can match nothing are left out of the account.
func isStrict(r *record) bool {
	if r.reading != readVersion2 {
		return false
	}
	allows, disallows := false, false
	for _, g := range r.groups() {
		for _, rule := range g.Rules {
			switch {
			case !counts(rule, readVersion2):
			case rule.Kind == Disallow:
				disallows = true
			case compilePattern(rule.Pattern(), readVersion2).Shape != index.Exact:
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
	return reading == readNoRobots1994 && r.Kind == Disallow && r.Pattern() == ""
}

// emptyDisallow returns the rule by which all may be fetched, nil when there is none.
func emptyDisallow(r *record) *Rule {
	if r.reading != readNoRobots1994 {
		return nil
	}
	for _, rule := range r.groups()[0].Rules {
		if isOpenToAll(rule, r.reading) {
			return rule
		}
	}
	return nil
}

// find returns the rule that decides about target, which is in the form that the
// record's reading compares.
func (r *record) find(target string) *Rule {
	if everything := r.besides().everything; everything != nil {
		return everything
	}
	best := r.shared.index.Find(r.trees, target)
	if best == index.NoRank {
		return nil
	}
	return r.shared.rules[uint32(best)]
}
