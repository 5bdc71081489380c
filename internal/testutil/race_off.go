//go:build !race

package testutil

// Race says that the race detector is on, which slows down and allocates.
const Race = false
