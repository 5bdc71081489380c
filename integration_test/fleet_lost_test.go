package integration

import (
	"testing"
	"time"
)

const (
	// bound is how long a request waits for Redis at the most, if no option says otherwise,
	// and noise what a busy machine may add.
	bound = 50 * time.Millisecond
	noise = time.Second

	// sharedAgain is how soon Caddys share again when Redis answers again.
	sharedAgain = 5 * time.Second

	// outage is how long Redis is gone, and aWhile how long a pace is watched besides.
	outage = 5 * time.Second
	aWhile = 5 * time.Second
)

func TestRedisIsKilledAndComesBackAndNoRequestFails(t *testing.T) {
	f := startFleet(t, calmly)
	begun := time.Now()
	h := f.hammer(once, 1, tenthBot, burstBot, chrome)
	time.Sleep(aWhile)

	killed := time.Now()
	f.server.Kill()
	for _, node := range f.both() {
		t.Logf("Caddy alone: %s after the kill", node.waitSaid(t, msgAlone, 1).Sub(killed))
	}
	time.Sleep(outage)

	restarted := time.Now()
	f.server.Restart(t)
	answers := time.Now()
	for _, node := range f.both() {
		after := node.waitSaid(t, msgSharedAgain, 1).Sub(answers)
		t.Logf("shared again: %s after Redis answers", after)
		if after > sharedAgain {
			t.Errorf("shared again: got %s after Redis answers, want at most %s", after, sharedAgain)
		}
	}
	back := time.Now()
	time.Sleep(aWhile)
	h.end(t)

	h.watch(tenthBot, begun, killed, f.both()...).expectPace(t, "before, both", tenth, 1, 0.05)
	for _, node := range f.both() {
		h.watch(tenthBot, killed, restarted, node).expectPace(t, "alone, each", tenth, 1, 0.05)
		// A Caddy knows what it admitted itself, so it may admit what the other one
		// admitted in the period before.
		h.watch(burstBot, killed.Add(time.Second), restarted, node).expectPace(t, "alone, each, after a period", twentieth, 1, 0.05)
		node.expectSaid(t, msgAlone, 1)
		node.expectSaid(t, msgSharedAgain, 1)
	}
	h.watch(tenthBot, back, time.Now(), f.both()...).expectPace(t, "again, both", tenth, 1, 0.05)
}

func TestAPausedRedisHoldsUpOnlyWhatIsUnderWay(t *testing.T) {
	f := startFleet(t, sharing)
	h := f.hammer(once, 2, tenthBot, burstBot, chrome)
	time.Sleep(time.Second)
	paused := time.Now()
	f.server.Pause()
	time.Sleep(outage)
	resumed := time.Now()
	f.server.Resume()
	for _, node := range f.both() {
		eventually(t, "paces and bans are shared again", func() bool {
			times := node.said(msgSharedAgain)
			return len(times) > 0 && times[len(times)-1].After(resumed)
		})
		times := node.said(msgSharedAgain)
		t.Logf("shared again: %s after Redis answers", times[len(times)-1].Sub(resumed))
	}
	h.end(t)

	all := h.durations(paused, resumed)
	half, slowest := all[len(all)/2], all[len(all)-1]
	waited := 0
	for _, d := range all {
		if d >= bound {
			waited++
		}
	}
	t.Logf("while Redis is paused: %d requests, half within %s, %d took %s or more, the slowest %s", len(all), half, waited, bound, slowest)
	if slowest > bound+noise {
		t.Errorf("slowest request: got %s, want at most %s", slowest, bound+noise)
	}
	if half >= bound {
		t.Errorf("half of the requests: got within %s, want less than %s: only those under way may wait", half, bound)
	}
}

func TestCaddysStartWithoutRedisAndShareWhenItAppears(t *testing.T) {
	server := startRedis(t)
	server.Kill()
	f := startFleetAt(t, server, server.URL(), calmly)
	for _, node := range f.both() {
		node.expectAlone(t, hourBotNumber(1))
		node.expect(t, fleetHost, "/page", chrome, 200)
		node.waitSaid(t, msgAlone, 1)
	}
	server.Restart(t)
	for _, node := range f.both() {
		node.waitSaid(t, msgSharedAgain, 1)
	}
	f.expectShared(t, hourBotNumber(2))
	for _, node := range f.both() {
		node.expectSaid(t, msgAlone, 1)
		node.expectSaid(t, msgSharedAgain, 1)
	}
}

func TestACaddyServesBeforeRedisHasAnswered(t *testing.T) {
	server := startRedis(t)
	server.Pause()
	f := startFleetAt(t, server, server.URL(), sharing+" within 1s")
	for _, node := range f.both() {
		if times := node.said(msgAlone); len(times) > 0 {
			t.Errorf("the log says that nothing is shared at %s, before the config is served", times[0])
		}
		begun := time.Now()
		node.expectAlone(t, hourBotNumber(1))
		if took := time.Since(begun); took > 2*time.Second+noise {
			t.Errorf("two requests: got answers after %s, want within the second that is given to Redis", took)
		}
		node.waitSaid(t, msgAlone, 1)
	}
	server.Resume()
	for _, node := range f.both() {
		node.waitSaid(t, msgSharedAgain, 1)
	}
	f.expectShared(t, hourBotNumber(2))
}

// A firewall, or Redis's own timeout, closes connections that nobody used for a while.
func TestConnectionsThatWereClosedAreNoLoss(t *testing.T) {
	f := startFleet(t, calmly)
	for n := range 3 {
		if err := f.redis.ClientKillByFilter(t.Context(), "TYPE", "normal", "SKIPME", "yes").Err(); err != nil {
			t.Fatal(err)
		}
		f.expectShared(t, hourBotNumber(n))
	}
	for _, node := range f.both() {
		node.expectSaid(t, msgAlone, 0)
	}
}
