package robotsrules

import (
	"cmp"
	"math/bits"
	"slices"
	"strings"
)

// wildcardSet are the patterns with stars that begin with the same literal. A
// large set is divided into drawers: each pattern lies in that of a pair of
// octets which it needs and few others of the set do, so that only the drawers
// of the pairs in a target have to be opened.
type wildcardSet struct {
	from, to uint32 // in index.wilds, by drawer, best rank first
	up       uint32 // the set of the nearest shorter literal; 0 for none
	skip     uint32 // length of the literal
	drawers  uint32 // in index.drawers, where the drawers begin
	width    uint8  // there are 1<<width drawers; 0: the set is not divided
}

const (
	// fewWildcards is how many patterns it is cheaper to try one by one.
	fewWildcards = 8
	maxWidth     = 12
)

// wildcardRule is a pattern with stars, without the literal it begins with.
type wildcardRule struct {
	rank   rank
	rest   string // segments, with a NUL between two
	tail   int32  // length of the last segment when it is anchored
	drawer uint16
	anchor bool
}

func newWildcardRule(e *entry) wildcardRule {
	return wildcardRule{
		rank:   e.rank,
		rest:   e.rest,
		tail:   int32(len(e.rest) - strings.LastIndexByte(e.rest, star[0]) - 1),
		anchor: e.anchor,
	}
}

// fileSet makes a set of the patterns in x.wilds from the given one on.
func (x *index) fileSet(from int, up uint32, skip int) wildcardSet {
	s := wildcardSet{from: uint32(from), to: uint32(len(x.wilds)), up: up, skip: uint32(skip)}
	wilds := x.wilds[from:]
	if len(wilds) > fewWildcards {
		s.width = uint8(min(bits.Len(uint(len(wilds)))+1, maxWidth))
		chooseDrawers(wilds, s.width)
	}
	slices.SortFunc(wilds, func(a, b wildcardRule) int {
		return cmp.Or(cmp.Compare(a.drawer, b.drawer), cmp.Compare(a.rank, b.rank))
	})
	if s.width == 0 {
		return s
	}
	// After the drawers of the pairs comes one for patterns without any.
	s.drawers = uint32(len(x.drawers))
	i := 0
	for d := range 2 + 1<<s.width {
		for i < len(wilds) && int(wilds[i].drawer) < d {
			i++
		}
		x.drawers = append(x.drawers, s.from+uint32(i))
	}
	return s
}

// chooseDrawers puts each pattern into the drawer of its rarest pair.
func chooseDrawers(wilds []wildcardRule, width uint8) {
	var count [1 << maxWidth]uint32
	for _, w := range wilds {
		for i := 1; i < len(w.rest); i++ {
			count[drawerOf(w.rest[i-1], w.rest[i], width)]++
		}
	}
	for i := range wilds {
		w := &wilds[i]
		w.drawer = 1 << width
		rarest := ^uint32(0)
		for j := 1; j < len(w.rest); j++ {
			if w.rest[j-1] == star[0] || w.rest[j] == star[0] {
				continue
			}
			if d := drawerOf(w.rest[j-1], w.rest[j], width); count[d] < rarest {
				w.drawer, rarest = uint16(d), count[d]
			}
		}
	}
}

// drawerOf spreads the pairs of octets over the drawers.
func drawerOf(a, b byte, width uint8) uint32 {
	return (uint32(a)<<8 | uint32(b)) * 0x9E3779B1 >> (32 - width)
}

// findWildcard returns the lowest rank among best and the patterns of the set
// and those above it that match target.
func (x *index) findWildcard(target string, set uint32, best rank) rank {
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
func (x *index) try(from, to uint32, text string, best rank) rank {
	for i := from; i < to && x.wilds[i].rank < best; i++ {
		if x.wilds[i].matches(text) {
			return x.wilds[i].rank
		}
	}
	return best
}

// open tries the patterns in the drawers of the pairs that text has, each once.
func (x *index) open(s *wildcardSet, text string, best rank) rank {
	drawers := x.drawers[s.drawers:][:2+1<<s.width]
	best = x.try(drawers[1<<s.width], drawers[1+1<<s.width], text, best)
	var opened [1 << maxWidth / 64]uint64
	for i := 1; i < len(text); i++ {
		d := drawerOf(text[i-1], text[i], s.width)
		if drawers[d] == drawers[d+1] || opened[d/64]>>(d%64)&1 == 1 {
			continue
		}
		opened[d/64] |= 1 << (d % 64)
		best = x.try(drawers[d], drawers[d+1], text, best)
	}
	return best
}

// matches reports whether the segments stand in text, one behind the other. To
// take each where it comes first leaves the most for those that follow, so
// nothing is ever tried twice. Text begins with a whole octet.
func (w *wildcardRule) matches(text string) bool {
	rest := w.rest
	if w.anchor {
		tail := rest[len(rest)-int(w.tail):]
		if !strings.HasSuffix(text, tail) || splitsOctet(text, len(text)-len(tail)) {
			return false
		}
	}
	for {
		end := strings.IndexByte(rest, star[0])
		if end < 0 {
			break
		}
		at := indexOctets(text, rest[:end])
		if at < 0 {
			return false
		}
		text, rest = text[at+end:], rest[end+1:]
	}
	if w.anchor {
		return len(text) >= len(rest)
	}
	return indexOctets(text, rest) >= 0
}

// indexOctets returns where part first stands in text, -1 if nowhere. An octet
// that is percent-encoded is one: the 0 of %20 is not a 0.
func indexOctets(text, part string) int {
	for from := 0; ; {
		at := strings.Index(text[from:], part)
		if at < 0 {
			return -1
		}
		if at += from; !splitsOctet(text, at) {
			return at
		}
		from = at + 1
	}
}

// splitsOctet reports whether text[i] is one of the two digits of an octet that is
// percent-encoded.
func splitsOctet(text string, i int) bool {
	return i > 0 && text[i-1] == '%' || i > 1 && text[i-2] == '%'
}
