package caddymodule

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Whoever looks up a line of the log finds its message in docs/operations.md, with its
// levels, and no message that the code does not log.
func TestTheOperatorsManualNamesEveryLogLine(t *testing.T) {
	text, err := os.ReadFile("../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	told := make(map[string]string)
	for _, row := range regexp.MustCompile("(?m)^\\| ((?:debug|info|warn|error)(?:, [a-z]+)*) \\| `([^`]+)` \\|").FindAllStringSubmatch(string(text), -1) {
		if _, twice := told[row[2]]; twice {
			t.Errorf("docs/operations.md has %q twice", row[2])
		}
		told[row[2]] = row[1]
	}
	logged := make(map[string]map[string]bool)
	for _, folder := range []string{".", "../internal/fleet", "../internal/policies", "../internal/proof", "../internal/storage"} {
		for message, levels := range logLines(t, folder) {
			if logged[message] == nil {
				logged[message] = make(map[string]bool)
			}
			maps.Copy(logged[message], levels)
		}
	}
	if len(logged) < 30 {
		t.Errorf("messages in the code: got %d, want at least 30", len(logged))
	}
	for message, levels := range logged {
		if got, want := told[message], strings.Join(slices.Sorted(maps.Keys(levels)), ", "); got != want {
			t.Errorf("docs/operations.md on %q: got level %q, want %q", message, got, want)
		}
	}
	for message := range told {
		if logged[message] == nil {
			t.Errorf("docs/operations.md has %q, which the code does not log", message)
		}
	}
}

func TestLogLinesAreFoundHoweverTheyAreMade(t *testing.T) {
	folder := t.TempDir()
	write(t, folder, "a.go", `package a
import ("net/http"; "go.uber.org/zap")
type keeper struct{ what, loses string }
var keepers = []*keeper{{what: "bans", loses: "a restart lifts them"}, {what: "figures", loses: "they go"}}
func (k *keeper) fail(place place, message string) { place.log.Warn(message, zap.Error(nil)) }
func (k *keeper) load() {
	k.fail(place, k.what+" are gone; "+k.loses)
	k.log.Error("plain")
}
func f(log *zap.Logger, err error) {
	level, message := zap.DebugLevel, "one"
	if x { level = zap.InfoLevel }
	if y { message = "other" }
	log.Log(level, message)
	if e := g().Check(zap.WarnLevel, "checked"); e != nil {}
	http.Error(w, "no line", 500)
	_ = err.Error()
}
`)
	got := make(map[string]string)
	for message, levels := range logLines(t, folder) {
		got[message] = strings.Join(slices.Sorted(maps.Keys(levels)), ", ")
	}
	want := map[string]string{
		"bans are gone; a restart lifts them": "warn", "figures are gone; they go": "warn", "plain": "error",
		"one": "debug, info", "other": "debug, info", "checked": "warn",
	}
	if !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// sourceFile is a file of Go with what is needed to read it.
type sourceFile struct {
	*ast.File
	imports map[string]bool // names by which it calls other packages
}

// logReader finds what the files of a folder log. A message is a text, a sum of texts, a
// variable of the function, a parameter of it, or a field that literals of its type set.
type logReader struct {
	t     *testing.T
	files []sourceFile
	found map[string]map[string]bool // levels by message
}

// logLines returns the messages that the Go files of a folder log, with their levels.
func logLines(t *testing.T, folder string) map[string]map[string]bool {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	l := &logReader{t: t, found: make(map[string]map[string]bool)}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		imports := make(map[string]bool)
		for _, spec := range file.Imports {
			path, _ := strconv.Unquote(spec.Path.Value)
			imports[filepath.Base(path)] = true
		}
		l.files = append(l.files, sourceFile{file, imports})
	}
	for _, file := range l.files {
		file.eachCall(l.call)
	}
	return l.found
}

// eachCall calls visit for each call of a method, with the function that it stands in.
func (f sourceFile) eachCall(visit func(in *ast.FuncDecl, name string, args []ast.Expr)) {
	for _, decl := range f.Decls {
		in, ok := decl.(*ast.FuncDecl)
		if !ok {
			continue
		}
		ast.Inspect(in, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			method, ok := call.Fun.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if of, ok := method.X.(*ast.Ident); !ok || !f.imports[of.Name] {
				visit(in, method.Sel.Name, call.Args)
			}
			return true
		})
	}
}

