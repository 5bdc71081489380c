package integration

import (
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const (
	fewDescriptors = 64

	msgAccept = "too many open files" // in an error of the system
)

// startPoor runs a Caddy that may have few files and connections open.
func startPoor(t *testing.T, sites string, env map[string]string) *caddy {
	t.Helper()
	c := newCaddy(t, prelude+sites, env)
	c.program = []string{"sh", "-c", fmt.Sprintf(`ulimit -n %d && exec "$0" "$@"`, fewDescriptors), caddyBinary(t)}
	c.run(t)
	return c
}

func TestWithoutAFileDescriptorLeftTheRulesHold(t *testing.T) {
	t.Parallel()
	rules := filepath.Join(t.TempDir(), "robots.txt")
	write(t, rules, firstRules)
	c := startPoor(t, `
http://:{$PORT} {
	robots {
		source file {$RULES}
		refresh 1s
		ban 100 in 1m for 1h
	}
	respond "page"
}
`, map[string]string{"RULES": rules})

	// One robot and one person have a connection before all others are taken.
	visitors := make(map[string]*http.Client)
	for agent, want := range map[string]int{gptbot: 403, chrome: 200} {
		visitors[agent] = &http.Client{Timeout: patience, Transport: &http.Transport{MaxConnsPerHost: 1}}
		c.expectOf(t, visitors[agent], "/first/", agent, want)
	}
	var taken []net.Conn
	for range 2 * fewDescriptors {
		conn, err := net.DialTimeout("tcp", c.address(), patience)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		taken = append(taken, conn)
	}
	write(t, rules, secondRules)
	eventually(t, "the log says that the rules cannot be loaded", func() bool {
		c.expectOf(t, visitors[gptbot], "/first/", gptbot, 403)
		return len(c.log.all(message(msgUnavailable))) > 0
	})
	l := c.log.wait(t, "the rules cannot be loaded", c.ended, message(msgUnavailable))
	if !strings.Contains(l.text("error"), msgAccept) {
		t.Errorf("log line %q: got error %q, want %q in it", msgUnavailable, l.text("error"), msgAccept)
	}
	for agent, want := range map[string]int{gptbot: 403, chrome: 200} {
		c.expectOf(t, visitors[agent], "/first/", agent, want)
	}
	for _, conn := range taken {
		conn.Close()
	}
	eventually(t, "the new rules hold", func() bool { return c.status(t, "", "/second/") == 403 })
	c.robotsCome(t, "")
	c.log.wait(t, "the rules can be loaded", c.ended, message(msgAvailable))
	for _, msg := range []string{msgUnavailable, msgAvailable} {
		if got := len(c.log.all(message(msg))); got != 1 {
			t.Errorf("lines %q: got %d, want 1", msg, got)
		}
	}
	began := time.Now()
	c.expect(t, "", "/second/", chrome, 200)
	if took := time.Since(began); took > slack {
		t.Errorf("a person waited %s when connections were free again", took)
	}
}

// expectOf sends a GET of one client and compares the status.
func (c *caddy) expectOf(t *testing.T, visitor *http.Client, path, agent string, want int) {
	t.Helper()
	a, err := request{path: path, agent: agent}.try(visitor, "http://"+c.address())
	if err != nil || a.status != want {
		t.Errorf("GET %s for %q: got %d, error %v, want %d", path, agent, a.status, err, want)
	}
}
