package robotsrules

import (
	"encoding/binary"
	"slices"
)

// record is what the groups that bind a robot say together: one in the older
// dialects, all that have the robot's token in RFC 9309, section 2.2.1. Robots
// with the same groups share it.
type record struct {
	groups  []*Group
	rules   []*Rule // of the whole file, by number
	indexes []*index
	// strict says that a target which no rule matches is disallowed (seed 003).
	strict bool
	// everything is the empty Disallow by which all may be fetched (seed 004).
	everything *Rule
	reading    reading
	pace       *Pace
	stated     *stated // nil: nothing
}

// maxCopies is in how many records the rules of a group are indexed again. A
// group with more of them has an index of its own, which the records share:
// otherwise a file of many robots in many groups would need memory that grows
// with their product.
const maxCopies = 16

// recordSet makes the records of a file, one for each set of groups.
type recordSet struct {
	file     *File
	rules    []*Rule
	base     []int // number of the first rule of each group
	asks     []asks
	single   []*record          // by the number of its group
	together map[string]*record // by the numbers of its groups
	users    []int              // in how many records each group is
	shared   []*index           // index of each group that has one of its own
	queue    []pendingRecord
	entries  []entry // room for those of one index
	builder  builder
	terms    terms
	records  slab[record]
	numbers  slab[int]

	sharedClauses map[sharedClause]*index
}

type pendingRecord struct {
	*record
	ids []int
}

func newRecordSet(f *File) *recordSet {
	s := &recordSet{
		file:     f,
		base:     make([]int, len(f.Groups)),
		asks:     make([]asks, len(f.Groups)),
		single:   make([]*record, len(f.Groups)),
		together: make(map[string]*record),
		users:    make([]int, len(f.Groups)),
		shared:   make([]*index, len(f.Groups)),

		sharedClauses: make(map[sharedClause]*index),
	}
	for i, g := range f.Groups {
		s.base[i] = len(s.rules)
		s.rules = append(s.rules, g.Rules...)
		s.asks[i] = asksOf(g)
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
	r := s.records.put(record{rules: s.rules, groups: groups, reading: readingOf(s.file.Dialect, groups[0])})
	s.queue = append(s.queue, pendingRecord{r, ids})
	return r
}

// finish compiles the rules of all records.
func (s *recordSet) finish() {
	for _, p := range s.queue {
		var a asks
		entries := s.entries[:0]
		for _, id := range p.ids {
			a = a.join(s.asks[id])
			if s.users[id] <= maxCopies {
				entries = s.appendEntries(entries, id)
			} else if x := s.sharedIndex(id); x != nil {
				p.indexes = append(p.indexes, x)
			}
		}
		if x := s.builder.build(entries); x != nil {
			p.indexes = append(p.indexes, x)
		}
		s.entries = entries
		p.pace = a.pace()
		p.stated = s.state(p.ids)
		p.strict = isStrict(p.record)
		p.everything = emptyDisallow(p.record)
	}
}

func (s *recordSet) sharedIndex(id int) *index {
	if s.shared[id] == nil {
		s.shared[id] = new(builder).build(s.appendEntries(nil, id))
	}
	return s.shared[id]
}

// appendEntries compiles the rules of a group.
func (s *recordSet) appendEntries(entries []entry, id int) []entry {
	g := s.file.Groups[id]
	reading := readingOf(s.file.Dialect, g)
	for i, r := range g.Rules {
		if !counts(r, reading) {
			continue
		}
		p := compilePattern(r.Pattern, reading)
		entries = append(entries, entry{
			key: p.literal, rest: p.rest, shape: p.shape, anchor: p.anchor,
			rank: rankOf(r.Kind, p, reading, s.base[id]+i),
		})
	}
	return entries
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
func rankOf(k Kind, p pattern, reading reading, number int) rank {
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

// emptyDisallow returns the rule by which all may be fetched, nil when there is
// none: in the consensus of 1994 an empty Disallow says so (seed 004).
func emptyDisallow(r *record) *Rule {
	if r.reading != readNoRobots1994 {
		return nil
	}
	for _, rule := range r.groups[0].Rules {
		if rule.Kind == Disallow && rule.Pattern == "" {
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
	best := noRank
	for _, x := range r.indexes {
		best = min(best, x.find(target))
	}
	if best == noRank {
		return nil
	}
	return r.rules[uint32(best)]
}
