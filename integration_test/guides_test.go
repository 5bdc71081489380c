package integration

import (
	"crypto/tls"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// guide is a page of docs/guides, which is followed to the letter: its files are written, its
// Caddyfiles run, its commands print what it says. Only the world around it is another one: every
// host name leads to this Caddy, whose certificates are its own, and folders are below home.
type guide struct {
	*caddy                     // nil before the first Caddyfile
	home      string           // what is written and run is below it
	places    []string         // what a guide has, and what is here in its place, by turns
	visiting  string           // the address that visitors come to; "": Caddy's own
	started   func(*testing.T) // nil, or called when the first Caddyfile runs
	wrote     func(string)     // nil, or called when a file of this name is written
	wordPress *wordPress       // of the guide for it
}

// guideOptions are the global options of each guide's Caddyfile, before its own.
const guideOptions = `	admin {$ADMIN}
	grace_period 2s
	http_port {$PORT}
	https_port {$PORT2}
	local_certs
	skip_install_trust
`

// guideProxy has the visitors come by a proxy on this machine: whom Caddy knows by no address is nobody.
const guideProxy = `	servers {
		trusted_proxies static 127.0.0.1/32
		trusted_proxies_strict
	}
`

// guides are the pages, each with what stands around its Caddy and what is looked at in the end.
var guides = map[string]struct{ before, after func(*testing.T, *guide) }{
	"ai.md":         {},
	"app.md":        {before: appsOfGuide},
	"blocklist.md":  {},
	"cdn.md":        {before: cdnOfGuide},
	"gitea.md":      {before: giteaOfGuide, after: giteaIsTheRecipe},
	"many-sites.md": {},
	"observe.md":    {},
	"static.md":     {},
	"wordpress.md":  {before: wordPressOfGuide, after: wordPressWorks},
}

func TestTheGuidesAreFollowedToTheLetter(t *testing.T) {
	t.Parallel()
	pages, err := filepath.Glob("../docs/guides/*.md")
	if err != nil || len(pages) != len(guides) {
		t.Fatalf("got the guides %q, error %v, want %d", pages, err, len(guides))
	}
	for _, page := range pages {
		name := filepath.Base(page)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, tool := range []string{"curl", "jq"} {
				need(t, tool)
			}
			around, known := guides[name]
			if !known {
				t.Fatal("nothing follows this guide")
			}
			g := &guide{home: t.TempDir()}
			if around.before != nil {
				around.before(t, g)
			}
			g.follow(t, read(t, "docs/guides/"+name))
			if around.after != nil {
				around.after(t, g)
			}
		})
	}
}

// follow does what a page says, from its first block to its last. A block is the file that the text before
// it names, "`/srv/example/robots.txt`:", a Caddyfile, or commands.
func (g *guide) follow(t *testing.T, page string) {
	t.Helper()
	blocks := regexp.MustCompile("(?ms)(?:`([^`\n]+)`:\n\n)?^```(\\w+)\n(.*?)^```$").FindAllStringSubmatch(page, -1)
	if fences := strings.Count(page, "```"); fences != 2*len(blocks) {
		t.Errorf("got %d blocks of %d fences: no block may be indented or without a kind", len(blocks), fences)
	}
	ran := 0
	for _, block := range blocks {
		file, kind, text := block[1], block[2], block[3]
		switch {
		case kind == "caddyfile":
			g.serve(t, text)
		case kind == "console":
			for _, typed := range consoleOf(block[0]) {
				g.run(t, typed)
				ran++
			}
		case file != "":
			write(t, g.path(file), text)
			if g.wrote != nil {
				g.wrote(file)
			}
		default:
			t.Errorf("no file and no command: this block of %s is not tried:\n%s", kind, text)
		}
	}
	if ran == 0 || g.caddy == nil {
		t.Errorf("got %d commands and the Caddy %v, want both", ran, g.caddy)
	}
}

