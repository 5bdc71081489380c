package robots

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
)

const goRedis = "github.com/redis/go-redis/v9"

const module = "github.com/caddy-robots/caddy-robots"

func TestABlankImportRegistersTheHandler(t *testing.T) {
	info, err := caddy.GetModule("http.handlers.robots")
	if err != nil {
		t.Fatal(err)
	}
	if info.New() == nil {
		t.Error("the handler's New returns nil")
	}
}

// leaves are the packages that know one subject each, with what they may import besides
// the standard library.
var leaves = map[string][]string{
	"robotsrules":                    {module + "/robotsrules/internal/index"},
	"robotsrules/internal/index":     nil,
	"crawler":                        {"github.com/mssola/useragent"},
	"internal/proof/dns":             {module + "/internal/enforce", "golang.org/x/sync/singleflight"},
	"internal/proof/ipranges":        {"github.com/gaissmai/bart"},
	"internal/proof/webbotauth":      {module + "/internal/enforce", module + "/internal/proof/ipranges", "github.com/dunglas/httpsfv"},
	"internal/accesslog":             {"github.com/klauspost/compress/gzip", "github.com/klauspost/compress/zstd"},
	"internal/compliance":            {"github.com/fxamacker/cbor/v2"},
	"internal/ratelimit":             nil,
	"internal/ratelimit/limitertest": {module + "/internal/ratelimit"},
	"internal/ratelimit/redis":       {module + "/internal/ratelimit", goRedis, goRedis + "/maintnotifications"},

	"internal/ratelimit/redis/redistest": {module + "/internal/testutil"},
	"internal/testutil":                  {"github.com/miekg/dns", "golang.org/x/tools/txtar"},
}

// loggers are the packages that write to Caddy's log.
var loggers = []string{"caddymodule", "internal/storage", "internal/fleet", "internal/policies", "internal/proof"}

// Imports run one way: cmd/caddy and robots to caddymodule, caddymodule to the leaves,
// which import neither Caddy nor one another. The files are read, not the build list, so
// that the test cannot be cached over a change.
func TestImportsRunOneWay(t *testing.T) {
	checked := make(map[string]int)
	for folder, imports := range importsOfFolders(t) {
		allowed, leaf := leaves[folder]
		for _, path := range imports {
			switch {
			case path == "":
				checked[folder]++ // a file
			case leaf && !slices.Contains(allowed, path):
				t.Errorf("%s imports %s: it may import the standard library and %q only", folder, path, allowed)
			case path == module+"/internal/ratelimit/redis" && folder != "caddymodule" && folder != "internal/fleet":
				t.Errorf("%s imports %s: only internal/fleet does", folder, path)
			case folder == "internal/fleet" && strings.HasPrefix(path, "github.com/caddyserver/"):
				t.Errorf("%s imports %s: it knows nothing of Caddy", folder, path)
			case path == "github.com/mssola/useragent" && folder != "crawler":
				t.Errorf("%s imports %s: only crawler does", folder, path)
			case strings.HasPrefix(path, "go.uber.org/zap") && !slices.Contains(loggers, folder):
				t.Errorf("%s imports %s: only %q log", folder, path, loggers)
			case strings.HasPrefix(path, "github.com/caddyserver/caddy/v2/") && folder == "internal/policies":
				t.Errorf("%s imports %s: only caddymodule knows Caddy's HTTP server", folder, path)
			case strings.HasPrefix(path, module+"/caddymodule") && folder != "." && folder != "cmd/caddy":
				t.Errorf("%s imports %s: only the front door and cmd/caddy do", folder, path)
			}
		}
	}
	for _, folder := range []string{".", "cmd/caddy", "caddymodule", "robotsrules", "crawler", "internal/ratelimit", "internal/accesslog", "internal/compliance", "internal/storage", "internal/fleet", "internal/policies", "internal/proof"} {
		if checked[folder] == 0 {
			t.Errorf("no Go file was found in %s", folder)
		}
	}
}

