package index

import (
	"math/bits"
	"slices"
)

// entry is a pattern on its way into an index.
type entry struct {
	Pattern
	rank Rank
}

// endFrom returns how far the key of the entry goes in the node that depth bytes lead to. The end
// of an exact pattern is a node of its own.
func (e *entry) endFrom(depth uint32) int {
	n := len(e.Literal)
	if e.Shape == Exact && int(depth) < n {
		return n - 1
	}
	return n
}

// branch is a node on its way: the entries below it, and how many bytes lead to it.
type branch struct {
	from, to uint32
	depth    uint32
	side     uint8 // which of Builder.sides the entries are on
}

// batch is of how many entries trees are made at a time, if not of a single tree with
// more: so that there need not be room for all entries of a file.
const batch = 1024

// Builder makes an Index, one tree after the other. It is for one goroutine.
type Builder struct {
	index   Index
	entries []entry // of the trees that are not made yet
	added   int     // where those since the last tree begin
	// sides are the numbers of entries, and room to sort them in: they go to and fro.
	sides    [2][]uint32
	branches []branch // the first one is that of node number base
	base     int
	label    []byte
	// place is where the next entry with a byte goes; it is all zero between two nodes.
	place [256]uint32
}

// NewBuilder returns a Builder with room for about so many patterns, of which the largest tree has
// so many.
func NewBuilder(patterns, largest int) *Builder {
	nodes := patterns + patterns/2
	atOnce := min(patterns, max(largest, batch))
	return &Builder{
		index: Index{
			nodes: make([]node, 0, nodes),
			heads: make([]byte, 0, nodes),
			sets:  make([]wildcardSet, 1), // the number 0 means none
		},
		entries:  make([]entry, 0, atOnce),
		branches: make([]branch, 0, atOnce+atOnce/2),
		label:    make([]byte, 0, 8*patterns),
	}
}

// Add adds a pattern to the next tree.
func (b *Builder) Add(p Pattern, rank Rank) {
	if p.Shape == Exact {
		p.Literal += Star
	}
	b.entries = append(b.entries, entry{p, rank})
}

// Tree makes a tree of the patterns that were added since the last one. The time it takes
// grows with the bytes of their literals.
func (b *Builder) Tree() Tree {
	if b.added == len(b.entries) {
		return 0
	}
	b.branches = append(b.branches, branch{from: uint32(b.added), to: uint32(len(b.entries))})
	tree := Tree(b.base + len(b.branches))
	b.added = len(b.entries)
	if len(b.entries) >= batch {
		b.makeTrees()
	}
	return tree
}

// Together makes one of trees that are to be searched together. It reorders them.
func (b *Builder) Together(trees []Tree) Trees {
	trees = slices.DeleteFunc(trees, func(t Tree) bool { return t == 0 })
	switch len(trees) {
	case 0:
		return 0
	case 1:
		return Trees(trees[0])
	}
	from := len(b.index.lists)
	b.index.lists = append(append(b.index.lists, Tree(len(trees))), trees...)
	return several + Trees(from)
}

// Index returns the index of all trees. The Builder must not be used afterwards.
func (b *Builder) Index() Index {
	b.makeTrees()
	x := b.index
	x.nodes, x.heads, x.text = fit(x.nodes), fit(x.heads), string(b.label)
	return x
}

// makeTrees makes the trees of the entries.
func (b *Builder) makeTrees() {
	for i := range b.sides {
		b.sides[i] = slices.Grow(b.sides[i][:0], len(b.entries))[:len(b.entries)]
	}
	for i := range b.sides[0] {
		b.sides[0][i] = uint32(i)
	}
	for range b.branches {
		b.addNode(0, 0)
	}
	for n := 0; n < len(b.branches); n++ {
		b.grow(n)
	}
	b.addNode(0, 0)
	last := len(b.index.nodes) - 1
	b.index.nodes[last].label, b.index.nodes[last].child = uint32(len(b.label)), uint32(last)
	b.base, b.added, b.entries, b.branches = len(b.index.nodes), 0, b.entries[:0], b.branches[:0]
}

