package robotsrules

import "slices"

// slab allocates values many at a time. The zero value is empty.
type slab[T any] struct{ free []T }

const (
	smallSlab = 8
	largeSlab = 256
)

// put keeps v and returns where.
func (s *slab[T]) put(v T) *T {
	return &s.list(v)[0]
}

// list keeps v and returns a slice of just it, which grows elsewhere.
func (s *slab[T]) list(v T) []T {
	if len(s.free) == cap(s.free) {
		s.free = make([]T, 0, min(max(smallSlab, 2*cap(s.free)), largeSlab))
	}
	s.free = append(s.free, v)
	n := len(s.free)
	return s.free[n-1 : n : n]
}

// fit returns s without the room that is left in it, if that is worth a copy.
func fit[T any](s []T) []T {
	if cap(s)-len(s) <= len(s)/8 {
		return s
	}
	return slices.Clone(s)
}
