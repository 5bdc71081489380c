package robotsrules

import (
	"bytes"
	"math/bits"
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

// index finds the rules that decide about a target, for all records of a file. Each
// record has a tree of its literal patterns that is walked once, so that thousands of
// them cost no more than ten; patterns with stars hang on the node that their literal
// beginning leads to. A tree is known by the number of its root.
type index struct {
	// nodes are in breadth-first order, as far as their trees were made at one
	// time, roots first, so that the children of a node stand side by side. A last
	// one then only says where things end.
	nodes []node
	heads []byte // the octet that leads to each node
	text  string // labels of all nodes: what has to follow that octet
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

// branch is a node on its way: the entries below it, and how many octets lead to it.
type branch struct {
	from, to uint32
	depth    uint32
	side     uint8 // which of builder.sides the entries are on
}

// batch is of how many entries trees are made at a time, if not of a single tree with
// more: so that there need not be room for all entries of a file.
const batch = 1024

// builder makes an index out of the entries of its trees.
type builder struct {
	index
	entries []entry // of the trees that are planted and not made yet
	// sides are the entries and room to sort them in: they go to and fro.
	sides    [2][]entry
	branches []branch // the first one is that of node number base
	base     int
	label    []byte
	// place is where the next entry with an octet goes; it is all zero between two nodes.
	place [256]uint32
}

// newBuilder returns one that has room for what about so many entries become.
func newBuilder(entries int) builder {
	nodes := entries + entries/8
	return builder{
		index: index{
			nodes: make([]node, 0, nodes),
			heads: make([]byte, 0, nodes),
			sets:  make([]wildcardSet, 1), // the number 0 means none
		},
		entries: make([]entry, 0, min(entries, batch)),
		label:   make([]byte, 0, 8*entries),
	}
}

// plant makes a tree of the entries from the given one on. It returns the number of
// the tree, and false when there are no entries for one. The time it takes grows with
// the octets of the keys.
func (b *builder) plant(from int) (tree uint32, planted bool) {
	if from == len(b.entries) {
		return 0, false
	}
	tree = uint32(b.base + len(b.branches))
	b.branches = append(b.branches, branch{from: uint32(from), to: uint32(len(b.entries))})
	if len(b.entries) >= batch {
		b.makeTrees()
	}
	return tree, true
}

// makeTrees makes the trees that are planted.
func (b *builder) makeTrees() {
	b.sides = [2][]entry{b.entries, slices.Grow(b.sides[1][:0], len(b.entries))[:len(b.entries)]}
	for range b.branches {
		b.addNode(0, 0)
	}
	for n := 0; n < len(b.branches); n++ {
		b.grow(n)
	}
	b.addNode(0, 0)
	last := len(b.nodes) - 1
	b.nodes[last].label, b.nodes[last].child = uint32(len(b.label)), uint32(last)
	b.base, b.entries, b.branches = len(b.nodes), b.entries[:0], b.branches[:0]
}

// build returns the index of all trees.
func (b *builder) build() index {
	b.makeTrees()
	x := b.index
	x.nodes, x.heads, x.text = fit(b.nodes), fit(b.heads), string(b.label)
	return x
}

func (b *builder) addNode(head byte, set uint32) {
	b.heads = append(b.heads, head)
	b.nodes = append(b.nodes, node{prefix: noRank, exact: noRank, set: set})
}

// grow makes a node out of branch n: its label is what all entries below it have in
// common. The keys that go on make a branch for each next octet.
func (b *builder) grow(n int) {
	br := b.branches[n]
	entries := b.sides[br.side][br.from:br.to]
	end := common(entries, int(br.depth))
	nd, wilds := &b.nodes[b.base+n], len(b.wilds)
	nd.label = uint32(len(b.label))
	nd.child = uint32(len(b.nodes))
	b.label = append(b.label, entries[0].key[br.depth:end]...)
	var next [256 / 64]uint64 // a bit for each next octet
	for i := range entries {
		e := &entries[i]
		if len(e.key) == end {
			b.settle(nd, e)
			continue
		}
		c := e.key[end]
		b.place[c]++
		next[c/64] |= 1 << (c % 64)
	}
	if len(b.wilds) > wilds {
		b.sets = append(b.sets, b.fileSet(wilds, nd.set, end))
		nd.set = uint32(len(b.sets) - 1)
	}
	if next != [len(next)]uint64{} {
		b.split(n, end, next)
	}
}

// common returns how far the keys of the entries are equal. Up to depth they are.
func common(entries []entry, depth int) int {
	first := entries[0].key
	end := len(first)
	for i := range entries[1:] {
		key := entries[1+i].key
		if len(key) >= end && key[depth:end] == first[depth:end] {
			continue
		}
		most := min(end, len(key))
		for end = depth; end < most && key[end] == first[end]; {
			end++
		}
		if end == depth {
			break
		}
	}
	return end
}

// settle puts an entry whose key ends at the node there.
func (b *builder) settle(nd *node, e *entry) {
	switch e.shape {
	case prefix:
		nd.prefix = min(nd.prefix, e.rank)
	case exact:
		nd.exact = min(nd.exact, e.rank)
	case wildcard:
		b.wilds = append(b.wilds, newWildcardRule(e))
	}
}

// split makes a branch below branch n for each of the octets that keys have at depth,
// and sorts the entries by it, to the other side.
func (b *builder) split(n, depth int, octets [256 / 64]uint64) {
	br, set := b.branches[n], b.nodes[b.base+n].set
	first, from := len(b.heads), br.from
	for i, some := range octets {
		for ; some != 0; some &= some - 1 {
			c := byte(64*i + bits.TrailingZeros64(some))
			to := from + b.place[c]
			b.branches = append(b.branches, branch{from: from, to: to, depth: uint32(depth + 1), side: 1 - br.side})
			b.addNode(c, set)
			b.place[c], from = from, to
		}
	}
	sorted := b.sides[1-br.side]
	for _, e := range b.sides[br.side][br.from:br.to] {
		if len(e.key) > depth {
			c := e.key[depth]
			sorted[b.place[c]] = e
			b.place[c]++
		}
	}
	for _, c := range b.heads[first:] {
		b.place[c] = 0
	}
}

// find returns the lowest rank of a rule of the tree that matches target, noRank for
// none.
func (x *index) find(tree uint32, target string) rank {
	best, set := x.walk(tree, target)
	if set != 0 {
		best = x.findWildcard(target, set, best)
	}
	return best
}

// walk follows target down a tree. It returns the best literal rule and the
// nearest wildcardSet above the place where target leaves the tree.
func (x *index) walk(tree uint32, target string) (best rank, set uint32) {
	best = noRank
	for n := tree; ; {
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
		target, n = target[1:], nd.child+uint32(i)
	}
}
