//go:build race

package compliance

// underRace says that the race detector runs, under which a flood takes ten times as long
// and a tenth of it shows as much.
const underRace = true
