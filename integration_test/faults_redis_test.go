package integration

import (
	"syscall"
	"testing"
	"time"
)

// A redis-server that is stopped, not killed, takes connections and answers nothing.
func TestARedisThatHangsDelaysNoStartReloadOrStop(t *testing.T) {
	t.Parallel()
	f := startFleet(t, sharing)
	f.expectShared(t, hourBotNumber(1))
	f.server.Pause()
	defer f.server.Resume()
	bounded := func(what string, most time.Duration, do func()) {
		t.Helper()
		began := time.Now()
		do()
		took := time.Since(began)
		t.Logf("%s: %s", what, took.Round(time.Millisecond))
		if took > most {
			t.Errorf("%s took %s, want at most %s", what, took, most)
		}
	}
	bounded("a reload", slack, func() {
		if status, body, err := f.a.load(fleetSite(sharing + "\n\t\tobserve")); err != nil || status != 200 {
			t.Fatalf("reload: got status %d, error %v: %s", status, err, body)
		}
	})
	f.a.expect(t, fleetHost, "/page", chrome, 200)
	bounded("a stop", slack, func() { f.a.end(t, syscall.SIGTERM) })
	bounded("a start", farewell, func() { f.a.run(t) })
	f.a.expectAlone(t, hourBotNumber(2))
	f.a.expect(t, fleetHost, "/page", chrome, 200)
}
