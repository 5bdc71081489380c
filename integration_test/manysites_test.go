package integration

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The transcript of docs/operations.md about 200 sites from one snippet is what an operator sees:
// its Caddyfile runs, its commands print what it says, and Prometheus tells of whom it says.
func TestTheTranscriptOfManySitesIsTrue(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"curl", "jq", "prometheus"} {
		need(t, tool)
	}
	_, section, _ := strings.Cut(read(t, "docs/operations.md"), "\n## Many sites from one snippet\n")
	section, _, _ = strings.Cut(section, "\n## ")
	_, caddyfile, found := strings.Cut(section, "```caddyfile\n")
	caddyfile, _, closed := strings.Cut(caddyfile, "```")
	if !found || !closed {
		t.Fatal("docs/operations.md has no Caddyfile of many sites")
	}
	const sites = 200
	c := newCaddy(t, "", nil)
	for i := 1; i <= sites; i++ {
		name := fmt.Sprintf("tenant%d", i)
		write(t, filepath.Join(c.home, "sites", name), fmt.Sprintf("http://%s.example {\n\timport tenant %s\n}\n", name, name))
		text := fmt.Sprintf("# %s\nUser-agent: GPTBot\nDisallow: /private/\n", name)
		if i == 7 {
			text = "<!doctype html>\n<html><body>welcome</body></html>\n"
		}
		write(t, filepath.Join(c.home, "srv", name, "robots.txt"), text)
	}
	write(t, filepath.Join(c.home, "Caddyfile"), withGlobal(prelude, "\thttp_port {$PORT}\n")+strings.ReplaceAll(caddyfile, "/srv/", c.home+"/srv/"))
	c.run(t)
	eventually(t, "all sites are looked for", func() bool {
		return !strings.Contains(c.adminGet(t, "/robots/sites"), `"status":"waiting"`) && strings.Count(c.adminGet(t, "/robots/sites"), `"host"`) == sites
	})
	p := startPrometheus(t, c, "26 * 3600", "1")

	varying := regexp.MustCompile(`\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\dZ)?|(  )  +`)
	steady := func(text string) string { return strings.TrimRight(varying.ReplaceAllString(text, "$2"), "\n") }
	ran := 0
	for _, typed := range consoleOf(section) {
		command := strings.NewReplacer("http://localhost:9090", p.base, "localhost:9090", p.base).Replace(typed.command)
		run := func() string {
			shell := exec.Command("sh", "-c", command)
			shell.Dir = c.home
			shell.Env = append(c.environment(), "PATH="+filepath.Dir(caddyBinary(t))+":"+os.Getenv("PATH"), "TZ=UTC", "CADDY_ADMIN="+c.env["ADMIN"])
			out, _ := shell.CombinedOutput() // what it prints says whether it could be run
			return steady(string(out))
		}
		got := run()
		if strings.Contains(command, "caddy reload") {
			eventually(t, "all sites are looked for again", func() bool {
				return len(c.log.all(message("robots.txt was looked for on the sites that the config names"))) == 2
			})
		}
		if strings.Contains(command, p.base) { // it is scraped once a second
			shown := steady(typed.shown)
			if strings.Contains(command, "/alerts") { // without the day in between
				shown += "\nRobotsPolicyStale tenant9.example"
			}
			eventually(t, "prometheus shows "+shown, func() bool { got = run(); return got == shown })
		} else if got != steady(typed.shown) {
			t.Errorf("$ %s\ngot\n%s\nwhat docs/operations.md shows is\n%s", command, got, typed.shown)
		}
		ran++
	}
	if ran < 8 {
		t.Errorf("got %d commands, want at least 8", ran)
	}
	for host, want := range map[string]int{"tenant7.example": 404, "tenant8.example": 403, "tenant9.example": 403, "tenant10.example": 403} {
		c.expect(t, host, "/private/", gptbot, want)
	}
}
