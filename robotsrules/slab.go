package robotsrules

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
