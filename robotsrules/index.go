package robotsrules

import (
	"bytes"
	"slices"
	"strings"
)

// rank orders the rules of a record: of those that match, the lowest decides.
// Its low half is the rule's number in the file.
type rank uint64

const noRank = ^rank(0)

// entry is a rule on its way into an index.
type entry struct {
	key  string // pattern.literal
	rest string // pattern.rest
	rank rank
	shape
	anchor bool
}

// index finds the rule that decides about a target. Literal patterns make a tree
// that is walked once, so that thousands of them cost no more than ten; patterns
// with stars hang on the node that their literal beginning leads to.
type index struct {
	// nodes are in breadth-first order, so that the children of a node stand
	// side by side. A last one only says where things end.
	nodes []node
	heads []byte // first octet of each node's label
	text  string // labels of all nodes
	sets  []wildcardSet
	wilds []wildcardRule
	// drawers are where in wilds the drawers of the sets begin.
	drawers []uint32
}

// node stands for what a target has in common with patterns.
type node struct {
	prefix, exact rank   // best rules whose pattern ends here
	label         uint32 // beginning of its label in text; it ends where the next node's begins
	child         uint32 // first child; the last one stands before the next node's first
	set           uint32 // the wildcardSet of the node or the nearest one above it
}

// branch is a node on its way: the entries below it, and the length of what is
// spelt above it.
type branch struct {
	from, to, depth int
}

// builder makes indexes out of entries. It keeps its room for the next one.
type builder struct {
	index
	entries  []entry
	order    []uint32 // numbers of entries; each branch is a part of it
	spare    []uint32 // room to sort them in
	branches []branch
	label    []byte
}

// build returns the index of the entries, nil when there are none. The time it
// takes grows with the octets of the keys.
func (b *builder) build(entries []entry) *index {
	if len(entries) == 0 {
		return nil
	}
	b.entries = entries
	b.order, b.spare = b.order[:0], slices.Grow(b.spare[:0], len(entries))[:len(entries)]
	for i := range entries {
		b.order = append(b.order, uint32(i))
	}
	b.index = index{nodes: b.nodes[:0], heads: append(b.heads[:0], 0)}
	b.label = b.label[:0]
	b.branches = append(b.branches[:0], branch{to: len(entries)})
	b.nodes = append(b.nodes, node{prefix: noRank, exact: noRank})
	for n := 0; n < len(b.branches); n++ {
		b.grow(n)
	}
	b.nodes = append(b.nodes, node{label: uint32(len(b.label)), child: uint32(len(b.branches))})
	x := b.index
	x.nodes, x.heads, x.text = slices.Clone(b.nodes), slices.Clone(b.heads), string(b.label)
	return &x
}

// grow makes the node n out of its branch: its label is what all entries below
// it have in common.
func (b *builder) grow(n int) {
	br := b.branches[n]
	order := b.order[br.from:br.to]
	end := b.common(order, br.depth)
	b.nodes[n].label = uint32(len(b.label))
	b.nodes[n].child = uint32(len(b.branches))
	b.label = append(b.label, b.entries[order[0]].key[br.depth:end]...)
	here := 0
	for i, e := range order {
		if len(b.entries[e].key) == end {
			order[here], order[i] = e, order[here]
			here++
		}
	}
	b.settle(n, order[:here], end)
	b.split(n, br.from+here, br.to, end)
}

// common returns how far the keys of the entries are equal, from depth on.
func (b *builder) common(order []uint32, depth int) int {
	first := b.entries[order[0]].key
	end := len(first)
	for _, e := range order[1:] {
		key := b.entries[e].key
		end = min(end, len(key))
		i := depth
		for i < end && first[i] == key[i] {
			i++
		}
		end = i
	}
	return end
}

// settle puts the entries whose key, of length end, ends at node n there.
func (b *builder) settle(n int, order []uint32, end int) {
	nd := &b.nodes[n]
	from := len(b.wilds)
	for _, i := range order {
		switch e := &b.entries[i]; e.shape {
		case prefix:
			nd.prefix = min(nd.prefix, e.rank)
		case exact:
			nd.exact = min(nd.exact, e.rank)
		case wildcard:
			b.wilds = append(b.wilds, newWildcardRule(e))
		}
	}
	if len(b.wilds) == from {
		return
	}
	if b.sets == nil {
		b.sets = make([]wildcardSet, 1) // the number 0 means none
	}
	b.sets = append(b.sets, b.fileSet(from, nd.set, end))
	nd.set = uint32(len(b.sets) - 1)
}

// split makes a branch of each octet that entries go on with at depth.
func (b *builder) split(n, from, to, depth int) {
	b.sort(b.order[from:to], depth)
	for i := from; i < to; {
		start, head := i, b.entries[b.order[i]].key[depth]
		for i < to && b.entries[b.order[i]].key[depth] == head {
			i++
		}
		b.branches = append(b.branches, branch{from: start, to: i, depth: depth})
		b.heads = append(b.heads, head)
		b.nodes = append(b.nodes, node{prefix: noRank, exact: noRank, set: b.nodes[n].set})
	}
}

// sort sorts entries by their octet at depth: few by insertion, many by counting,
// so that it takes no longer than looking at each.
func (b *builder) sort(order []uint32, depth int) {
	octet := func(i int) byte { return b.entries[order[i]].key[depth] }
	if len(order) < 16 {
		for i := 1; i < len(order); i++ {
			for j := i; j > 0 && octet(j) < octet(j-1); j-- {
				order[j], order[j-1] = order[j-1], order[j]
			}
		}
		return
	}
	var start [257]int
	for i := range order {
		start[int(octet(i))+1]++
	}
	for c := 1; c < len(start); c++ {
		start[c] += start[c-1]
	}
	for i, e := range order {
		c := octet(i)
		b.spare[start[c]] = e
		start[c]++
	}
	copy(order, b.spare)
}

// find returns the lowest rank of a rule that matches target, noRank for none.
func (x *index) find(target string) rank {
	best, set := x.walk(target)
	if set != 0 {
		best = x.findWildcard(target, set, best)
	}
	return best
}

// walk follows target down the tree. It returns the best literal rule and the
// nearest wildcardSet above the place where target leaves the tree.
func (x *index) walk(target string) (best rank, set uint32) {
	best = noRank
	for n := uint32(0); ; {
		nd, end := &x.nodes[n], &x.nodes[n+1]
		label := x.text[nd.label:end.label]
		if !strings.HasPrefix(target, label) {
			return best, set
		}
		target, set = target[len(label):], nd.set
		best = min(best, nd.prefix)
		if target == "" {
			return min(best, nd.exact), set
		}
		i := bytes.IndexByte(x.heads[nd.child:end.child], target[0])
		if i < 0 {
			return best, set
		}
		n = nd.child + uint32(i)
	}
}