// call notes what a call logs, if it is one of a logger's methods.
func (l *logReader) call(in *ast.FuncDecl, name string, args []ast.Expr) {
	switch {
	case slices.Contains([]string{"Debug", "Info", "Warn", "Error", "DPanic", "Panic", "Fatal"}, name) && len(args) > 0:
		l.note(in, []string{strings.ToLower(name)}, args[0])
	case name == "Check" && len(args) == 2 && isNil(args[1]): // of a Core
	case name == "Log" && len(args) > 1, name == "Check" && len(args) == 2:
		l.note(in, l.texts(in, args[0]), args[1])
	}
}

func isNil(e ast.Expr) bool {
	name, ok := e.(*ast.Ident)
	return ok && name.Name == "nil"
}

func (l *logReader) note(in *ast.FuncDecl, levels []string, message ast.Expr) {
	for _, text := range l.texts(in, message) {
		if l.found[text] == nil {
			l.found[text] = make(map[string]bool)
		}
		for _, level := range levels {
			l.found[text][level] = true
		}
	}
}

// texts returns all that an expression in a function may be; a level is its name.
func (l *logReader) texts(in *ast.FuncDecl, e ast.Expr) []string {
	var texts []string
	switch e := e.(type) {
	case *ast.BasicLit:
		text, _ := strconv.Unquote(e.Value)
		texts = []string{text}
	case *ast.BinaryExpr:
		texts = l.sums(in, e)
	case *ast.SelectorExpr:
		if level, ok := strings.CutSuffix(e.Sel.Name, "Level"); ok {
			return []string{strings.ToLower(level)}
		}
		texts = l.values(e.Sel.Name)
	case *ast.Ident:
		texts = append(l.assigned(in, e.Name), l.passed(in, e.Name)...)
	}
	if len(texts) == 0 {
		l.t.Errorf("%s logs a message that cannot be read from its source: make it of texts", in.Name.Name)
	}
	return texts
}

// sums returns the sums of what both sides may be. Fields of one value go together: the
// first of one with the first of the other.
func (l *logReader) sums(in *ast.FuncDecl, e *ast.BinaryExpr) []string {
	left, right := l.texts(in, e.X), l.texts(in, e.Y)
	var sums []string
	for i, x := range left {
		if len(right) == 1 {
			sums = append(sums, x+right[0])
		} else if len(left) == len(right) {
			sums = append(sums, x+right[i])
		}
	}
	return sums
}

// values returns the texts that composite literals give to a field.
func (l *logReader) values(field string) []string {
	var all []string
	for _, file := range l.files {
		ast.Inspect(file.File, func(n ast.Node) bool {
			pair, ok := n.(*ast.KeyValueExpr)
			if !ok {
				return true
			}
			key, isName := pair.Key.(*ast.Ident)
			text, isText := pair.Value.(*ast.BasicLit)
			if isName && isText && key.Name == field && text.Kind == token.STRING {
				all = append(all, l.texts(nil, text)...)
			}
			return true
		})
	}
	return all
}

// assigned returns what a function assigns to a variable.
func (l *logReader) assigned(in *ast.FuncDecl, variable string) []string {
	var all []string
	ast.Inspect(in, func(n ast.Node) bool {
		if assignment, ok := n.(*ast.AssignStmt); ok && len(assignment.Lhs) == len(assignment.Rhs) {
			for i, to := range assignment.Lhs {
				if name, ok := to.(*ast.Ident); ok && name.Name == variable {
					all = append(all, l.texts(in, assignment.Rhs[i])...)
				}
			}
		}
		return true
	})
	return all
}

// passed returns what callers in the same file pass for a parameter of a method.
func (l *logReader) passed(to *ast.FuncDecl, parameter string) []string {
	at := slices.Index(parameters(to), parameter)
	if at < 0 {
		return nil
	}
	var all []string
	for _, file := range l.files {
		if !slices.Contains(file.Decls, ast.Decl(to)) {
			continue
		}
		file.eachCall(func(in *ast.FuncDecl, name string, args []ast.Expr) {
			if name == to.Name.Name && len(args) > at {
				all = append(all, l.texts(in, args[at])...)
			}
		})
	}
	return all
}

func parameters(f *ast.FuncDecl) []string {
	var names []string
	for _, field := range f.Type.Params.List {
		for _, name := range field.Names {
			names = append(names, name.Name)
		}
	}
	return names
}
