package integration

import (
	"sync"
	"syscall"
	"testing"
	"time"
)

// paceTime is how long a pace is watched: long enough for 2 % of the documents to be
// several.
const paceTime = 21 * time.Second

const (
	tenth     = 100 * time.Millisecond // between two documents for tenthBot
	twentieth = 50 * time.Millisecond  // for burstBot, after its burst
	burst     = 20
)

func TestAFleetKeepsOnePace(t *testing.T) {
	f := startFleet(t, calmly)
	begun := time.Now()
	h := f.hammer(once, 2, tenthBot, burstBot)
	time.Sleep(paceTime) // it is the pace in real time that is measured
	h.end(t)
	now := time.Now()
	h.watch(tenthBot, begun, now, f.both()...).expectPace(t, "Crawl-delay: 0.1 at both", tenth, 1, 0.02)
	h.watch(burstBot, begun, now, f.both()...).expectPace(t, "Request-rate: 20/1s at both", twentieth, burst, 0.02)
	for _, node := range f.both() {
		if got := len(h.watch(tenthBot, begun, now, node).served); got == 0 {
			t.Errorf("the Caddy at %s served nothing to %s", node.address(), tenthBot)
		}
		node.expectSaid(t, msgAlone, 0)
	}
}

func TestACaddyThatCrashedKnowsWhatTheFleetServed(t *testing.T) {
	f := startFleet(t, calmly)
	f.a.expect(t, fleetHost, "/page", hourBotNumber(1), 200)
	f.b.expect(t, fleetHost, "/page", hourBotNumber(2), 200)
	f.a.restart(t, syscall.SIGKILL)
	f.a.expect(t, fleetHost, "/page", hourBotNumber(1), 429)
	f.a.expect(t, fleetHost, "/page", hourBotNumber(2), 429)
}

// Requests are held by the Caddy they came to, and it is in Redis that they meet.
func TestAFleetHoldsRequestsAtBothCaddysAndServesThemAll(t *testing.T) {
	f := startFleet(t, "too_fast wait 30s\n\t\t"+calmly)
	const each = 8
	begun := time.Now()
	var held sync.WaitGroup
	for range each {
		for _, node := range f.both() {
			held.Go(func() {
				a, err := request{host: fleetHost, path: "/page", agent: tenthBot}.try(client, "http://"+node.address())
				if err != nil || a.status != 200 {
					t.Errorf("held request: got %d, error %v, want 200", a.status, err)
				}
			})
		}
	}
	held.Wait()
	// Each may be a fifth too early.
	if got, want := time.Since(begun), (2*each-1)*tenth*4/5; got < want {
		t.Errorf("%d documents: got them in %s, want at least %s", 2*each, got, want)
	} else {
		t.Logf("%d documents in %s", 2*each, got)
	}
}
