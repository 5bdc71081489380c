package integration

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// typed is a command of a document, and what the document says it prints.
type typed struct{ command, shown string }

// consoleOf returns the commands in the console blocks of a document, in their order.
func consoleOf(text string) []typed {
	var all []typed
	for _, block := range regexp.MustCompile("(?ms)^```console\n(.*?)^```$").FindAllStringSubmatch(text, -1) {
		for _, part := range strings.Split("\n"+block[1], "\n$ ")[1:] {
			command, shown, _ := strings.Cut(part, "\n")
			all = append(all, typed{command, strings.TrimRight(shown, "\n")})
		}
	}
	return all
}

// The commands of docs/commands.md print what it says. A cat shows a file that the commands
// behind it read.
func TestTheExamplesOfTheCommandsAreTrue(t *testing.T) {
	folder := t.TempDir()
	commands := consoleOf(read(t, "docs/commands.md"))
	ran := 0
	for _, c := range commands {
		if name, found := strings.CutPrefix(c.command, "cat "); found {
			write(t, filepath.Join(folder, name), c.shown+"\n")
			continue
		}
		shell := exec.Command("sh", "-c", c.command)
		shell.Dir = folder
		shell.Env = []string{"PATH=" + filepath.Dir(caddyBinary(t)) + ":" + os.Getenv("PATH"), "HOME=" + folder, "TZ=UTC"}
		out, err := shell.CombinedOutput()
		if ended := new(exec.ExitError); err != nil && !errors.As(err, &ended) {
			t.Fatal(err)
		}
		if got := strings.TrimRight(string(out), "\n"); got != c.shown {
			t.Errorf("$ %s\ngot\n%s\nwhat docs/commands.md shows is\n%s", c.command, got, c.shown)
		}
		ran++
	}
	if ran < 8 {
		t.Errorf("got %d commands in docs/commands.md, want at least 8", ran)
	}
}

// docs/commands.md names every flag of every command.
func TestTheReferenceOfTheCommandsNamesEveryFlag(t *testing.T) {
	_, text, _ := strings.Cut(read(t, "docs/commands.md"), "## `caddy robots check`")
	sections := strings.Split("## `caddy robots check`"+text, "\n## ")
	for _, command := range []string{"check", "test", "lint", "explain", "replay"} {
		help := runCommand(t, t.TempDir(), nil, command, "--help").out
		flags := regexp.MustCompile(`(?m)^ .* --([a-z-]+)`).FindAllStringSubmatch(help[strings.LastIndex(help, "\nFlags:"):], -1)
		if len(flags) < 4 {
			t.Errorf("%s: got %d flags in its help: %s", command, len(flags), help)
		}
		for _, section := range sections {
			if !strings.Contains(section[:min(len(section), 40)], "`caddy robots "+command+"`") {
				continue
			}
			for _, flag := range flags {
				if flag[1] != "help" && !strings.Contains(section, "--"+flag[1]) {
					t.Errorf("docs/commands.md does not name --%s of %s", flag[1], command)
				}
			}
		}
	}
}
