package index

import "slices"

// Arena allocates values many at a time, so that they lie together and cost one allocation
// for many. The zero value is empty. It is for one goroutine.
type Arena[T any] struct{ free []T }

const (
	fewValues = 8
	// manyValues is one less than 256 as Go writes a word of its own before them, with which
	// 256 would take the room of the next larger size.
	manyValues = 255
)

// Put keeps v and returns a pointer to it.
func (a *Arena[T]) Put(v T) *T {
	return &a.List(v)[0]
}

// List keeps v and returns a slice of just it; to append to that copies it.
func (a *Arena[T]) List(v T) []T {
	if len(a.free) == cap(a.free) {
		a.free = make([]T, 0, min(max(fewValues, 2*cap(a.free)), manyValues))
	}
	a.free = append(a.free, v)
	n := len(a.free)
	return a.free[n-1 : n : n]
}

// fit returns s without the room that is left in it, if that is worth a copy.
func fit[T any](s []T) []T {
	if cap(s)-len(s) <= len(s)/8 {
		return s
	}
	return slices.Clone(s)
}
