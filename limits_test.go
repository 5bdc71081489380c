package robots

import (
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/dustin/go-humanize"
)

// Each row of docs/limits.md gives what the constant that it names has: a number, a size or a time.
func TestLimitsAreThoseOfTheCode(t *testing.T) {
	text, err := os.ReadFile("docs/limits.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile("(?m)^\\| [^|]+ \\| ([^|]+) \\| [^|]+ \\| `([^`]+)\\.(\\w+)` \\|$").FindAllStringSubmatch(string(text), -1)
	if len(rows) < 35 {
		t.Errorf("limits: got %d, want at least 35", len(rows))
	}
	packages := make(map[string]map[string]ast.Expr)
	for _, m := range rows {
		if packages[m[2]] == nil {
			packages[m[2]] = constantsIn(t, m[2])
		}
		expr := packages[m[2]][m[3]]
		if expr == nil {
			t.Errorf("%s has no constant %s", m[2], m[3])
			continue
		}
		value := evaluate(expr, packages[m[2]])
		got, exact := constant.Int64Val(constant.ToInt(value))
		if want := limitOf(m[1]); !exact || got != want {
			t.Errorf("%s.%s is %v, docs/limits.md says %s (%d)", m[2], m[3], value, m[1], want)
		}
	}
}

// limitOf reads "1,024", "16KiB" or "5m"; a time is in nanoseconds.
func limitOf(cell string) int64 {
	if n, err := strconv.ParseInt(strings.ReplaceAll(cell, ",", ""), 10, 64); err == nil {
		return n
	}
	if d, err := caddy.ParseDuration(cell); err == nil {
		return int64(d)
	}
	size, err := humanize.ParseBytes(cell)
	if err != nil {
		return -1
	}
	return int64(size)
}

// constantsIn returns the constants of a package and what they are set to.
func constantsIn(t *testing.T, folder string) map[string]ast.Expr {
	t.Helper()
	constants := make(map[string]ast.Expr)
	names, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range file.Decls {
			if decl, ok := decl.(*ast.GenDecl); ok && decl.Tok == token.CONST {
				for _, spec := range decl.Specs {
					if spec := spec.(*ast.ValueSpec); len(spec.Names) == 1 && len(spec.Values) == 1 {
						constants[spec.Names[0].Name] = spec.Values[0]
					}
				}
			}
		}
	}
	return constants
}

var units = map[string]time.Duration{"Millisecond": time.Millisecond, "Second": time.Second, "Minute": time.Minute, "Hour": time.Hour}

// evaluate returns what a constant expression is: literals, units of time and other constants of
// the package, put together.
func evaluate(expr ast.Expr, constants map[string]ast.Expr) constant.Value {
	switch e := expr.(type) {
	case *ast.BasicLit:
		return constant.MakeFromLiteral(e.Value, e.Kind, 0)
	case *ast.ParenExpr:
		return evaluate(e.X, constants)
	case *ast.SelectorExpr:
		return constant.MakeInt64(int64(units[e.Sel.Name]))
	case *ast.Ident:
		if value, ok := constants[e.Name]; ok {
			return evaluate(value, constants)
		}
	case *ast.BinaryExpr:
		x, y := evaluate(e.X, constants), evaluate(e.Y, constants)
		if e.Op == token.SHL {
			if by, ok := constant.Uint64Val(y); ok {
				return constant.Shift(x, token.SHL, uint(by))
			}
			return constant.MakeUnknown()
		}
		return constant.BinaryOp(x, e.Op, y)
	}
	return constant.MakeUnknown()
}
