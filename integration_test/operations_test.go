package integration

import (
	"os/exec"
	"strings"
	"testing"
)

// The command of docs/operations.md that ends all refusals does it at once, on all sites, and
// leaves the report page as it is.
func TestTheDocumentedCommandEndsAllRefusals(t *testing.T) {
	t.Parallel()
	installed(t, "curl")
	_, section, found := strings.Cut(read(t, "docs/operations.md"), "## Off in ten seconds")
	_, command, found2 := strings.Cut(section, "```sh\n")
	command, _, closed := strings.Cut(command, "```")
	if !found || !found2 || !closed {
		t.Fatal(`docs/operations.md has no command under "Off in ten seconds"`)
	}
	c := start(t, `
http://:{$PORT} {
	robots {
		source text <<ROBOTS
			User-agent: GPTBot
			Disallow: /
			ROBOTS
		ban 2 in 1m for 1h
	}
	robots_report /report
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
`, nil)
	elsewhere := "http://127.0.0.1:" + c.env["PORT2"]
	for range 3 {
		c.expect(t, "", "/page", gptbot, 403)
	}
	if a, err := (request{path: "/page", agent: gptbot}).try(client, elsewhere); err != nil || a.status != 403 {
		t.Fatalf("the other site: got %d, error %v, want 403", a.status, err)
	}
	run := exec.Command("sh", "-ec", strings.ReplaceAll(command, "localhost:2019", c.env["ADMIN"]))
	if out, err := run.CombinedOutput(); err != nil || len(out) > 0 {
		t.Fatalf("got error %v and %q, want neither", err, out)
	}
	c.expect(t, "", "/page", gptbot, 200)
	c.expect(t, "", "/report", chrome, 200)
	if a, err := (request{path: "/page", agent: gptbot}).try(client, elsewhere); err != nil || a.status != 200 {
		t.Errorf("the other site: got %d, error %v, want 200", a.status, err)
	}
	c.log.wait(t, "it is noted all the same", c.ended, message(msgObserved), field("robot", "GPTBot"))
}
