//go:build !race

package compliance

// underRace says that the race detector runs.
const underRace = false