// path is where a file of a guide is.
func (g *guide) path(name string) string { return filepath.Join(g.home, g.here(name)) }

// here puts this machine's places where a guide has its own.
func (g *guide) here(text string) string { return strings.NewReplacer(g.places...).Replace(text) }

// serve has Caddy run a Caddyfile, in the place of the one before.
func (g *guide) serve(t *testing.T, text string) {
	t.Helper()
	options := guideOptions
	if !strings.Contains(text, "servers {") {
		options += guideProxy
	}
	if strings.HasPrefix(text, "{\n") {
		text = withGlobal(text, options)
	} else {
		text = "{\n" + options + "}\n" + text
	}
	for _, folder := range []string{"/srv/", "/var/log/"} {
		text = strings.ReplaceAll(text, folder, g.home+folder)
	}
	text = g.here(text)
	if g.caddy != nil {
		if status, body, err := g.loadWhole(text); status != 200 || err != nil {
			t.Fatalf("got %d %s, error %v, for\n%s", status, body, err, text)
		}
		return
	}
	g.caddy = startWith(t, text, nil)
	visitor := "insecure\nconnect-to = \":80:" + g.address() + "\"\n"
	if g.visiting != "" {
		visitor += "connect-to = \":443:" + g.visiting + "\"\n"
	} else {
		visitor += "connect-to = \":443:127.0.0.1:" + g.env["PORT2"] + "\"\nheader = \"X-Forwarded-For: " + personal + "\"\n"
	}
	write(t, filepath.Join(g.home, ".curlrc"), visitor)
	for _, site := range regexp.MustCompile(`(?m)^(\S*example\.com)\b`).FindAllStringSubmatch(text, -1) {
		eventually(t, site[1]+" has a certificate", func() bool {
			conn, err := tls.Dial("tcp", "127.0.0.1:"+g.env["PORT2"], &tls.Config{ServerName: site[1], InsecureSkipVerify: true})
			if err == nil {
				conn.Close()
			}
			return err == nil
		})
	}
	eventually(t, "the rules are loaded", func() bool {
		_, sites := g.adminAsk(t, "GET", "/robots/sites")
		return !strings.Contains(sites, `"status":"waiting"`)
	})
	if g.started != nil {
		g.started(t)
	}
}

// run types a command, and compares what is printed. A cat of a file that is not there shows a file
// for the commands behind it. Widths of columns and times differ from run to run.
func (g *guide) run(t *testing.T, typed typed) {
	t.Helper()
	if name, found := strings.CutPrefix(typed.command, "cat "); found && !exists(g.path(name)) {
		write(t, g.path(name), typed.shown+"\n")
		return
	}
	command := typed.command
	for _, folder := range []string{"/srv/", "/var/log/"} {
		command = strings.ReplaceAll(command, folder, g.home+folder)
	}
	env := []string{"PATH=" + filepath.Dir(caddyBinary(t)) + ":" + os.Getenv("PATH"), "HOME=" + g.home, "TZ=UTC"}
	if g.caddy != nil {
		env = append(env, "CADDY_ADMIN="+g.env["ADMIN"])
	}
	varying := regexp.MustCompile(`\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\dZ)?|(  )  +`)
	steady := func(text string) string { return strings.TrimRight(varying.ReplaceAllString(text, "$2"), "\n") }
	var got string
	typing := func() bool {
		shell := exec.Command("sh", "-c", g.here(command))
		shell.Dir, shell.Env = g.home, env
		out, _ := shell.CombinedOutput() // what it prints says whether it could be run
		got = strings.ReplaceAll(string(out), g.home, "")
		return steady(got) == steady(typed.shown)
	}
	if strings.Contains(command, "tail -n 1") { // what is logged when the answer has been sent
		eventually(t, command+" prints "+typed.shown, typing)
	} else if !typing() {
		t.Errorf("$ %s\ngot\n%s\nthe guide shows\n%s", typed.command, got, typed.shown)
	}
}
