package compliance

import (
	"cmp"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"unsafe"
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
// The zero value is empty. It allocates when it keeps something new, which is the rarer the more it has seen.
type frequent struct {
	heads  []head
	tags   [mostPaths / 8]uint64 // those of heads, eight in a word
	random uint64
	latest int    // place of what was found last, which often comes again
	least  uint64 // no count is less
}

// head is a line or, with the number 0, a path; how often it occurred; and how much of that it
// took over from those whose place it has.
type head struct {
	text        string
	count, over uint64
	number      int32
	by          int32 // of a path: the line that decided about it last; 0: none did
	tag         uint8
}

// tagOf returns a hash of a text: of its length, its end and its middle, where paths differ most. It need not be
// a good one, since a text is compared with 32 others at most.
func tagOf(text string) uint8 {
	n := len(text)
	if n < 8 {
		h := uint8(n)
		for i := range n {
			h = h*31 + text[i]
		}
		return h
	}
	const odd = 0x9e3779b97f4a7c15
	return uint8(((eight(text[n-8:])*odd ^ eight(text[(n-8)/2:])) + uint64(n)) * odd >> 56)
}

// eight returns the first eight bytes of a text as a number.
func eight(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// add counts a line or path, of which at most so many are kept, as many as there are tags at most. It reports
// whether it keeps another one.
func (f *frequent) add(number, by int32, text string, most int) bool {
	tag, at := tagOf(text), f.latest
	if uint(at) >= uint(len(f.heads)) || !f.heads[at].is(tag, number, text) {
		if at = f.index(tag, number, text); at < 0 {
			return f.addNew(head{text: text, count: 1, number: number, by: by, tag: tag}, most)
		}
		f.latest = at
	}
	c := &f.heads[at]
	c.count, c.by = sum(c.count, 1), by
	return false
}

// is reports whether this is the head of a line or path.
func (h *head) is(tag uint8, number int32, text string) bool {
	return h.tag == tag && h.number == number && h.text == text
}

// addNew counts a line or path that is not there.
func (f *frequent) addNew(h head, most int) bool {
	if len(f.heads) < most {
		h.text = strings.Clone(h.text)
		f.keep(h, most)
		return true
	}
	// Counts only grow, so the chance is never more than what was last found to be the least count makes it:
	// mostly there is no need to look for the rarest.
	return f.draw(1, f.least+1) && f.admit(&h)
}

// admit gives a new one, which was drawn by the least count that was known, the place of the rarest, if it is
// drawn by the count of that, too.
func (f *frequent) admit(h *head) (admitted bool) {
	rarest := 0
	for i := range f.heads {
		if f.heads[i].count < f.heads[rarest].count {
			rarest = i
		}
	}
	over := f.heads[rarest].count
	if admitted = f.draw(f.least+1, over+1); admitted {
		h.text, h.count, h.over = strings.Clone(h.text), sum(over, 1), over
		f.heads[rarest] = *h
		f.tag(rarest)
	}
	f.least = over
	return admitted
}

// size returns how many bytes it takes besides its own.
func (f *frequent) size() int {
	n := cap(f.heads) * int(unsafe.Sizeof(head{}))
	for i := range f.heads {
		n += len(f.heads[i].text) + 8
	}
	return n
}

// draw reports true with a chance of k in n.
func (f *frequent) draw(k, n uint64) bool {
	if f.random == 0 {
		f.random = rand.Uint64() // so that nobody can time what is not to be seen
	}
	f.random += 0x9e3779b97f4a7c15 // SplitMix64
	z := f.random
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	at, _ := bits.Mul64(z^z>>31, n)
	return at < k
}

// keep adds what is not there yet, of at most so many.
func (f *frequent) keep(h head, most int) {
	f.heads = append(grown(f.heads, most), h)
	f.tag(len(f.heads) - 1)
}

// tag writes the tag of a place.
func (f *frequent) tag(i int) {
	word, shift := &f.tags[i/8], i%8*8
	*word = *word&^(0xff<<shift) | uint64(f.heads[i].tag)<<shift
}

// index returns where the same line or path is, or -1. It compares eight tags at a time: of a word in which
// they have been made zero where they are the same, the highest bit of each byte that is zero.
func (f *frequent) index(tag uint8, number int32, text string) int {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	for w := 0; w*8 < len(f.heads); w++ {
		x := f.tags[w] ^ uint64(tag)*ones
		for same := (x - ones) &^ x & highs; same != 0; same &= same - 1 {
			if i := w*8 + bits.TrailingZeros64(same)/8; i < len(f.heads) && f.heads[i].is(tag, number, text) {
				return i
			}
		}
	}
	return -1
}

// stored returns what is kept as it is stored.
func (f *frequent) stored() []storedCount {
	all := make([]storedCount, len(f.heads))
	for i := range f.heads {
		c := &f.heads[i]
		all[i] = storedCount{Line: c.number + c.by, Text: c.text, Count: c.count, Over: c.over} // one of them is 0
	}
	return all
}

// newFrequent returns what was stored, within bounds: so many of them, and so many bytes of each text.
func newFrequent(stored []storedCount, most, bytes int) (f frequent) {
	for _, c := range stored[:min(len(stored), most)] {
		h := head{text: cut(c.Text, bytes), number: min(max(c.Line, 0), maxLine), count: min(c.Count, maxCount)}
		h.over, h.tag = min(c.Over, h.count), tagOf(h.text)
		if most == mostPaths {
			h.number, h.by = 0, h.number
		}
		f.keep(h, most)
	}
	return f
}

// merge adds what was counted elsewhere.
func (f *frequent) merge(from *frequent, most int) {
	all := slices.Clone(f.heads)
	for _, h := range from.heads {
		if i := f.index(h.tag, h.number, h.text); i >= 0 {
			all[i].count, all[i].over, all[i].by = sum(all[i].count, h.count), sum(all[i].over, h.over), h.by
		} else {
			all = append(all, h)
		}
	}
	*f = frequent{random: f.random}
	for _, h := range byCount(all)[:min(len(all), most)] {
		f.keep(h, most)
	}
}

// sorted returns what is kept, the most frequent first.
func (f *frequent) sorted() []head { return byCount(slices.Clone(f.heads)) }

// byCount puts the most frequent first.
func byCount(heads []head) []head {
	slices.SortStableFunc(heads, func(a, b head) int { return cmp.Compare(b.count, a.count) })
	return heads
}

// surely is the share of a count that must be certain for it to be reported: nineteen of twenty.
func (h *head) surely() bool { return h.over <= h.count/20 }
