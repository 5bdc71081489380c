package index

import (
	"cmp"
	"math/bits"
	"slices"
	"strings"
)

// wildcardSet are the patterns with stars that begin with the same literal. A large set is
// divided into buckets: each pattern is in the bucket of a pair of bytes that it needs and
// few others of the set do, so that only the buckets of the pairs in a target have to be
// opened.
type wildcardSet struct {
	from, to uint32 // in Index.wilds, by bucket, best rank first
	up       uint32 // the set of the nearest shorter literal; 0 for none
	skip     uint32 // length of the literal
	buckets  uint32 // in Index.buckets, where the buckets begin
	filter   uint32 // in Index.filters
	width    uint8  // there are 1<<width buckets; 0: the set is not divided
}

const (
	// fewWildcards is how many patterns it is cheaper to try one by one.
	fewWildcards = 8
	maxWidth     = 12
)

// wildcardPattern is a pattern with stars, without the literal it begins with.
type wildcardPattern struct {
	rank   Rank
	rest   string // segments, with a NUL between two
	tail   int32  // length of the last segment when it is anchored
	bucket uint16
	pair   pair // that the bucket is chosen by
	anchor bool
}

func newWildcardPattern(p Pattern, rank Rank) wildcardPattern {
	return wildcardPattern{
		rank:   rank,
		rest:   p.Rest,
		tail:   int32(len(p.Rest) - strings.LastIndexByte(p.Rest, Star[0]) - 1),
		anchor: p.Anchor,
	}
}

// addSet makes a set of the patterns in x.wilds from the given one on, and returns its number.
func (x *Index) addSet(from int, up uint32, skip int) uint32 {
	x.sets = append(x.sets, x.newSet(from, up, skip))
	return uint32(len(x.sets) - 1)
}

func (x *Index) newSet(from int, up uint32, skip int) wildcardSet {
	s := wildcardSet{from: uint32(from), to: uint32(len(x.wilds)), up: up, skip: uint32(skip)}
	wilds := x.wilds[from:]
	if len(wilds) > fewWildcards {
		s.width = uint8(min(bits.Len(uint(len(wilds)))+1, maxWidth))
		chooseBuckets(wilds, s.width)
	}
	if len(wilds) == 1 {
		return s
	}
	slices.SortFunc(wilds, func(a, b wildcardPattern) int {
		return cmp.Or(cmp.Compare(a.bucket, b.bucket), cmp.Compare(a.rank, b.rank))
	})
	if s.width == 0 {
		return s
	}
	// After the buckets of the pairs comes one for patterns without any.
	s.buckets = uint32(len(x.buckets))
	s.filter = uint32(len(x.filters))
	x.filters = append(x.filters, newFilter(s.width))
	for _, w := range wilds {
		x.filters[s.filter].add(w.pair)
	}
	i := 0
	for d := range 2 + 1<<s.width {
		for i < len(wilds) && int(wilds[i].bucket) < d {
			i++
		}
		x.buckets = append(x.buckets, s.from+uint32(i))
	}
	return s
}

// chooseBuckets puts each pattern into the bucket of its rarest pair.
func chooseBuckets(wilds []wildcardPattern, width uint8) {
	var count [1 << maxWidth]uint32
	for _, w := range wilds {
		for i := 1; i < len(w.rest); i++ {
			count[bucketOf(pairOf(w.rest[i-1], w.rest[i]), width)]++
		}
	}
	for i := range wilds {
		w := &wilds[i]
		w.bucket = 1 << width
		rarest := ^uint32(0)
		for j := 1; j < len(w.rest); j++ {
			if w.rest[j-1] == Star[0] || w.rest[j] == Star[0] {
				continue
			}
			p := pairOf(w.rest[j-1], w.rest[j])
			if d := bucketOf(p, width); count[d] < rarest {
				w.bucket, w.pair, rarest = uint16(d), p, count[d]
			}
		}
	}
}

// pair is two bytes, one after the other.
type pair uint16

func pairOf(a, b byte) pair { return pair(a)<<8 | pair(b) }

// bucketOf spreads the pairs over the buckets.
func bucketOf(p pair, width uint8) uint32 { return uint32(p) * 0x9E3779B1 >> ((32 - width) & 31) }

// filter is the pairs by which patterns were put into buckets, and few others: two bits for each. It is a
// few cache lines, where the buckets of a large set are hundreds.
type filter []uint64

// newFilter returns a filter for a set with 1<<width buckets, with eight bits for each, as far as it goes.
func newFilter(width uint8) filter { return make(filter, 1<<min(width+3, maxWidth)/64) }

