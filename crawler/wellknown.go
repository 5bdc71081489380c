package crawler

import (
	_ "embed" // for wellknown.txt
	"strings"
)

//go:embed wellknown.txt
var wellKnownFile string

// wellKnown is the content of wellknown.txt: from a name in small letters to the name.
var wellKnown = parseWellKnown(wellKnownFile)

// WellKnown returns the name of a well-known robot, by its name in small letters, as in
// [Identity.Key]. They are a closed set, so that a metric can tell them apart without anybody
// being able to make up more. It does not allocate, and is safe for concurrent use.
func WellKnown(key string) (name string, ok bool) {
	name, ok = wellKnown[key]
	return name, ok
}

func parseWellKnown(text string) map[string]string {
	names := make(map[string]string)
	for line := range strings.Lines(text) {
		if name := strings.TrimSpace(line); name != "" && name[0] != '#' && name[0] != '[' {
			names[strings.ToLower(name)] = name
		}
	}
	return names
}
