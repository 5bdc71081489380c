//go:build !race

package crawler

// underRace says that the race detector runs.
const underRace = false
