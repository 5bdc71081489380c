package integration

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// twoSites refuse GPTBot, and ban it.
const twoSites = `
http://:{$PORT} {
	robots {
		source file {$RULES}
		ban 2 in 1m for 1h
	}
	robots_report /report {
		allow 198.51.100.1
	}
	respond "page"
}
http://:{$PORT2} {
	robots {
		source text <<ROBOTS
			User-agent: *
			Disallow: /
			ROBOTS
	}
	respond "page"
}
`

const closedToGPTBot = "User-agent: GPTBot\nDisallow: /private/\n"

// shell runs what a document says that an operator types.
func (c *caddy) shell(t *testing.T, command string) string {
	t.Helper()
	run := exec.Command("sh", "-ec", strings.ReplaceAll(command, "localhost:2019", c.env["ADMIN"]))
	run.Env = append(c.environment(), "PATH="+filepath.Dir(caddyBinary(t))+":"+os.Getenv("PATH"), "CADDY_ADMIN="+c.env["ADMIN"])
	out, err := run.CombinedOutput()
	if err != nil {
		t.Errorf("%s: %v\n%s", command, err, out)
	}
	return string(out)
}

// Each row of docs/operations.md under "Off in ten seconds" that is a command does at once what it
// says, on all sites, and leaves the report page as it is.
func TestTheDocumentedCommandsEndRefusals(t *testing.T) {
	t.Parallel()
	installed(t, "curl")
	_, section, _ := strings.Cut(read(t, "docs/operations.md"), "## Off in ten seconds")
	section, _, _ = strings.Cut(section, "\n## ")
	ran := make(map[string]bool)
	for _, command := range regexp.MustCompile("`((?:caddy robots|curl) [^`]+)`").FindAllStringSubmatch(section, -1) {
		ran[command[1]] = false
	}
	rules := filepath.Join(t.TempDir(), "robots.txt")
	write(t, rules, closedToGPTBot)
	c := startWith(t, proxied+twoSites, map[string]string{"RULES": rules})
	elsewhere := func(want int) {
		t.Helper()
		if a, err := (request{path: "/page", agent: gptbot}).try(client, "http://127.0.0.1:"+c.env["PORT2"]); err != nil || a.status != want {
			t.Errorf("the other site: got %d, error %v, want %d", a.status, err, want)
		}
	}
	ask := func(path string, want int) {
		t.Helper()
		c.expectFrom(t, personal, "", path, gptbot, want, "")
	}
	run := func(command string) string {
		if _, documented := ran[command]; !documented {
			t.Errorf("docs/operations.md does not have %s", command)
		}
		ran[command] = true
		return c.shell(t, command)
	}
	misbehave := func() {
		for range 2 {
			ask("/private/", 403)
		}
		ask("/page", 403)
	}
	misbehave()
	run("caddy robots lift --all")
	ask("/page", 200)

	misbehave()
	for on, off := range map[string]string{"caddy robots observe on": "caddy robots observe off", "curl -X POST 'localhost:2019/robots/observe?set=on'": "caddy robots observe off"} {
		run(on)
		ask("/private/", 200)
		if a := c.ask(t, request{path: "/report", agent: chrome}.from("198.51.100.1")); a.status != 200 {
			t.Errorf("the report: got %d, want 200", a.status)
		}
		elsewhere(200)
		run(off)
		ask("/page", 403)
		elsewhere(403)
	}
	c.log.wait(t, "it is noted all the same", c.ended, message(msgObserved), field("robot", "GPTBot"))

	c.shell(t, "caddy robots lift --robot GPTBot --client "+personal)
	ask("/page", 200)
	write(t, rules, "")
	if out := run("caddy robots refresh"); !strings.Contains(out, "changed") {
		t.Errorf("refresh: got %s, want that it is changed", out)
	}
	ask("/private/", 200)
	for command, isDone := range ran {
		if !isDone {
			t.Errorf("nothing tries %s of docs/operations.md", command)
		}
	}
}

