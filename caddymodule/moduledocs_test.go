package caddymodule

import (
	"encoding/json"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"
)

const modulePath = "github.com/caddy-robots/caddy-robots"

// configTypes returns the types that a config in JSON is made of: the modules that this package
// registers, and what their fields hold.
func configTypes(t *testing.T) map[reflect.Type]bool {
	t.Helper()
	types := make(map[reflect.Type]bool)
	var add func(of reflect.Type)
	add = func(of reflect.Type) {
		for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice || of.Kind() == reflect.Map {
			of = of.Elem()
		}
		if of.Kind() != reflect.Struct || types[of] || !strings.HasPrefix(of.PkgPath(), modulePath) {
			return
		}
		types[of] = true
		for i := range of.NumField() {
			if of.Field(i).Tag.Get("json") != "" {
				add(of.Field(i).Type)
			}
		}
	}
	for _, info := range caddy.Modules() {
		registered, err := caddy.GetModule(info)
		if err != nil {
			t.Fatal(err)
		}
		add(reflect.TypeOf(registered.New()))
	}
	return types
}

// typeDocs returns the docs of the types of a package and of the fields of its structs
// ("Handler", "Handler.Refresh").
func typeDocs(t *testing.T, folder string) map[string]string {
	t.Helper()
	docs := make(map[string]string)
	names, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range file.Decls {
			types, ok := decl.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, spec := range types.Specs {
				named, ok := spec.(*ast.TypeSpec)
				if !ok {
					continue
				}
				docs[named.Name.Name] = types.Doc.Text()
				if fields, ok := named.Type.(*ast.StructType); ok {
					for _, field := range fields.Fields.List {
						for _, name := range field.Names {
							docs[named.Name.Name+"."+name.Name] = field.Doc.Text()
						}
					}
				}
			}
		}
	}
	return docs
}

// Caddy's site shows a module by the first sentence of its doc, and each field with its own. Each
// field says what holds where it is left out.
func TestEveryFieldOfTheConfigIsDocumented(t *testing.T) {
	fields := 0
	states := regexp.MustCompile(`Default:\s\S|Required, no\s+default\.`)
	for of := range configTypes(t) {
		docs := typeDocs(t, filepath.FromSlash("../"+strings.TrimPrefix(of.PkgPath(), modulePath+"/")))
		first := new(doc.Package).Synopsis(docs[of.Name()])
		if first == "" || len(first) >= 115 {
			t.Errorf("%s: the first sentence of its doc has %d characters, want 1 to 114: %q", of, len(first), first)
		}
		for i := range of.NumField() {
			field := of.Field(i)
			if key := field.Tag.Get("json"); key == "" || key == "-" {
				continue
			}
			fields++
			if text := docs[of.Name()+"."+field.Name]; !states.MatchString(text) {
				t.Errorf("%s.%s: its doc says neither \"Default: ...\" nor \"Required, no default.\": %q", of, field.Name, text)
			}
		}
	}
	if fields < 45 {
		t.Errorf("fields of the config: got %d, want them all", fields)
	}
}

// The examples in the doc of Handler say the same in a Caddyfile and in JSON, and load.
func TestTheExamplesInTheDocOfHandlerAreOne(t *testing.T) {
	var blocks []string
	for block := range strings.SplitSeq(typeDocs(t, ".")["Handler"], "\n\n") {
		if strings.HasPrefix(block, "\t") {
			blocks = append(blocks, strings.ReplaceAll("\n"+block, "\n\t", "\n"))
		}
	}
	if len(blocks) != 2 {
		t.Fatalf("examples in the doc: got %q, want a Caddyfile and JSON", blocks)
	}
	adapted, warnings, err := caddyconfig.GetAdapter("caddyfile").Adapt([]byte(strings.TrimSpace(blocks[0])+"\n"), nil)
	if err != nil || len(warnings) > 0 {
		t.Fatalf("the Caddyfile: %v %v", warnings, err)
	}
	if err := caddy.Validate(config(t, adapted)); err != nil {
		t.Errorf("the Caddyfile does not load: %v", err)
	}
	if got, want := handlerIn(t, adapted), handlerIn(t, []byte(blocks[1])); got != want {
		t.Errorf("the Caddyfile becomes\n%s\nthe JSON says\n%s", got, want)
	}
}

// handlerIn returns the first handler "robots" of a config, as Caddy writes it.
func handlerIn(t *testing.T, config []byte) string {
	t.Helper()
	var value any
	if err := json.Unmarshal(config, &value); err != nil {
		t.Fatal(err)
	}
	var find func(value any) any
	find = func(value any) any {
		switch v := value.(type) {
		case map[string]any:
			if v["handler"] == "robots" {
				return v
			}
			for _, inner := range v {
				if found := find(inner); found != nil {
					return found
				}
			}
		case []any:
			for _, inner := range v {
				if found := find(inner); found != nil {
					return found
				}
			}
		}
		return nil
	}
	found, err := json.Marshal(find(value))
	if err != nil {
		t.Fatal(err)
	}
	h := new(struct {
		Handler
		Name string `json:"handler"`
	})
	if err := caddy.StrictUnmarshalJSON(found, h); err != nil || h.Name != "robots" {
		t.Fatalf("the handler robots in %s: got %s, error %v", config, found, err)
	}
	return string(caddyconfig.JSON(&h.Handler, nil))
}

// The JSON of docs/caddyfile.md is a whole config that loads, and says what the Caddyfile above it says.
func TestTheJSONInTheDocumentationLoads(t *testing.T) {
	text, err := fs.ReadFile(os.DirFS("../docs"), "caddyfile.md")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile("(?s)```caddyfile\n([^`]*)```\n[^`]*```json\n([^`]*)```").FindStringSubmatch(string(text))
	if m == nil {
		t.Fatal("docs/caddyfile.md has no Caddyfile with JSON below it")
	}
	adapted, _, err := caddyconfig.GetAdapter("caddyfile").Adapt([]byte(m[1]), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := caddy.Validate(config(t, []byte(m[2]))); err != nil {
		t.Errorf("the JSON does not load: %v", err)
	}
	if got, want := handlerIn(t, []byte(m[2])), handlerIn(t, adapted); got != want {
		t.Errorf("the JSON has\n%s\nthe Caddyfile becomes\n%s", got, want)
	}
}
