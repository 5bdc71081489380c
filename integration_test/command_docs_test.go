package integration

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
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
// behind it read; what asks a running Caddy asks one to which came who the document says. Times,
// the port and how wide a column is differ from run to run.
func TestTheExamplesOfTheCommandsAreTrue(t *testing.T) {
	folder := t.TempDir()
	running := documentedCaddy(t)
	varying := regexp.MustCompile(`stored: (never|[-0-9]+ [0-9:]+)|\d{4}-\d\d-\d\d \d\d:\d\d|:` + running.env["PORT"] + `|(  )  +`)
	steady := func(text string) string { return varying.ReplaceAllString(text, "$2") }
	commands := consoleOf(read(t, "docs/commands.md"))
	ran := 0
	for _, c := range commands {
		if name, found := strings.CutPrefix(c.command, "cat "); found {
			write(t, filepath.Join(folder, name), c.shown+"\n")
			continue
		}
		shell := exec.Command("sh", "-c", c.command)
		shell.Dir = folder
		shell.Env = []string{"PATH=" + filepath.Dir(caddyBinary(t)) + ":" + os.Getenv("PATH"), "HOME=" + folder, "TZ=UTC", "CADDY_ADMIN=" + running.env["ADMIN"]}
		out, err := shell.CombinedOutput()
		if ended := new(exec.ExitError); err != nil && !errors.As(err, &ended) {
			t.Fatal(err)
		}
		if got := strings.TrimRight(string(out), "\n"); steady(got) != steady(c.shown) {
			t.Errorf("$ %s\ngot\n%s\nwhat docs/commands.md shows is\n%s", c.command, got, c.shown)
		}
		ran++
	}
	if ran < 20 {
		t.Errorf("got %d commands in docs/commands.md, want at least 20", ran)
	}
}

// documentedCaddy is the running Caddy of docs/commands.md.
func documentedCaddy(t *testing.T) *caddy {
	folder := t.TempDir()
	write(t, filepath.Join(folder, "example/robots.txt"), "User-agent: *\nDisallow: /private/\nDissallow: /tmp/\n")
	write(t, filepath.Join(folder, "shop/robots.txt"), "User-agent: *\nDisallow: /a/\n")
	c := startWith(t, proxied+`
http://example.com:{$PORT} {
	root * {$FOLDER}/example
	robots {
		ban 2 in 1m for 1h
		trap /private/trap
	}
	file_server
}
http://shop.example.com:{$PORT} {
	root * {$FOLDER}/shop
	robots
	file_server
}
`, map[string]string{"FOLDER": folder})
	for range 3 {
		c.expectFrom(t, "203.0.113.7", "example.com", "/private/", gptbot, 403, "")
	}
	c.expectFrom(t, "198.51.100.20", "example.com", "/private/trap", "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0", 403, "")
	eventually(t, "robots.txt of both sites is loaded", func() bool { return strings.Count(c.adminGet(t, "/robots/sites"), `"status":"loaded"`) == 2 })
	return c
}

// docs/commands.md names every flag of every command.
func TestTheReferenceOfTheCommandsNamesEveryFlag(t *testing.T) {
	_, text, _ := strings.Cut(read(t, "docs/commands.md"), "## `caddy robots check`")
	sections := regexp.MustCompile(`\n##+ `).Split("## `caddy robots check`"+text, -1)
	for _, command := range []string{"check", "test", "lint", "explain", "replay", "sites", "bans", "lift", "refresh", "observe", "report"} {
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
				isOfAll := slices.Contains([]string{"help", "address", "config", "adapter"}, flag[1])
				if !isOfAll && !strings.Contains(section, "--"+flag[1]) {
					t.Errorf("docs/commands.md does not name --%s of %s", flag[1], command)
				}
			}
		}
	}
}
