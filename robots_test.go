package robots

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
)

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

// rooms are the folders of this module, from the front door down. Each is listed with all that it
// may import besides the standard library: rooms, which stand below it in the list, and packages
// of others. "/..." stands for a package and those inside it. What is not listed is forbidden:
// caddyhttp outside caddymodule, say, or go-redis outside internal/ratelimit/redis.
var rooms = []struct{ folder, rooms, others string }{
	{".", "caddymodule", ""},
	{"cmd/caddy", "caddymodule", caddyModule + "/cmd " + caddyModule + "/modules/standard"},
	{
		"caddymodule",
		"internal/cli internal/metrics internal/fleet internal/policies internal/storage internal/enforce " +
			"internal/proof internal/proof/dns internal/proof/ipranges internal/proof/webbotauth " +
			"robotsrules crawler internal/ratelimit internal/compliance",
		caddyModule + "/... go.uber.org/zap/... cel.dev/cel-go/... github.com/dustin/go-humanize",
	},

	{
		"internal/cli",
		"internal/policies internal/enforce robotsrules crawler internal/ratelimit internal/compliance internal/accesslog",
		caddyModule + " " + caddyModule + "/cmd github.com/spf13/cobra github.com/spf13/pflag github.com/dustin/go-humanize " +
			"github.com/schollz/progressbar/v3 golang.org/x/term",
	},
	{
		"internal/metrics", "internal/policies internal/enforce robotsrules crawler internal/compliance",
		"github.com/prometheus/client_golang/prometheus",
	},
	{
		"internal/fleet", "internal/storage internal/ratelimit internal/ratelimit/redis internal/compliance",
		"go.uber.org/zap golang.org/x/sync/singleflight",
	},
	{
		"internal/policies", "internal/storage internal/proof/ipranges internal/enforce robotsrules crawler",
		caddyModule + " go.uber.org/zap",
	},
	{
		"internal/proof",
		"internal/proof/dns internal/proof/ipranges internal/proof/webbotauth internal/storage internal/enforce robotsrules crawler",
		"go.uber.org/zap",
	},
	{"internal/proof/dns", "internal/enforce", "golang.org/x/sync/singleflight"},
	{"internal/proof/webbotauth", "internal/proof/ipranges internal/enforce", "github.com/dunglas/httpsfv"},
	{"internal/storage", "internal/ratelimit internal/compliance", "go.uber.org/zap"},

	{"internal/enforce", "robotsrules crawler internal/ratelimit internal/compliance internal/proof/ipranges", ""},

	// The leaves, which import no room but their own.
	{"robotsrules", "robotsrules/internal/index", ""},
	{"robotsrules/internal/index", "", ""},
	{"crawler", "", "github.com/mssola/useragent"},
	{"internal/ratelimit/redis", "internal/ratelimit", "github.com/redis/go-redis/v9/..."},
	{"internal/ratelimit/limitertest", "internal/ratelimit", ""},
	{"internal/ratelimit", "", ""},
	{"internal/compliance", "", "github.com/fxamacker/cbor/v2"},
	{"internal/accesslog", "", "github.com/klauspost/compress/..."},
	{"internal/proof/ipranges", "", "github.com/gaissmai/bart"},
	{"internal/ratelimit/redis/redistest", "internal/testutil", ""},
	{"internal/testutil", "", "github.com/miekg/dns github.com/prometheus/client_golang/prometheus golang.org/x/tools/txtar"},
}

const caddyModule = "github.com/caddyserver/caddy/v2"

// Imports run one way, from the front door down to the leaves. CONTRIBUTING.md has the picture.
func TestImportsRunOneWay(t *testing.T) {
	imports := importsOfRooms(t)
	above := make(map[string]bool)
	for _, room := range rooms {
		above[room.folder] = true
		var allowed []string
		for _, name := range strings.Fields(room.rooms) {
			allowed = append(allowed, module+"/"+name)
			if above[name] {
				t.Errorf("%s may import %s, which is above it in the list", room.folder, name)
			}
		}
		allowed = append(allowed, strings.Fields(room.others)...)
		if _, found := imports[room.folder]; !found {
			t.Errorf("no Go file was found in %s", room.folder)
		}
		for path := range imports[room.folder] {
			if !isStandard(path) && !slices.ContainsFunc(allowed, func(pattern string) bool { return matches(pattern, path) }) {
				t.Errorf("%s imports %s: it may import the standard library and %q only", room.folder, path, allowed)
			}
		}
		delete(imports, room.folder)
	}
	for folder := range imports {
		t.Errorf("%s is no room of the list: add it, with what it may import", folder)
	}
}