func (b *Builder) addNode(head byte, set uint32) {
	b.index.heads = append(b.index.heads, head)
	b.index.nodes = append(b.index.nodes, node{rank: NoRank, set: set})
}

// grow makes a node out of branch n: its label is what all entries below it have in
// common. The keys that go on make a branch for each next byte.
func (b *Builder) grow(n int) {
	br := b.branches[n]
	ids := b.sides[br.side][br.from:br.to]
	if len(ids) == 1 && b.entries[ids[0]].endFrom(br.depth) == len(b.entries[ids[0]].Literal) {
		b.end(n, ids[0])
		return
	}
	end := b.common(ids, int(br.depth))
	nd, wilds := &b.index.nodes[b.base+n], len(b.index.wilds)
	nd.label = uint32(len(b.label))
	nd.child = uint32(len(b.index.nodes))
	b.label = append(b.label, b.entries[ids[0]].Literal[br.depth:end]...)
	var next [256 / 64]uint64 // a bit for each next byte
	entries, place := b.entries, &b.place
	for _, id := range ids {
		e := &entries[id]
		if len(e.Literal) == end {
			b.endAt(nd, e)
			continue
		}
		c := e.Literal[end]
		place[c]++
		next[c/64] |= 1 << (c % 64)
	}
	if len(b.index.wilds) > wilds {
		nd.set = b.index.addSet(wilds, nd.set, end)
	}
	if next != [len(next)]uint64{} {
		b.split(n, end, next)
	}
}

// end makes a node out of branch n, below which there is one entry.
func (b *Builder) end(n int, id uint32) {
	nd, e := &b.index.nodes[b.base+n], &b.entries[id]
	nd.label = uint32(len(b.label))
	nd.child = uint32(len(b.index.nodes))
	b.label = append(b.label, e.Literal[b.branches[n].depth:]...)
	wilds := len(b.index.wilds)
	if b.endAt(nd, e); len(b.index.wilds) > wilds {
		nd.set = b.index.addSet(wilds, nd.set, len(e.Literal))
	}
}

// common returns how far the keys of the entries are equal. Up to depth they are.
func (b *Builder) common(ids []uint32, depth int) int {
	entries := b.entries
	first := entries[ids[0]].Literal
	end := entries[ids[0]].endFrom(uint32(depth))
	for _, id := range ids[1:] {
		key := entries[id].Literal
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

// endAt puts an entry whose key ends at the node there.
func (b *Builder) endAt(nd *node, e *entry) {
	if e.Shape == Wildcard {
		b.index.wilds = append(b.index.wilds, newWildcardPattern(e.Pattern, e.rank))
		return
	}
	nd.rank, nd.exact = min(nd.rank, e.rank), e.Shape == Exact
}

// split makes a branch below branch n for each of the bytes that keys have at depth,
// and sorts the entries by it, to the other side.
func (b *Builder) split(n, depth int, bytes [256 / 64]uint64) {
	br, set := b.branches[n], b.index.nodes[b.base+n].set
	first, from := len(b.index.heads), br.from
	for i, some := range bytes {
		for ; some != 0; some &= some - 1 {
			c := byte(64*i + bits.TrailingZeros64(some))
			to := from + b.place[c]
			b.branches = append(b.branches, branch{from: from, to: to, depth: uint32(depth + 1), side: 1 - br.side})
			b.addNode(c, set)
			b.place[c], from = from, to
		}
	}
	sorted, entries, place := b.sides[1-br.side], b.entries, &b.place
	for _, id := range b.sides[br.side][br.from:br.to] {
		if key := entries[id].Literal; len(key) > depth {
			at := &place[key[depth]]
			sorted[*at] = id
			*at++
		}
	}
	for _, c := range b.index.heads[first:] {
		place[c] = 0
	}
}
