package integration

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// reloadWith puts another fleetConfig in force.
func (c *caddy) reloadWith(t *testing.T, share string, options ...string) {
	t.Helper()
	if status, body, err := c.loadWhole(fleetConfig(share, options...)); err != nil || status != 200 {
		t.Fatalf("reload: got status %d, error %v: %s", status, err, body)
	}
}

func TestAReloadKeepsConnectionsAndPace(t *testing.T) {
	f := startFleet(t, calmly)
	f.expectShared(t, hourBotNumber(1))
	connections := func() int { return redisInfo(t, f.redis, "stats", "total_connections_received:") }
	before, begun := connections(), time.Now()
	h := f.hammer(persistent, 1, tenthBot, chrome)
	for n := range 10 {
		time.Sleep(aWhile / 10)
		f.a.reloadWith(t, calmly, fmt.Sprintf("refresh %dm", 2+n))
		f.a.expect(t, fleetHost, "/page", hourBotNumber(1), 429)
	}
	h.end(t)
	h.watch(tenthBot, begun, time.Now(), f.both()...).expectPace(t, "during ten reloads, both", tenth, 1, 0.05)
	if got := connections() - before; got != 0 {
		t.Errorf("connections opened to Redis during ten reloads: got %d, want 0", got)
	}
	for _, node := range f.both() {
		for _, msg := range []string{msgAlone, msgPartly, msgSharedAgain} {
			node.expectSaid(t, msg, 0)
		}
	}
}

func TestAReloadMovesAFleetToAnotherRedisAndAway(t *testing.T) {
	f := startFleet(t, calmly)
	f.expectShared(t, hourBotNumber(1))
	other := startRedis(t)
	c := redisClient(t, other.URL())
	for _, node := range f.both() {
		node.reloadWith(t, "share "+other.URL()+" within 5s")
	}
	watched(t, c, 2)
	eventually(t, "only this test has a connection to the first Redis", func() bool {
		return redisInfo(t, f.redis, "clients", "connected_clients:") == 1
	})
	f.expectShared(t, hourBotNumber(2))
	f.server.Kill() // which is no loss any more

	f.expectShared(t, hourBotNumber(3))
	for _, node := range f.both() {
		node.reloadWith(t, "")
		node.expectSaid(t, msgAlone, 0)
	}
	f.a.expectAlone(t, hourBotNumber(3)) // a site of a Caddy alone is named with its port: its paces begin anew
	eventually(t, "only this test has a connection to the second Redis", func() bool {
		return redisInfo(t, c, "clients", "connected_clients:") == 1
	})
	for _, node := range f.both() {
		node.expectAlone(t, hourBotNumber(4))
	}
}

// A password is changed in the file that holds it, and Caddy reloads.
func TestAReloadReadsTheURLAnew(t *testing.T) {
	first, second := startRedis(t), startRedis(t)
	file := filepath.Join(t.TempDir(), "url")
	write(t, file, first.URL())
	share := "share {file." + file + "} within 5s"
	f := startFleetAt(t, first, first.URL(), share)
	watched(t, f.redis, 2)
	write(t, file, second.URL())
	for _, node := range f.both() {
		node.reloadWith(t, share, "refresh 2m")
	}
	watched(t, redisClient(t, second.URL()), 2)
	f.expectShared(t, hourBotNumber(1))
}

func TestAConfigThatIsRefusedLeavesTheFleetAndItsLogAsTheyAre(t *testing.T) {
	f := startFleet(t, calmly)
	elsewhere := filepath.Join(t.TempDir(), "log")
	moved := withGlobal(fleetConfig(calmly), "\tlog {\n\t\toutput file "+elsewhere+"\n\t}\n")
	const foreign = "http://:{$PORT2} {\n\tbind 192.0.2.1\n}\n" // an address of nobody's
	status, body, err := f.a.loadWhole(moved + foreign)
	if err != nil || status == 200 || !strings.Contains(body, "192.0.2.1") {
		t.Fatalf("got status %d, error %v, %s; want a refusal that mentions 192.0.2.1", status, err, body)
	}
	f.expectShared(t, hourBotNumber(1))
	f.server.Kill()
	f.a.waitSaid(t, msgAlone, 1)
	f.a.expectAlone(t, hourBotNumber(2))
}
