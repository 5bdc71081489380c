package compliance

import (
	"cmp"
	"slices"
)

// mostFrequent is how many lines, and how many paths, are kept of a robot.
const mostFrequent = 10

// frequent finds the most frequent of many things in the room of a few: Space-Saving
// (Metwally, Agrawal and El Abbadi, 2005). A new thing takes the place of the rarest and goes on
// from its count, so nothing that makes up more than a tenth of all is ever missing. The
// zero value is empty.
type frequent[T comparable] []counted[T]

// counted is a thing, how often it was there at the most, and how much of that may
// be another's.
type counted[T comparable] struct {
	what        T
	count, over uint64
}

// add counts a thing and returns it as it is kept: keep makes of a new one a copy that lasts.
func (f *frequent[T]) add(what T, keep func(T) T) T {
	rarest := 0
	for i := range *f {
		c := &(*f)[i]
		if c.what == what {
			c.count = sum(c.count, 1)
			return c.what
		}
		if c.count < (*f)[rarest].count {
			rarest = i
		}
	}
	c := counted[T]{what: keep(what), count: 1}
	if len(*f) < mostFrequent {
		*f = append(f.room(), c)
		return c.what
	}
	r := &(*f)[rarest]
	c.count, c.over = sum(c.count, r.count), r.count
	*r = c
	return c.what
}

// room returns f with room for all that it will ever hold.
func (f frequent[T]) room() frequent[T] { return slices.Grow(f, mostFrequent-len(f)) }

// rarest returns the count that something which is missing here can have at the most.
func (f frequent[T]) rarest() uint64 {
	if len(f) < mostFrequent {
		return 0
	}
	least := f[0].count
	for _, c := range f {
		least = min(least, c.count)
	}
	return least
}

// merge adds what was counted elsewhere (Agrawal and others, Mergeable Summaries, 2012).
func (f *frequent[T]) merge(from frequent[T]) {
	here, there := f.rarest(), from.rarest()
	known := len(*f)
	for i := range *f {
		c := &(*f)[i]
		if at := slices.IndexFunc(from, func(d counted[T]) bool { return d.what == c.what }); at >= 0 {
			c.count, c.over = sum(c.count, from[at].count), sum(c.over, from[at].over)
		} else {
			c.count, c.over = sum(c.count, there), sum(c.over, there)
		}
	}
	for _, c := range from {
		if !slices.ContainsFunc((*f)[:known], func(d counted[T]) bool { return d.what == c.what }) {
			*f = append(*f, counted[T]{c.what, sum(c.count, here), sum(c.over, here)})
		}
	}
	slices.SortStableFunc(*f, func(a, b counted[T]) int { return cmp.Compare(b.count, a.count) })
	*f = slices.Clone((*f)[:min(len(*f), mostFrequent)]).room()
}

// sorted returns what is kept, in the order of how often it was there for certain.
func (f frequent[T]) sorted() frequent[T] {
	f = slices.Clone(f)
	slices.SortStableFunc(f, func(a, b counted[T]) int { return cmp.Compare(b.count-b.over, a.count-a.over) })
	return f
}
