//go:build race

package robotsrules_test

// raceEnabled says that the race detector slows this run down.
const raceEnabled = true
