package integration

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

const fileSite = `
http://:{$PORT} {
	robots {
		source file {$RULES}
		refresh 1s
	}
	respond "page"
}
`

func TestAFileThatGoesAwayKeepsItsRules(t *testing.T) {
	t.Parallel()
	name := t.TempDir() + "/rules.txt"
	write(t, name, firstRules)
	c := start(t, fileSite, map[string]string{"RULES": name})
	c.expect(t, "", "/first/", gptbot, 403)

	remove := func() error { return os.Remove(name) }
	folder := func() error { return os.Mkdir(name, 0o755) }
	secret := func() error {
		if os.Geteuid() == 0 { // root may read a file of mode 000, but no link that leads to itself
			return os.Symlink(name, name)
		}
		return os.WriteFile(name, []byte(secondRules), 0)
	}
	stretch := 0
	for _, fault := range []struct {
		name  string
		apply []func() error
	}{
		{"deleted", []func() error{remove}},
		{"a folder", []func() error{remove, folder}},
		{"unreadable", []func() error{remove, secret}},
	} {
		t.Run(fault.name, func(t *testing.T) {
			for _, apply := range fault.apply {
				if err := apply(); err != nil {
					t.Fatal(err)
				}
			}
			stretch++
			eventually(t, "the log says that the file cannot be loaded", func() bool {
				return len(c.log.all(message(msgUnavailable))) >= stretch
			})
			c.expect(t, "", "/first/", gptbot, 403)
			c.expect(t, "", "/first/", chrome, 200)
			if err := os.RemoveAll(name); err != nil {
				t.Fatal(err)
			}
			write(t, name, firstRules)
			eventually(t, "the log says that the file can be loaded", func() bool {
				return len(c.log.all(message(msgAvailable))) >= stretch
			})
			c.expect(t, "", "/first/", gptbot, 403)
			if got := len(c.log.all(message(msgUnavailable))); got != stretch {
				t.Errorf("lines %q: got %d, want %d", msgUnavailable, got, stretch)
			}
		})
	}
}

func TestAFileReplacedByGarbageAndBackIsFollowed(t *testing.T) {
	t.Parallel()
	name := t.TempDir() + "/rules.txt"
	write(t, name, firstRules)
	c := start(t, fileSite, map[string]string{"RULES": name})
	c.expect(t, "", "/first/", gptbot, 403)
	for i, garbage := range []string{"\x00\x01\x02\xff\xfe", "\xff\xfeU\x00s\x00e\x00r\x00", "<html>\nUser-agent: *\nDisallow: /\n", strings.Repeat(":", 100_000)} {
		write(t, name, garbage)
		eventually(t, fmt.Sprintf("garbage %d means no rules", i), func() bool { return c.status(t, "", "/first/") == 200 })
		c.expect(t, "", "/first/", chrome, 200)
		write(t, name, firstRules)
		eventually(t, "the rules hold again", func() bool { return c.status(t, "", "/first/") == 403 })
	}
}