// The decision knows neither Caddy nor HTTP, not even through others.
//
// Our own files are read here, since the cache of go test does not see what a subprocess reads.
// The go command is asked only about what they import from elsewhere, which is as go.mod says.
func TestTheDecisionReachesNoHTTP(t *testing.T) {
	if _, err := os.ReadFile("go.mod"); err != nil {
		t.Fatal(err)
	}
	imports := importsOfRooms(t)
	args := []string{"list", "-deps"}
	seen := map[string]bool{module + "/internal/enforce": true}
	for queue := []string{module + "/internal/enforce"}; len(queue) > 0; queue = queue[1:] {
		for path := range imports[strings.TrimPrefix(queue[0], module+"/")] {
			if seen[path] {
				continue
			}
			seen[path] = true
			if strings.HasPrefix(path, module+"/") {
				queue = append(queue, path)
			} else {
				args = append(args, path)
			}
		}
	}
	if !seen[module+"/robotsrules/internal/index"] {
		t.Error("internal/enforce does not reach robotsrules/internal/index: the search is broken")
	}
	deps, err := exec.Command("go", args...).Output()
	if err != nil {
		t.Fatal(err)
	}
	for path := range strings.Lines(string(deps)) {
		if path = strings.TrimSpace(path); path == "net/http" || matches(caddyModule+"/...", path) {
			t.Errorf("internal/enforce reaches %s; it may not, not even through %q", path, args[2:])
		}
	}
}

// matches reports whether a package is the one that the pattern names or, where that ends in
// "/...", inside it.
func matches(pattern, path string) bool {
	parent, open := strings.CutSuffix(pattern, "/...")
	return path == parent || open && strings.HasPrefix(path, parent+"/")
}

// isStandard reports whether a package is of the standard library: its path begins with no domain.
func isStandard(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return !strings.Contains(first, ".")
}

// importsOfRooms returns what the files of each folder import, those of other systems and build
// tags too. Tests are left out, and so is bench, a module of its own.
func importsOfRooms(t *testing.T) map[string]map[string]bool {
	t.Helper()
	imports := make(map[string]map[string]bool)
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (strings.HasPrefix(d.Name(), ".") && path != "." || d.Name() == "testdata" || path == "bench") {
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
		if imports[folder] == nil {
			imports[folder] = make(map[string]bool)
		}
		for _, spec := range file.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			imports[folder][name] = true
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
var provenDocs = []string{"docs/threat-model.md", "docs/faults.md"}

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

// The links of documents lead to a file, and to a heading in it, and the files that the tour of
// CONTRIBUTING.md names exist. A name without a folder is of a file beside the one named before, or at
// the top. What the tour says is in a file is declared there.
func TestEveryFileThatADocumentNamesExists(t *testing.T) {
	docs, err := filepath.Glob("docs/*.md")
	guides, guidesErr := filepath.Glob("docs/guides/*.md")
	if err != nil || guidesErr != nil || len(docs) < 5 || len(guides) < 9 {
		t.Fatalf("documents: got %q, %q, %v, %v", docs, guides, err, guidesErr)
	}
	start, err := os.ReadFile("docs/README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, guide := range guides {
		if !strings.Contains(string(start), "("+strings.TrimPrefix(filepath.ToSlash(guide), "docs/")+")") {
			t.Errorf("docs/README.md does not lead to %s", guide)
		}
	}
	link := regexp.MustCompile(`\]\(([^)#: ]*)(?:#([^) ]*))?\)`)
	for _, doc := range slices.Concat(docs, guides, []string{"README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "bench/README.md"}) {
		text, err := os.ReadFile(doc)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			target := doc
			if m[1] != "" {
				target = filepath.Join(filepath.Dir(doc), m[1])
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s links %s, which is not there", doc, m[1])
			} else if m[2] != "" && !slices.Contains(anchors(t, target), m[2]) {
				t.Errorf("%s links #%s of %s, which has no such heading", doc, m[2], target)
			}
		}
	}
	contributing, err := os.ReadFile("CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	tour, _, _ := strings.Cut(string(contributing), "\n## Rules\n")
	named := regexp.MustCompile("`((?:[\\w.]+/)*\\w+\\.(?:go|txt|lua|html|json|md))`").FindAllStringSubmatch(tour, -1)
	if len(named) < 40 {
		t.Errorf("files that the tour names: got %d, want some 60", len(named))
	}
	folder := "."
	for _, m := range named {
		if strings.Contains(m[1], "/") {
			folder = filepath.Dir(m[1])
		}
		_, top := os.Stat(m[1])
		if _, beside := os.Stat(filepath.Join(folder, m[1])); top != nil && beside != nil {
			t.Errorf("the tour in CONTRIBUTING.md names %s, which is not there", m[1])
		}
	}
	for _, m := range regexp.MustCompile("`(?:\\w+\\.)?(\\w+)` (?:in|of) `([\\w/]+\\.go)`").FindAllStringSubmatch(tour, -1) {
		text, err := os.ReadFile(m[2])
		declared := regexp.MustCompile(`(?m)^(?:func (?:\([^)]*\) )?|type |var )` + m[1] + `\b`)
		if err != nil || !declared.Match(text) {
			t.Errorf("the tour in CONTRIBUTING.md says that %s is in %s, and it is not", m[1], m[2])
		}
	}
}

// anchors are what links call the headings of a document by.
func anchors(t *testing.T, doc string) []string {
	t.Helper()
	text, err := os.ReadFile(doc)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, heading := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(string(text), -1) {
		name := regexp.MustCompile(`[^\p{L}\p{N} _-]`).ReplaceAllString(strings.ToLower(heading[1]), "")
		all = append(all, strings.ReplaceAll(name, " ", "-"))
	}
	return all
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