// bits returns the bits of a pair: two independent hashes of it.
func (f filter) bits(p pair) (uint32, uint32) {
	most := uint32(64*len(f) - 1)
	return uint32(p) * 0x9E3779B1 >> 16 & most, uint32(p) * 0x85EBCA6B >> 16 & most
}

func (f filter) add(p pair) {
	a, b := f.bits(p)
	f[a/64] |= 1 << (a % 64)
	f[b/64] |= 1 << (b % 64)
}

// next returns the end of the first pair in text, from that which ends at i on, that may be one of them; -1
// if none is.
func (f filter) next(text string, i int) int {
	for ; i < len(text); i++ {
		if a, b := f.bits(pairOf(text[i-1], text[i])); f[a/64]>>(a%64)&1 != 0 && f[b/64]>>(b%64)&1 != 0 {
			return i
		}
	}
	return -1
}

// findWildcard returns the lowest rank among best and the patterns of the set
// and those above it that match target.
func (x *Index) findWildcard(target string, set uint32, best Rank) Rank {
	for set != 0 {
		s := &x.sets[set]
		if text := target[s.skip:]; s.width == 0 {
			best = x.try(s.from, s.to, text, best)
		} else {
			best = x.open(s, text, best)
		}
		set = s.up
	}
	return best
}

// try returns the lowest rank among best and the patterns from one number to
// another. They come by rank, so those that could not beat best are not tried.
func (x *Index) try(from, to uint32, text string, best Rank) Rank {
	for i := from; i < to && x.wilds[i].rank < best; i++ {
		if x.wilds[i].matches(text) {
			return x.wilds[i].rank
		}
	}
	return best
}

// open tries the patterns in the buckets of the pairs that text has, each once.
func (x *Index) open(s *wildcardSet, text string, best Rank) Rank {
	buckets := x.bucketsOf(s)
	best = x.try(buckets[1<<s.width], buckets[1+1<<s.width], text, best)
	if i := x.filters[s.filter].next(text, 1); i > 0 {
		best = x.openFrom(s, text, i, best)
	}
	return best
}

// openFrom tries the patterns in the buckets of the pairs that text has, from that which ends at i on. Most
// targets have none: those need no record of what was opened.
func (x *Index) openFrom(s *wildcardSet, text string, i int, best Rank) Rank {
	buckets, pairs := x.bucketsOf(s), x.filters[s.filter]
	var opened bucketSet
	for ; i > 0; i = pairs.next(text, i+1) {
		if b := bucketOf(pairOf(text[i-1], text[i]), s.width); opened.add(b) {
			best = x.try(buckets[b], buckets[b+1], text, best)
		}
	}
	return best
}

// bucketsOf returns where in wilds the buckets of the set begin, and where the last ends.
func (x *Index) bucketsOf(s *wildcardSet) []uint32 {
	return x.buckets[s.buckets:][:2+1<<s.width]
}

// bucketSet is which buckets were opened, a bit for each.
type bucketSet [1 << maxWidth / 64]uint64

// add reports whether b is new in the set.
func (s *bucketSet) add(b uint32) bool {
	word, bit := &s[b/64], uint64(1)<<(b%64)
	if *word&bit != 0 {
		return false
	}
	*word |= bit
	return true
}

// matches reports whether the segments are in text, one after the other. To
// take each where it comes first leaves the most for those that follow, so
// nothing is ever tried twice. Text begins with a whole byte.
func (w *wildcardPattern) matches(text string) bool {
	rest := w.rest
	if w.anchor {
		tail := rest[len(rest)-int(w.tail):]
		if !strings.HasSuffix(text, tail) || splitsByte(text, len(text)-len(tail)) {
			return false
		}
	}
	for {
		end := strings.IndexByte(rest, Star[0])
		if end < 0 {
			break
		}
		at := indexBytes(text, rest[:end])
		if at < 0 {
			return false
		}
		text, rest = text[at+end:], rest[end+1:]
	}
	if w.anchor {
		return len(text) >= len(rest)
	}
	return indexBytes(text, rest) >= 0
}

// indexBytes returns where part begins first in text, -1 if nowhere. A byte
// that is percent-encoded is one: the 0 of %20 is not a 0.
func indexBytes(text, part string) int {
	for from := 0; ; {
		at := strings.Index(text[from:], part)
		if at < 0 {
			return -1
		}
		if at += from; !splitsByte(text, at) {
			return at
		}
		from = at + 1
	}
}

// splitsByte reports whether text[i] is one of the two digits of a byte that is
// percent-encoded.
func splitsByte(text string, i int) bool {
	return i > 0 && text[i-1] == '%' || i > 1 && text[i-2] == '%'
}
