package integration

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// provenDocs are documents that name, for what they promise, the tests that show it.
var provenDocs = []string{"SECURITY.md", "docs/faults.md"}

func TestEveryTestThatADocumentNamesExists(t *testing.T) {
	tests := testsOfTheTree(t)
	for _, doc := range provenDocs {
		named := regexp.MustCompile("`((?:Test|Fuzz)[A-Z]\\w*)").FindAllStringSubmatch(read(t, doc), -1)
		if len(named) == 0 {
			t.Errorf("%s names no test", doc)
		}
		for _, name := range named {
			if !tests[name[1]] {
				t.Errorf("%s names %s, and there is no such test", doc, name[1])
			}
		}
	}
}

// testsOfTheTree returns the names of all tests and fuzz targets. The files are read, not a build
// list, so that it holds those of other systems and of build tags too.
func testsOfTheTree(t *testing.T) map[string]bool {
	t.Helper()
	tests := make(map[string]bool)
	declared := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)[A-Z]\w*)\(\w+ \*testing\.[TF]\) \{`)
	err := filepath.WalkDir("..", func(name string, d fs.DirEntry, err error) error {
		if matched, _ := filepath.Match("*_test.go", d.Name()); err != nil || !matched {
			return err
		}
		text, err := os.ReadFile(name)
		for _, test := range declared.FindAllStringSubmatch(string(text), -1) {
			tests[test[1]] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(tests) < 500 {
		t.Fatalf("got %d tests in the tree, want all of them", len(tests))
	}
	return tests
}