// What is switched lasts until another config is loaded, and is seen in status, log and metric.
func TestASwitchedObserveLastsUntilTheNextConfig(t *testing.T) {
	t.Parallel()
	rules := filepath.Join(t.TempDir(), "robots.txt")
	write(t, rules, closedToGPTBot)
	c := startWith(t, proxied+twoSites, map[string]string{"RULES": rules})
	observing := func() int64 { return numberAfter(t, c.adminGet(t, "/metrics"), "\ncaddy_robots_observing ") }
	c.shell(t, "caddy robots observe on")
	c.log.wait(t, "the log says that it is on", c.ended, message("observe was switched on: nobody is refused until it is switched off or another config is loaded"))
	if out := c.shell(t, "caddy robots status"); !strings.HasPrefix(out, "observe     on: ") || observing() != 1 {
		t.Errorf("switched on: got %s and the metric %v", out, observing())
	}
	c.shell(t, "caddy reload --config "+filepath.Join(c.home, "Caddyfile")) // of the config that runs
	c.expectFrom(t, personal, "", "/private/", gptbot, 200, "")
	if status, body, err := c.loadWhole(proxied + twoSites + "http://another.test:{$PORT} {\n\trespond ok\n}\n"); err != nil || status != http.StatusOK {
		t.Fatalf("another config: got %d %s, error %v", status, body, err)
	}
	c.expectFrom(t, personal, "", "/private/", gptbot, 403, "")
	if out := c.shell(t, "caddy robots status"); !strings.HasPrefix(out, "observe     off") || observing() != 0 {
		t.Errorf("another config: got %s and the metric %v", out, observing())
	}
}

// The commands find the admin endpoint as Caddy's own do, and say what is wrong where there is none.
func TestTheCommandsFindTheAdminEndpoint(t *testing.T) {
	t.Parallel()
	folder, err := os.MkdirTemp("", "admin") // a socket's path is at most 107 bytes long
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(folder) })
	socket := "unix/" + folder + "/admin.sock"
	c := startWith(t, "{\n\tadmin {$ADMIN}\n\tauto_https off\n}\nhttp://:{$PORT} {\n\trobots\n\trespond /robots.txt \"\"\n}\n", map[string]string{"ADMIN": socket})
	config := filepath.Join(folder, "caddy.json")
	write(t, config, `{"admin":{"listen":"`+socket+`"}}`)
	for _, args := range []string{"--address " + socket, "--config " + config} {
		got := runCommand(t, folder, nil, strings.Fields("status "+args)...)
		if got.status != 0 || !strings.HasPrefix(got.out, "observe     off\ndirectives  1\n") {
			t.Errorf("status %s: got status %d and\n%s%s", args, got.status, got.out, got.err)
		}
	}
	c.expect(t, "", "/", chrome, 200)

	without := startWith(t, "{\n\tadmin {$ADMIN}\n}\nhttp://:{$PORT} {\n\trespond page\n}\n", nil)
	for command, want := range map[string]string{
		"status":     "none: no site of the config that runs has robots",
		"sites":      "No site of the running config has the robots directive.",
		"observe on": "no site of the config that runs has the robots directive, so nobody is refused",
		"report":     "No robot came.",
	} {
		got := runCommand(t, folder, nil, append(strings.Fields(command), "--address", without.env["ADMIN"])...)
		if !strings.Contains(got.out+got.err, want) {
			t.Errorf("%s, without robots: got status %d and\n%s%s", command, got.status, got.out, got.err)
		}
	}
	// What a Caddy without this module answers is what this one does where it has nothing.
	if status, body := without.adminAsk(t, "GET", "/robots/nothing-here"); status != 404 || strings.Contains(body, "{") {
		t.Errorf("an endpoint that there is not: got %d %q, want 404 without JSON", status, body)
	}

	off := startWith(t, "{\n\tadmin off\n}\nhttp://:{$PORT} {\n\trobots\n\trespond page\n}\n", nil)
	got := runCommand(t, folder, nil, "status", "--address", off.env["ADMIN"])
	if got.status != 2 || !strings.Contains(got.err, "no Caddy answers at") || !strings.Contains(got.err, "admin off") {
		t.Errorf("admin off: got status %d and %s", got.status, got.err)
	}
}
