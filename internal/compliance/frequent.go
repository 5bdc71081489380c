package compliance

import (
	"cmp"
	"hash/maphash"
	"math/bits"
	"slices"
)

// How many lines and how many paths are kept of a robot, and how many paths of these are reported.
const (
	mostLines  = 10
	mostPaths  = 32
	shownPaths = 20
)

// frequent finds the most frequent of many lines or paths in the room of a few: by random admission
// (Ben Basat and others, Randomized Admission Policy for Efficient Top-k and Frequency Estimation, 2017).
// A new one takes the place of the rarest, and goes on from its count, with a chance of one in that count
// and one: so what comes once in a while drives out nothing that comes often, and each count is right on
// average. As long as there is room for all, counts are exact.
//
// The texts stand apart, since most looks are at the others. The zero value is empty; it allocates only
// when it is used first.
type frequent struct {
	hashes []uint32 // of heads, side by side, since all are looked at
	heads  []head
	texts  [][maxPath]byte
	random uint64
	latest int    // place of what was found last, which often comes again
	least  uint64 // no count is less
}

// head is a line or, with the number 0, a path; how often it occurred; and how much of that it
// took over from those whose place it has.
type head struct {
	count, over uint64
	hash        uint32
	number      int32
	length      uint8
}

// frequentSeed is that of the hashes, which are not stored.
var frequentSeed = maphash.MakeSeed()

// newHead returns the head of a line or path that occurred once, of whose text maxPath bytes are kept.
func newHead(number int32, text string) head {
	text = text[:min(len(text), maxPath)]
	return head{count: 1, hash: uint32(maphash.String(frequentSeed, text)), number: number, length: uint8(len(text))}
}

// text returns the text at a place in memory of its own.
func (f *frequent) text(i int) string { return string(f.texts[i][:f.heads[i].length]) }

// add counts a line or path, of which at most so many are kept.
func (f *frequent) add(number int32, text string, most int) {
	if f.latest < len(f.heads) {
		c := &f.heads[f.latest]
		if n := int(c.length); c.number == number && n == len(text) && string(f.texts[f.latest][:n]) == text {
			c.count = sum(c.count, 1)
			return
		}
	}
	h := newHead(number, text)
	if i := f.index(&h, text); i >= 0 {
		f.heads[i].count = sum(f.heads[i].count, 1)
		f.latest = i
		return
	}
	if len(f.heads) < most {
		f.keep(h, text, most)
		return
	}
	// Counts only grow, so the chance is never more than what was last found to be the least count makes it:
	// mostly there is no need to look for the rarest.
	if !f.draw(1, f.least+1) {
		return
	}
	rarest := 0
	for i := range f.heads {
		if f.heads[i].count < f.heads[rarest].count {
			rarest = i
		}
	}
	h.over = f.heads[rarest].count
	h.count = sum(h.over, 1)
	if f.draw(f.least+1, h.count) {
		f.heads[rarest], f.hashes[rarest] = h, h.hash
		copy(f.texts[rarest][:], text)
	}
	f.least = h.over
}

// draw reports true with a chance of k in n.
func (f *frequent) draw(k, n uint64) bool {
	f.random += 0x9e3779b97f4a7c15 // SplitMix64
	z := f.random
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	at, _ := bits.Mul64(z^z>>31, n)
	return at < k
}

// keep adds what is not there yet, with room for all that there will ever be.
func (f *frequent) keep(h head, text string, most int) {
	if f.heads == nil {
		f.hashes, f.heads, f.texts = make([]uint32, 0, most), make([]head, 0, most), make([][maxPath]byte, 0, most)
	}
	f.hashes, f.heads = append(f.hashes, h.hash), append(f.heads, h)
	f.texts = f.texts[:len(f.heads)]
	copy(f.texts[len(f.heads)-1][:], text)
}

// index returns where the same line or path is, or -1.
func (f *frequent) index(h *head, text string) int {
	for i, hash := range f.hashes {
		if hash != h.hash {
			continue
		}
		if c := &f.heads[i]; c.number == h.number && c.length == h.length && string(f.texts[i][:c.length]) == text[:c.length] {
			return i
		}
	}
	return -1
}

// stored returns what is kept as it is stored.
func (f *frequent) stored() []storedCount {
	all := make([]storedCount, len(f.heads))
	for i := range f.heads {
		c := &f.heads[i]
		all[i] = storedCount{Line: c.number, Text: f.text(i), Count: c.count, Over: c.over}
	}
	return all
}

// newFrequent returns what was stored, within bounds: so many of them, and so many bytes of each text.
func newFrequent(stored []storedCount, most, bytes int) (f frequent) {
	for _, c := range stored[:min(len(stored), most)] {
		text := cut(c.Text, bytes)
		h := newHead(min(max(c.Line, 0), maxLine), text)
		h.count, h.over = min(c.Count, maxCount), min(c.Over, c.Count, maxCount)
		f.keep(h, text, most)
	}
	return f
}

// merge adds what was counted elsewhere.
func (f *frequent) merge(from *frequent, most int) {
	all := frequent{random: f.random}
	both := len(f.heads) + len(from.heads)
	for _, part := range []*frequent{f, from} {
		for i := range part.heads {
			h, text := part.heads[i], part.text(i)
			if at := all.index(&h, text); at >= 0 {
				c := &all.heads[at]
				c.count, c.over = sum(c.count, h.count), sum(c.over, h.over)
			} else {
				all.keep(h, text, both)
			}
		}
	}
	kept := frequent{random: all.random}
	for _, i := range all.sorted() {
		if len(kept.heads) < most {
			kept.keep(all.heads[i], all.text(i), most)
		}
	}
	*f = kept
}

// sorted returns the places of what is kept, the most frequent first.
func (f *frequent) sorted() []int {
	places := make([]int, len(f.heads))
	for i := range places {
		places[i] = i
	}
	slices.SortStableFunc(places, func(a, b int) int { return cmp.Compare(f.heads[b].count, f.heads[a].count) })
	return places
}

// surely is the share of a count that must be certain for it to be reported: nine tenths.
func (h *head) surely() bool { return h.over <= h.count/10 }
