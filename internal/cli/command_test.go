package cli

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/cobra"
)

func init() { time.Local = time.UTC } // times are printed as of here

// TestCommands runs scripts, each of which makes a claim, runs one command and compares what it
// prints. With -update it writes down what the commands print now.
func TestCommands(t *testing.T) {
	all, err := filepath.Abs("testdata/commands")
	if err != nil {
		t.Fatal(err)
	}
	scripts, err := filepath.Glob(filepath.Join(all, "*", "*.txtar"))
	if err != nil || len(scripts) < 60 {
		t.Fatalf("got %d scripts in testdata/commands, want at least 60: %v", len(scripts), err)
	}
	folders := make(map[string][]string)
	for _, script := range scripts {
		name := filepath.Base(filepath.Dir(script))
		folders[name] = append(folders[name], script)
	}
	for name, scripts := range folders {
		t.Run(name, func(t *testing.T) {
			testscript.Run(t, testscript.Params{
				Files: scripts,
				Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
					"exits": exits, "unquoted": unquoted, "repeated": repeated, "admin": admin,
				},
				UpdateScripts: *update,
			})
		})
	}
}

var update = flag.Bool("update", false, "write what commands print into their scripts")

// exits runs caddy robots, whose exit status stands before it. It does so in this process, which
// is ten times as fast as to start one for each script.
func exits(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) < 3 || args[1] != "caddy" || args[2] != "robots" {
		ts.Fatalf("write: exits <status> caddy robots <arguments>")
	}
	stdin, err := os.ReadFile(ts.MkAbs("stdin"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		ts.Fatalf("%v", err)
	}
	inFolder.Lock()
	defer inFolder.Unlock()
	before, err := os.Getwd()
	ts.Check(err)
	ts.Check(os.Chdir(ts.MkAbs(".")))
	defer func() { ts.Check(os.Chdir(before)) }()
	ts.Check(os.Setenv("COLUMNS", ts.Getenv("COLUMNS")))
	got := runRoot(bytes.NewReader(stdin), args[2:]...)
	_, _ = io.WriteString(ts.Stdout(), got.out)
	_, _ = io.WriteString(ts.Stderr(), got.err)
	if status := strconv.Itoa(got.status); status != args[0] {
		ts.Fatalf("got status %s, want %s", status, args[0])
	}
}

// inFolder is held while a command runs in the folder of its script: scripts run at once, and a
// process has one current folder.
var inFolder sync.Mutex

// unquoted replaces a file of Go strings, one in a line, by what they make up.
func unquoted(ts *testscript.TestScript, _ bool, args []string) {
	var content strings.Builder
	for line := range strings.Lines(ts.ReadFile(args[0])) {
		part, err := strconv.Unquote(strings.TrimSpace(line))
		ts.Check(err)
		content.WriteString(part)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(content.String()), 0o644))
}

// repeated repeats so many times what stands in a file.
func repeated(ts *testscript.TestScript, _ bool, args []string) {
	times, err := strconv.Atoi(args[0])
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(strings.Repeat(ts.ReadFile(args[1]), times)), 0o644))
}

// ended is what became of a command.
type ended struct {
	out, err string
	status   int
}

func (e ended) String() string {
	return fmt.Sprintf("-- out --\n%s-- err --\n%s-- status --\n%d\n", e.out, e.err, e.status)
}

// runCommand runs caddy robots with these arguments.
func runCommand(stdin io.Reader, args ...string) ended {
	return runRoot(stdin, append([]string{"robots"}, args...)...)
}

// runRoot runs caddy with these arguments, as caddycmd.Main does.
func runRoot(stdin io.Reader, args ...string) ended {
	command := Command()
	robots := &cobra.Command{Use: command.Name, Short: command.Short, Long: command.Long}
	command.CobraFunc(robots)
	root := &cobra.Command{Use: "caddy", SilenceUsage: true}
	root.AddCommand(robots)

	var out, errs bytes.Buffer
	root.SetIn(stdin)
	root.SetOut(&out)
	root.SetErr(&errs)
	root.SetArgs(args)
	status := statusOf(root.Execute())
	return ended{out.String(), errs.String(), status}
}

// statusOf is the exit status that caddycmd.Main gives an error. The one that carries a
// status has a type of its own, so that its text has to tell.
func statusOf(err error) int {
	if err == nil {
		return 0
	}
	if text, found := strings.CutPrefix(err.Error(), "exiting with status "); found {
		if status, err := strconv.Atoi(text); err == nil {
			return status
		}
	}
	return 1
}

// write makes a file in a folder and returns its name.
func write(tb testing.TB, folder, name, text string) string {
	tb.Helper()
	name = filepath.Join(folder, name)
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		tb.Fatal(err)
	}
	return name
}

var robotsCommands = []string{
	"bans", "catalogue", "check", "explain", "lift", "lint", "observe", "refresh", "replay", "report", "sites", "status", "test",
}

func TestHelpFitsInto80Columns(t *testing.T) {
	for _, command := range append(robotsCommands, "") {
		got := runCommand(nil, strings.Fields(command+" --help")...)
		if got.status != 0 || !strings.Contains(got.out, "Usage:") {
			t.Errorf("%q --help: got %s", command, got)
		}
		for line := range strings.Lines(got.out) {
			if width := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); width > 80 {
				t.Errorf("%q --help: a line is %d columns wide: %s", command, width, line)
			}
		}
	}
}

// complete returns what a shell is told to offer behind the words of a command.
func complete(t *testing.T, words ...string) []string {
	t.Helper()
	got := runRoot(nil, append([]string{"__completeNoDesc", "robots"}, words...)...)
	if got.status != 0 {
		t.Fatalf("__completeNoDesc %q: got %s", words, got)
	}
	offers, _, found := strings.Cut(got.out, "\n:") // what follows is an instruction
	if !found {
		return nil
	}
	return strings.Split(offers, "\n")
}

func TestShellsCompleteTheCommands(t *testing.T) {
	if got := complete(t, ""); !slices.Equal(got, robotsCommands) {
		t.Errorf("got %q, want %q", got, robotsCommands)
	}
}

func TestShellsCompleteWhatFlagsMayBe(t *testing.T) {
	for _, command := range []string{"check", "explain", "lint", "replay", "test"} {
		for flag, want := range map[string][]string{
			"--dialect": {"rfc9309", "draft1996", "norobots1994"},
			"--match":   {"substring", "token"},
		} {
			if got := complete(t, command, flag, ""); !slices.Equal(got, want) {
				t.Errorf("%s %s: got %q, want %q", command, flag, got, want)
			}
		}
	}
}
