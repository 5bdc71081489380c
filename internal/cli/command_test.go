package cli

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
)

func init() { time.Local = time.UTC } // times are printed as of here

// ended is what became of a command.
type ended struct {
	out, err string
	status   int
}

func (e ended) String() string {
	return fmt.Sprintf("-- out --\n%s-- err --\n%s-- status --\n%d\n", e.out, e.err, e.status)
}

// runCommand runs caddy robots with these arguments.
func runCommand(tb testing.TB, stdin io.Reader, args ...string) ended {
	tb.Helper()
	return runRoot(tb, stdin, append([]string{"robots"}, args...)...)
}

// runRoot runs caddy with these arguments, as caddycmd.Main does.
func runRoot(tb testing.TB, stdin io.Reader, args ...string) ended {
	tb.Helper()
	registered := Command()
	robots := &cobra.Command{Use: registered.Name, Short: registered.Short, Long: registered.Long}
	registered.CobraFunc(robots)
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

// commandCase is a file of testdata/commands: its claim, the command as it is typed, what it
// finds, and what becomes of it.
//
//	# What it shows.
//	$ COLUMNS=80 caddy robots lint new.txt
//	-- new.txt --
//	User-agent: *
//	-- out --
//	1 record, 0 rules: 0 errors, 0 warnings, 0 notes
//	-- err --
//	-- status --
//	0
//
// The sections out, err and status stand last. stdin is what it reads there; all other
// sections are files. "(quoted)" behind a name says that the lines are Go strings which
// make up the content, "(1000 times)" that it is repeated.
type commandCase struct {
	environment []string // names and values, in turn
	args        []string
	files       map[string]string
	want        string // from the section out on
}

func readCommandCase(tb testing.TB, name string) commandCase {
	tb.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		tb.Fatal(err)
	}
	given, want, found := strings.Cut(string(text), "-- out --\n")
	if !found || !strings.HasPrefix(given, "# ") {
		tb.Fatalf("%s: it does not begin with a claim, or has no section out", name)
	}
	c := commandCase{files: make(map[string]string), want: "-- out --\n" + want}
	title, content := "", ""
	for line := range strings.Lines(given + "-- out --\n") {
		next, found := strings.CutPrefix(line, "-- ")
		switch {
		case found:
			file, form, _ := strings.Cut(title, " (")
			c.files[file] = formed(tb, strings.TrimSuffix(form, ")"), content)
			title, content = strings.TrimSuffix(next, " --\n"), ""
		case title == "" && strings.HasPrefix(line, "$ "):
			c.command(tb, shellWords(line[2:]))
		case title != "":
			content += line
		}
	}
	delete(c.files, "") // what stands before the first section
	return c
}

// command takes the words of the command.
func (c *commandCase) command(tb testing.TB, words []string) {
	tb.Helper()
	for len(words) > 0 && words[0] != "caddy" {
		variable, value, _ := strings.Cut(words[0], "=")
		c.environment, words = append(c.environment, variable, value), words[1:]
	}
	if len(words) < 2 || words[1] != "robots" {
		tb.Fatalf("the command is not caddy robots: %q", words)
	}
	c.args = words[2:]
}

// formed returns the content that a section of this form stands for.
func formed(tb testing.TB, form, text string) string {
	tb.Helper()
	if times, found := strings.CutSuffix(form, " times"); found {
		n, err := strconv.Atoi(times)
		if err != nil {
			tb.Fatal(err)
		}
		return strings.Repeat(text, n)
	}
	if form != "quoted" {
		return text
	}
	var content strings.Builder
	for line := range strings.Lines(text) {
		part, err := strconv.Unquote(strings.TrimSpace(line))
		if err != nil {
			tb.Fatalf("%q: %v", line, err)
		}
		content.WriteString(part)
	}
	return content.String()
}

// shellWords returns the words of a command line, of which some may be in single quotes.
func shellWords(line string) []string {
	var words []string
	for i, part := range strings.Split(line, "'") {
		if i%2 == 0 {
			words = append(words, strings.Fields(part)...)
		} else {
			words = append(words, part)
		}
	}
	return words
}

// run runs the command of a case where its files are.
func (c commandCase) run(t *testing.T) ended {
	t.Helper()
	folder := t.TempDir()
	for name, content := range c.files {
		if name != "stdin" {
			write(t, folder, name, content)
		}
	}
	t.Chdir(folder)
	for i := 0; i < len(c.environment); i += 2 {
		t.Setenv(c.environment[i], c.environment[i+1])
	}
	return runCommand(t, strings.NewReader(c.files["stdin"]), c.args...)
}

func TestCommands(t *testing.T) {
	names, err := filepath.Glob("testdata/commands/*/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	if len(names) < 60 {
		t.Fatalf("got %d cases in testdata/commands, want at least 60", len(names))
	}
	for _, name := range names {
		folder, file := filepath.Split(strings.TrimSuffix(name, ".txt"))
		t.Run(filepath.Base(folder)+"/"+file, func(t *testing.T) {
			c := readCommandCase(t, name)
			if got := c.run(t).String(); got != c.want {
				t.Errorf("%s: got\n%s\nwant\n%s", name, got, c.want)
			}
		})
	}
}