// importsOfFolders returns, for each folder, an empty string for each of its files that is
// no test, and what they import from outside the standard library.
func importsOfFolders(t *testing.T) map[string][]string {
	t.Helper()
	imports := make(map[string][]string)
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (strings.HasPrefix(d.Name(), ".") && path != "." || d.Name() == "testdata") {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		folder := filepath.ToSlash(filepath.Dir(path))
		imports[folder] = append(imports[folder], "")
		for _, spec := range file.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			if first, _, _ := strings.Cut(name, "/"); strings.Contains(first, ".") {
				imports[folder] = append(imports[folder], name)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return imports
}

// Each direct dependency has a line in CONTRIBUTING.md that says what it is for, and each
// line there is a direct dependency.
func TestDependenciesAreAccountedFor(t *testing.T) {
	goMod, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	contributing, err := os.ReadFile("CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	direct := make(map[string]bool)
	for line := range strings.Lines(string(goMod)) {
		path, version, found := strings.Cut(strings.TrimSpace(line), " v")
		if found && !strings.Contains(version, "// indirect") {
			direct[path] = true
		}
	}
	if len(direct) < 3 {
		t.Errorf("direct dependencies found in go.mod: %d", len(direct))
	}
	_, table, found := strings.Cut(string(contributing), "\n| module |")
	table, _, _ = strings.Cut(table, "\n\n")
	if !found {
		t.Fatal("CONTRIBUTING.md has no table of modules")
	}
	explained := make(map[string]bool)
	for _, row := range strings.Split(table, "\n")[2:] {
		path, _, _ := strings.Cut(strings.TrimPrefix(row, "| `"), "` |")
		explained[path] = true
		if !direct[path] {
			t.Errorf("CONTRIBUTING.md explains %s, which is no direct dependency in go.mod", path)
		}
	}
	for path := range direct {
		if !explained[path] {
			t.Errorf("CONTRIBUTING.md does not say what %s is for", path)
		}
	}
}

// Each fuzz target has a row in docs/fuzzing.md, "| what is read | folder name | properties |", and each
// row has its target.
func TestFuzzTargetsAreAccountedFor(t *testing.T) {
	doc, err := os.ReadFile("docs/fuzzing.md")
	if err != nil {
		t.Fatal(err)
	}
	var told []string
	for line := range strings.Lines(string(doc)) {
		if cells := strings.Split(line, " | "); len(cells) == 3 && strings.Contains(cells[1], " Fuzz") {
			told = append(told, cells[1])
		}
	}
	var there []string
	for name, folders := range declaredTests(t) {
		for _, folder := range folders {
			if strings.HasPrefix(name, "Fuzz") {
				there = append(there, folder+" "+name)
			}
		}
	}
	slices.Sort(told)
	slices.Sort(there)
	if !slices.Equal(told, there) {
		t.Errorf("docs/fuzzing.md has\n%s\nwant\n%s", strings.Join(told, "\n"), strings.Join(there, "\n"))
	}
	if len(there) < 30 {
		t.Errorf("fuzz targets found: %d", len(there))
	}
}

// provenDocs are documents that name, for what they promise, the tests that show it.
var provenDocs = []string{"SECURITY.md", "docs/faults.md"}

func TestEveryTestThatADocumentNamesExists(t *testing.T) {
	tests := declaredTests(t)
	if len(tests) < 500 {
		t.Fatalf("got %d tests in the tree, want all of them", len(tests))
	}
	for _, doc := range provenDocs {
		text, err := os.ReadFile(doc)
		if err != nil {
			t.Fatal(err)
		}
		named := regexp.MustCompile("`((?:Test|Fuzz)[A-Z]\\w*)").FindAllStringSubmatch(string(text), -1)
		if len(named) == 0 {
			t.Errorf("%s names no test", doc)
		}
		for _, name := range named {
			if tests[name[1]] == nil {
				t.Errorf("%s names %s, and there is no such test", doc, name[1])
			}
		}
	}
}

// declaredTests returns the names of all tests and fuzz targets, each with the folders that it
// stands in. The files are read, not a build list, so that it holds those of other systems and
// of build tags too.
func declaredTests(t *testing.T) map[string][]string {
	t.Helper()
	tests := make(map[string][]string)
	declared := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)[A-Z]\w*)\(\w+ \*testing\.[TF]\) \{`)
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range declared.FindAllStringSubmatch(string(text), -1) {
			tests[m[1]] = append(tests[m[1]], filepath.ToSlash(filepath.Dir(path)))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return tests
}
