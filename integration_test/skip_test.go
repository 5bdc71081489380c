package integration

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
)

// requireAll reports whether every test is to run. Otherwise go test ./... leaves out what takes
// minutes and what drives other programs.
func requireAll() bool { return os.Getenv("ROBOTS_REQUIRE_ALL") == "1" }

// skip skips the test for a reason that says what to do about it, and fails it where every test
// is to run. Nothing else in this package skips a test.
func skip(tb testing.TB, format string, args ...any) {
	tb.Helper()
	if requireAll() {
		tb.Fatalf(format, args...)
	}
	tb.Skipf(format, args...)
}

// full leaves the test out of the everyday run.
func full(tb testing.TB, why string) {
	tb.Helper()
	if !requireAll() {
		skip(tb, "%s: set ROBOTS_REQUIRE_ALL=1 to run this", why)
	}
}

// need leaves a test that drives another program out of the everyday run. Where every test is to
// run, the program has to be installed.
func need(tb testing.TB, program string) {
	tb.Helper()
	full(tb, "this drives "+program)
	installed(tb, program)
}

// packages are Debian's, for programs that are called otherwise.
var packages = map[string]string{"scrapy": "python3-scrapy", "promtool": "prometheus", "mariadb": "mariadb-client", "mariadbd": "mariadb-server", "fail2ban-regex": "fail2ban", "node": "nodejs"}

// installed skips the test where a program is missing.
func installed(tb testing.TB, program string) {
	tb.Helper()
	if _, err := exec.LookPath(program); err != nil {
		skip(tb, "install %s (apt-get install %s)", program, cmp.Or(packages[program], program))
	}
}

// ending is a test that keeps how it ended.
type ending struct {
	testing.TB
	ended string
}

func (e *ending) Helper()                           {}
func (e *ending) Skipf(format string, args ...any)  { e.end("skipped: "+format, args...) }
func (e *ending) Fatalf(format string, args ...any) { e.end("failed: "+format, args...) }

// end keeps the first of all ends, as this one does not stop who calls it.
func (e *ending) end(format string, args ...any) {
	if e.ended == "" {
		e.ended = fmt.Sprintf(format, args...)
	}
}

func TestNothingIsSkippedWhereAllIsRequired(t *testing.T) {
	const nowhere = "a program that is not there"
	for _, tc := range []struct {
		all  string
		call func(testing.TB)
		want string
	}{
		{"", func(tb testing.TB) { full(tb, "minutes") }, "skipped: minutes: set ROBOTS_REQUIRE_ALL=1 to run this"},
		{"1", func(tb testing.TB) { full(tb, "minutes") }, ""},
		{"", func(tb testing.TB) { installed(tb, nowhere) }, "skipped: install " + nowhere + " (apt-get install " + nowhere + ")"},
		{"1", func(tb testing.TB) { need(tb, nowhere) }, "failed: install " + nowhere + " (apt-get install " + nowhere + ")"},
		{"1", func(tb testing.TB) { skip(tb, "set %s", "this") }, "failed: set this"},
	} {
		t.Setenv("ROBOTS_REQUIRE_ALL", tc.all)
		var e ending
		if tc.call(&e); e.ended != tc.want {
			t.Errorf("ROBOTS_REQUIRE_ALL=%q: got %q, want %q", tc.all, e.ended, tc.want)
		}
	}

	names, err := filepath.Glob("*_test.go")
	if err != nil || len(names) < 40 {
		t.Fatalf("got %d test files, error %v", len(names), err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if found := regexp.MustCompile(`\.Skip(f|Now)?\(`).FindString(string(text)); found != "" && name != "skip_test.go" {
			t.Errorf("%s calls %s: it has to call skip, full or need", name, found)
		}
	}
}
