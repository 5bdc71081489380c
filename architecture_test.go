package robots

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// The picture of docs/architecture.md has each room, and its arrows are what the rooms import: each
// arrow is an import, and each import is an arrow or a way along several.
func TestThePictureOfTheRoomsIsTrue(t *testing.T) {
	text, err := os.ReadFile("docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	_, picture, found := strings.Cut(string(text), "```mermaid\n")
	picture, _, _ = strings.Cut(picture, "```")
	if !found {
		t.Fatal("docs/architecture.md has no picture")
	}
	room := make(map[string]string) // name in the picture -> folder
	for _, m := range regexp.MustCompile(`(\w+)\["([^"<]+)`).FindAllStringSubmatch(picture, -1) {
		room[m[1]] = m[2]
	}
	room["door"] = "."
	arrows := make(map[string][]string)
	for _, m := range regexp.MustCompile(`(?m)^ +(\w+)(?:\[.*?\])? --> (\w+)`).FindAllStringSubmatch(picture, -1) {
		from, to := room[m[1]], room[m[2]]
		if from == "" || to == "" {
			t.Errorf("the arrow from %s to %s: one of them has no name in the picture", m[1], m[2])
		}
		arrows[from] = append(arrows[from], to)
	}
	if len(room) < 14 || len(arrows) < 7 {
		t.Fatalf("the picture: got rooms %v and arrows %v", room, arrows)
	}

	drawn := make(map[string]bool)
	for _, folder := range room {
		drawn[folder] = true
	}
	// shown returns the room of the picture that a folder is in; the command is at the front door.
	shown := func(folder string) string {
		if folder == "cmd/caddy" {
			return "."
		}
		for inside := folder; inside != "" && !drawn[inside]; {
			inside, _, _ = cutLast(inside)
			if folder = inside; inside == "" {
				return ""
			}
		}
		return folder
	}
	var leads func(from, to string) bool
	leads = func(from, to string) bool {
		for _, next := range arrows[from] {
			if next == to || leads(next, to) {
				return true
			}
		}
		return false
	}
	imported := make(map[[2]string]bool)
	for folder, paths := range importsOfRooms(t) {
		from := shown(folder)
		if from == "" {
			if folder != "internal/testutil" {
				t.Errorf("the picture lacks %s", folder)
			}
			continue
		}
		for path := range paths {
			name, ours := strings.CutPrefix(path, module+"/")
			to := shown(name)
			if !ours || to == from || to == "" || name == "internal/proof/ipranges" {
				continue // what reads ranges of addresses is left out, as the text below says
			}
			imported[[2]string{from, to}] = true
			if !leads(from, to) {
				t.Errorf("%s imports %s, and no way in the picture leads from %s to %s", folder, name, from, to)
			}
		}
	}
	for from, all := range arrows {
		for _, to := range all {
			if !imported[[2]string{from, to}] {
				t.Errorf("the picture has an arrow from %s to %s, which is no import", from, to)
			}
		}
	}
}

// cutLast cuts the last part off a path.
func cutLast(path string) (parent, last string, found bool) {
	i := strings.LastIndexByte(path, '/')
	return path[:max(i, 0)], path[i+1:], i >= 0
}
