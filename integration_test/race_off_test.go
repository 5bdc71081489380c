//go:build !race

package integration

// raceDetector says that Caddy, too, is to be built with the race detector.
const raceDetector = false
