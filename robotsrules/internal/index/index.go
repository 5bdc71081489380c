// Package index finds, of thousands of patterns or words, those that a text matches, in
// time that hardly grows with how many there are.
//
// An [Index] holds the patterns of all records of a robots.txt; a [Builder] makes one. A
// [Words] holds the product tokens. Both work on bytes and know nothing of rules: what was
// found is a number that the caller gave, of which the lowest wins.
package index

import (
	"bytes"
	"strings"
)

// Rank orders patterns: of those that match, the lowest is found.
type Rank uint64

// NoRank is the rank of nothing, worse than every other.
const NoRank = ^Rank(0)

// Index finds the best pattern that a target matches. It is immutable and safe for
// concurrent use.
//
// Its patterns are in trees of their literals, each of which is walked once, so that
// thousands of patterns cost no more than ten. Patterns with stars hang on the node that
// their literal beginning leads to.
type Index struct {
	// nodes are in breadth-first order, as far as their trees were made at one time,
	// roots first, so that the children of a node are side by side. A last one then only
	// says where things end.
	nodes []node
	heads []byte // the byte that leads to each node
	text  string // labels of all nodes: what has to follow that byte
	lists []Tree // of Trees: how many there are, and then these
	sets  []wildcardSet
	wilds []wildcardPattern
	// buckets are where in wilds the buckets of the sets begin, and filters the pairs that lead to some.
	buckets []uint32
	filters []filter
}

// node is what a target has in common with patterns. Of an exact pattern the end is a byte of its
// literal, a Star, which leads to a node of its own.
type node struct {
	rank  Rank   // best pattern that ends here
	label uint32 // beginning of its label in text; it ends where the next node's begins
	child uint32 // first child; the last one is before the next node's first
	set   uint32 // the wildcardSet of the node or the nearest one above it
	exact bool   // it is the end of exact patterns
}

// Tree is some patterns of a Builder that are searched together. The zero value has none.
type Tree uint32 // the number of its root, from 1

// Trees are some trees of an Index. The zero value has none.
type Trees uint32 // a single Tree, or several and where in Index.lists they are

const several Trees = 1 << 31

// each returns the trees; one is the room for a single one.
func (x *Index) each(t Trees, one *[1]Tree) []Tree {
	switch {
	case t == 0:
		return nil
	case t < several:
		one[0] = Tree(t)
		return one[:]
	}
	list := x.lists[t-several:]
	return list[1:][:list[0]]
}

// Find returns the lowest rank of a pattern of the trees that matches target, NoRank when
// none does. The target is canonical text: a byte that is percent-encoded in it is one
// byte, and never matched by halves. Find does not allocate.
func (x *Index) Find(t Trees, target string) Rank {
	best := NoRank
	var one [1]Tree
	for _, tree := range x.each(t, &one) {
		best = min(best, x.find(uint32(tree-1), target))
	}
	return best
}

func (x *Index) find(root uint32, target string) Rank {
	best, set := x.walk(root, target)
	if set != 0 {
		best = x.findWildcard(target, set, best)
	}
	return best
}

// walk follows target down a tree. It returns the best literal pattern and the nearest
// wildcardSet above the place where target leaves the tree.
func (x *Index) walk(root uint32, target string) (best Rank, set uint32) {
	best = NoRank
	for n := root; ; {
		nd, end := &x.nodes[n], &x.nodes[n+1]
		label := x.text[nd.label:end.label]
		if !strings.HasPrefix(target, label) {
			return best, set
		}
		target, set = target[len(label):], nd.set
		best = min(best, nd.rank)
		if target == "" {
			// The end of exact patterns comes before all other children.
			if first := &x.nodes[nd.child]; nd.child < end.child && first.exact {
				best = min(best, first.rank)
			}
			return best, set
		}
		i := bytes.IndexByte(x.heads[nd.child:end.child], target[0])
		if i < 0 || x.nodes[nd.child+uint32(i)].exact {
			return best, set
		}
		target, n = target[1:], nd.child+uint32(i)
	}
}

// What the parts of a search cost, in nanoseconds.
const (
	costOfTree    = 20
	costOfPattern = 20
	costOfSegment = 10
)

// Cost returns at most what Find takes for target, in nanoseconds or so, or anything above
// limit. It is counted, not timed, so that the same index always gives the same answer.
func (x *Index) Cost(t Trees, target string, limit int) int {
	cost := 0
	var one [1]Tree
	for _, tree := range x.each(t, &one) {
		cost += costOfTree + len(target)
		for _, set := x.walk(uint32(tree-1), target); set != 0 && cost <= limit; {
			s := &x.sets[set]
			cost += x.costOfSet(s, target[s.skip:], limit-cost)
			set = s.up
		}
	}
	return cost
}

// costOfSet counts the patterns in the buckets that findWildcard opens.
func (x *Index) costOfSet(s *wildcardSet, text string, limit int) int {
	if s.width == 0 {
		return x.costOfPatterns(s.from, s.to, text)
	}
	buckets := x.bucketsOf(s)
	cost := len(text) + x.costOfPatterns(buckets[1<<s.width], buckets[1+1<<s.width], text)
	var opened bucketSet
	for i := 1; i < len(text) && cost <= limit; i++ {
		if b := bucketOf(pairOf(text[i-1], text[i]), s.width); opened.add(b) {
			cost += x.costOfPatterns(buckets[b], buckets[b+1], text)
		}
	}
	return cost
}

// costOfPatterns is what it costs to try the patterns from one number to another.
func (x *Index) costOfPatterns(from, to uint32, text string) int {
	cost := 0
	for _, w := range x.wilds[from:to] {
		cost += costOfPattern + costOfSegment*strings.Count(w.rest, Star) + len(text)/4
	}
	return cost
}
