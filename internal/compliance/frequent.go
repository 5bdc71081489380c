package compliance

import (
	"bytes"
	"cmp"
	"math"
	"slices"
)

// mostFrequent is how many lines, and how many paths, are kept of a robot.
const mostFrequent = 10

// frequent finds the most frequent of many lines or paths in the room of a few: Space-Saving
// (Metwally, Agrawal and El Abbadi, 2005). A new one takes the place of the rarest and goes on
// from its count, so nothing that makes up more than a tenth of all is ever missing. The
// zero value is empty; it allocates only when it is used first.
type frequent []counted

// counted is a line or, with the number 0, a path; how often it occurred at most; and how much
// of that may belong to others. It holds its text itself, so that the next one can be written over it.
type counted struct {
	count, over uint64
	number      int32
	length      uint8
	buf         [maxPath]byte
}

// text returns the text in memory of its own.
func (c *counted) text() string { return string(c.buf[:c.length]) }

// is reports whether c counts this line or path. Paths begin alike, so their ends are compared first.
func (c *counted) is(number int32, text string) bool {
	n := len(text)
	return c.number == number && int(c.length) == n && (n == 0 || c.buf[n-1] == text[n-1]) && string(c.buf[:n]) == text
}

// set says what is counted, of whose text it keeps maxPath bytes.
func (c *counted) set(number int32, text string) {
	c.number, c.length = number, uint8(copy(c.buf[:], text))
}

// add counts a line or path.
func (f *frequent) add(number int32, text string) {
	rarest, least := 0, uint64(math.MaxUint64)
	for i := range *f {
		c := &(*f)[i]
		if c.is(number, text) {
			c.count = sum(c.count, 1)
			return
		}
		if c.count < least {
			rarest, least = i, c.count
		}
	}
	if len(*f) < mostFrequent {
		rarest = len(*f)
		*f = append(f.room(), counted{})
	}
	r := &(*f)[rarest]
	r.set(number, text)
	r.count, r.over = sum(r.count, 1), r.count
}

// room returns f with room for all that it will ever hold.
func (f frequent) room() frequent { return slices.Grow(f, mostFrequent-len(f)) }

// stored returns what is kept as it is stored.
func (f frequent) stored() []storedCount {
	all := make([]storedCount, len(f))
	for i := range f {
		c := &f[i]
		all[i] = storedCount{Line: c.number, Text: c.text(), Count: c.count, Over: c.over}
	}
	return all
}

// newFrequent returns what was stored, within bounds: so many bytes of each text are kept.
func newFrequent(stored []storedCount, most int) frequent {
	f := frequent(nil).room()
	for _, c := range stored[:min(len(stored), mostFrequent)] {
		one := counted{count: min(c.Count, maxCount), over: min(c.Over, c.Count, maxCount)}
		one.set(min(max(c.Line, 0), maxLine), cut(c.Text, most))
		f = append(f, one)
	}
	return f
}

// index returns where the same line or path is, or -1.
func (f frequent) index(c *counted) int {
	for i := range f {
		if f[i].number == c.number && bytes.Equal(f[i].buf[:f[i].length], c.buf[:c.length]) {
			return i
		}
	}
	return -1
}

// rarest returns the highest count that a line or path which is missing here can have.
func (f frequent) rarest() uint64 {
	if len(f) < mostFrequent {
		return 0
	}
	least := f[0].count
	for i := range f {
		least = min(least, f[i].count)
	}
	return least
}

// merge adds what was counted elsewhere (Agrawal and others, Mergeable Summaries, 2012).
func (f *frequent) merge(from frequent) {
	here, there := f.rarest(), from.rarest()
	all := make(frequent, 0, 2*mostFrequent)
	for _, c := range *f {
		if at := from.index(&c); at >= 0 {
			c.count, c.over = sum(c.count, from[at].count), sum(c.over, from[at].over)
		} else {
			c.count, c.over = sum(c.count, there), sum(c.over, there)
		}
		all = append(all, c)
	}
	for _, c := range from {
		if f.index(&c) < 0 {
			c.count, c.over = sum(c.count, here), sum(c.over, here)
			all = append(all, c)
		}
	}
	kept := frequent(nil).room()
	for _, c := range all.inOrder(func(c *counted) uint64 { return c.count }) {
		if len(kept) < mostFrequent {
			kept = append(kept, *c)
		}
	}
	*f = kept
}

// sorted returns what is kept, in the order of how often it was there for certain.
func (f frequent) sorted() []*counted {
	return f.inOrder(func(c *counted) uint64 { return c.count - c.over })
}

// inOrder returns what is kept, that with the largest number first.
func (f frequent) inOrder(number func(*counted) uint64) []*counted {
	all := make([]*counted, len(f))
	for i := range f {
		all[i] = &f[i]
	}
	slices.SortStableFunc(all, func(a, b *counted) int { return cmp.Compare(number(b), number(a)) })
	return all
}
