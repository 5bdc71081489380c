package testutil

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// outcome notes how a test would have ended.
type outcome struct {
	testing.TB
	ended string
}

func (o *outcome) Helper() {}

func (o *outcome) Fatal(args ...any)                 { o.end("fails: " + fmt.Sprint(args...)) }
func (o *outcome) Fatalf(format string, args ...any) { o.end("fails: " + fmt.Sprintf(format, args...)) }
func (o *outcome) Skip(args ...any)                  { o.end("skipped: " + fmt.Sprint(args...)) }

func (o *outcome) end(how string) {
	o.ended = how
	runtime.Goexit()
}

// outcomeOf returns how a test ends that does this.
func outcomeOf(do func(testing.TB)) string {
	o := new(outcome)
	done := make(chan struct{})
	go func() {
		defer close(done)
		do(o)
	}()
	<-done
	return o.ended
}

func TestWhatIsMissingSkipsOrFails(t *testing.T) {
	for value, want := range map[string]string{"": "skipped: install it", "0": "skipped: install it", "1": "fails: install it"} {
		t.Setenv("ROBOTS_REQUIRE_ALL", value)
		if got := outcomeOf(func(tb testing.TB) { SkipOrFail(tb, "install it") }); got != want {
			t.Errorf("ROBOTS_REQUIRE_ALL=%s: got %q, want %q", value, got, want)
		}
	}
}

const good = "# A claim.\n# And more.\n-- one --\n1\n2\n-- two words (quoted) --\n\"x\"\n"

func TestCasesAreRead(t *testing.T) {
	folder := t.TempDir()
	for _, name := range []string{"b.txt", "a.txt"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(good), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cases := ReadCases(t, folder+"/*.txt")
	if len(cases) != 2 || !strings.HasSuffix(cases[0].Name, "/a.txt") {
		t.Fatalf("got %v, want a.txt and b.txt", cases)
	}
	c := cases[1]
	if c.Claim != "A claim." || c.Comment != "# A claim.\n# And more.\n" {
		t.Errorf("got claim %q, comment %q", c.Claim, c.Comment)
	}
	if len(c.Files) != 2 || c.Files[0].Name != "one" || string(c.Files[0].Data) != "1\n2\n" || c.Files[1].Name != "two words (quoted)" {
		t.Errorf("got sections %q", c.Files)
	}
	if a, b := c.Line(0), c.Line(1); a != 4 || b != 7 {
		t.Errorf("got lines %d and %d, want 4 and 7", a, b)
	}
}

func TestWhatIsNoCaseFailsTheTest(t *testing.T) {
	if got := outcomeOf(func(tb testing.TB) { ReadCases(tb, t.TempDir()+"/*.txt") }); !strings.HasPrefix(got, "fails: no test cases match") {
		t.Errorf("nothing matches: got %q", got)
	}
	for text, want := range map[string]string{
		"":                            "x.txt:1: a case begins with",
		"no claim\n-- a --\n":         "x.txt:1: a case begins with",
		"# \n-- a --\n":               "x.txt:1: a case begins with",
		"# claim\n":                   "x.txt: a case has sections",
		"# claim\n-- a --\n-- a --\n": `x.txt:3: a second section "a"`,
	} {
		if _, err := ParseCase("x.txt", []byte(text)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
	}
}
