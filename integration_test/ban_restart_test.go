package integration

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Warnings about bans and Caddy's storage.
const (
	msgBansUnreadable = "bans from before the restart cannot be read; they are set aside"
	msgBansMissed     = "bans from before the restart could not be loaded yet, and none are stored until they are; a restart would lift them"
)

// startStoring runs a Caddyfile whose bans are stored below a folder, and returns that
// folder. Before Caddy starts it holds what prepare makes there.
func startStoring(t *testing.T, prepare func(store string)) (c *caddy, store string) {
	t.Helper()
	store = t.TempDir()
	prepare(store)
	stored := strings.Replace(proxied, "{\n", "{\n\tstorage file_system {$STORE}\n", 1)
	return startWith(t, stored+banSites, map[string]string{"STORE": store}), store
}

func nothing(string) {}

// bansFile is where the bans are stored.
func bansFile(store string) string { return filepath.Join(store, "robots", "bans.json") }

// awaitStored waits until the stored bans name this address, or do not.
func awaitStored(t *testing.T, store, address string, want bool) {
	t.Helper()
	eventually(t, "the bans are stored", func() bool {
		text, err := os.ReadFile(bansFile(store))
		return err == nil && strings.Contains(string(text), `"`+address+`"`) == want
	})
}

func TestBansSurviveAReload(t *testing.T) {
	t.Parallel()
	c := startWith(t, proxied+banSites, nil)
	c.misbehave(t, rogue, "site.test", bingbot, 3)
	for _, reload := range []struct {
		caddyfile string
		robots    bool
	}{
		{strings.Replace(proxied+banSites, "config 1", "config 2", 1), true},
		{proxied + "http://:{$PORT} {\n\trespond page\n}\n", false},
		{strings.Replace(proxied+banSites, "config 1", "config 3", 1), true},
	} {
		if status, body, err := c.loadWhole(reload.caddyfile); err != nil || status != 200 {
			t.Fatalf("reload: got status %d, error %v: %s", status, err, body)
		}
		c.expectBanned(t, rogue, "site.test", bingbot, reload.robots)
		c.expectBanned(t, personal, "site.test", bingbot, false)
	}
}

func TestBansSurviveARestart(t *testing.T) {
	t.Parallel()
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		t.Run(signal.String(), func(t *testing.T) {
			t.Parallel()
			c, store := startStoring(t, nothing)
			c.misbehave(t, rogue, "site.test", bingbot, 3)
			began := time.Now()
			if signal == syscall.SIGKILL {
				awaitStored(t, store, rogue, true)
				if took := time.Since(began); took > time.Second+slack {
					t.Errorf("a ban was stored after %s, want it within a second", took)
				}
			}
			before := c.banned(t)
			c.restart(t, signal)
			after := c.banned(t)
			if len(before) != 1 || len(after) != 1 || before[0] != after[0] {
				t.Errorf("bans after the restart: got %+v, want %+v", after, before)
			}
			c.expectBanned(t, rogue, "site.test", bingbot, true)
			c.expectBanned(t, personal, "site.test", bingbot, false)
			c.expectBanned(t, rogue, "site.test", "OtherBot/1.0", false)
		})
	}
}

func TestALiftedBanIsNotBackAfterARestart(t *testing.T) {
	t.Parallel()
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		t.Run(signal.String(), func(t *testing.T) {
			t.Parallel()
			c, store := startStoring(t, nothing)
			c.misbehave(t, rogue, "site.test", bingbot, 3)
			awaitStored(t, store, rogue, true)
			if status, body := c.adminAsk(t, "DELETE", "/robots/bans?robot=bingbot"); status != 200 {
				t.Fatalf("admin DELETE: got %d %s, want 200", status, body)
			}
			if signal == syscall.SIGKILL {
				awaitStored(t, store, rogue, false)
			}
			c.restart(t, signal)
			c.expectBanned(t, rogue, "site.test", bingbot, false)
		})
	}
}

func TestABanEndsWhileCaddyIsDown(t *testing.T) {
	t.Parallel()
	c, store := startStoring(t, nothing)
	c.misbehave(t, rogue, "moment.test", bingbot, 2)
	ends := c.banned(t)[0].Until
	c.end(t, syscall.SIGTERM)
	c.checkLog(t)
	if text, err := os.ReadFile(bansFile(store)); err != nil || !strings.Contains(string(text), rogue) {
		t.Errorf("stored bans: got %q, error %v, want one of %s", text, err, rogue)
	}
	until(ends)
	c.run(t)
	c.expectBanned(t, rogue, "moment.test", bingbot, false)
}

func TestStoredBansThatCannotBeReadBanNobody(t *testing.T) {
	t.Parallel()
	whole := `[{"site":"site.test","robot":"bingbot","address":"` + rogue + `","since":"2026-01-01T00:00:00Z","until":"2099-01-01T00:00:00Z","rule":"Disallow: /"}]`
	for name, text := range map[string]string{
		"empty":        "",
		"cut short":    whole[:len(whole)/2],
		"another type": `{"bans": true}`,
		"no date":      strings.Replace(whole, "2099-01-01T00:00:00Z", "tomorrow", 1),
		"binary":       "\x00\xff\x1b",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, store := startStoring(t, func(store string) { write(t, bansFile(store), text) })
			c.log.wait(t, "the bans cannot be read", c.ended, message(msgBansUnreadable), field("level", "warn"))
			c.expectBanned(t, rogue, "site.test", bingbot, false)
			aside, err := filepath.Glob(bansFile(store) + ".unreadable-*")
			if err != nil || len(aside) != 1 {
				t.Fatalf("what is set aside: got %q, error %v, want one file", aside, err)
			}
			if got, err := os.ReadFile(aside[0]); err != nil || string(got) != text {
				t.Errorf("what is set aside: got %q, error %v, want %q", got, err, text)
			}
			c.misbehave(t, rogue, "site.test", bingbot, 3)
			c.restart(t, syscall.SIGTERM)
			c.expectBanned(t, rogue, "site.test", bingbot, true)
		})
	}
}

func TestBansThatCannotBeStoredHoldUntilTheyCan(t *testing.T) {
	t.Parallel()
	var inTheWay string
	c, store := startStoring(t, func(store string) {
		inTheWay = filepath.Dir(bansFile(store))
		write(t, inTheWay, "a file in the place of the folder")
	})
	c.log.wait(t, "the bans could not be loaded", c.ended, message(msgBansMissed), field("level", "warn"))
	c.misbehave(t, rogue, "site.test", bingbot, 3)
	c.expectBanned(t, rogue, "site.test", bingbot, true)
	until(time.Now().Add(2500 * time.Millisecond)) // it is tried again each second, and not told
	c.expectBanned(t, rogue, "site.test", bingbot, true)
	if got := len(c.log.all(message(msgBansMissed))); got != 1 {
		t.Errorf("lines %q: got %d, want 1", msgBansMissed, got)
	}

	if err := os.Remove(inTheWay); err != nil {
		t.Fatal(err)
	}
	awaitStored(t, store, rogue, true)
	c.restart(t, syscall.SIGKILL)
	c.expectBanned(t, rogue, "site.test", bingbot, true)
}
