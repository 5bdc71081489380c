package integration

import (
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestAReloadWaitsForNoHeldRequest(t *testing.T) {
	overHTTP1And2(t, func(t *testing.T, g guest) {
		held, _ := g.fill(t)
		hasty := strings.NewReplacer("config 1", "config 2", "too_fast wait 5m", "").Replace(patientSite)
		began := time.Now()
		status, body, err := g.loadWhole(hasty)
		took := time.Since(began)
		if err != nil || status != 200 {
			t.Fatalf("reload: got status %d, error %v: %s", status, err, body)
		}
		if took > slack {
			t.Errorf("the reload took %s with %d requests held", took, len(held))
		}
		letGo := expectLetGo(t, held, began)
		t.Logf("with %d requests held, the reload took %s, and the last of them was answered after %s", len(held), took, letGo)

		if a, _ := g.expectNow(t, "/page", chrome, 200); a.body != "page of config 2" {
			t.Errorf("page: got %q, want that of config 2", a.body)
		}
		g.expectNow(t, "/page", "TenBot/1.0", 429) // it has spent what it had before
	})
}

func TestStoppingWaitsForNoHeldRequest(t *testing.T) {
	overHTTP1And2(t, func(t *testing.T, g guest) {
		held, _ := g.fill(t)
		g.client.CloseIdleConnections() // Caddy gives those that were never used five seconds
		began := time.Now()
		g.end(t, syscall.SIGTERM)
		took := time.Since(began)
		g.checkLog(t)
		if took > slack {
			t.Errorf("Caddy took %s to stop with %d requests held", took, len(held))
		}
		letGo := expectLetGo(t, held, began)
		t.Logf("with %d requests held, Caddy took %s to stop, and the last of them was answered after %s", len(held), took, letGo)
		g.run(t)
	})
}

// expectLetGo compares the answers to held requests with what they get that are let go. It
// returns how long after the beginning the last one came.
func expectLetGo(t *testing.T, held []*pending, began time.Time) (last time.Duration) {
	t.Helper()
	for _, p := range held {
		p.expectBetween(t, 429, began, began.Add(slack))
		p.answer.retryAfter(t, heldOfOne*10)
		last = max(last, p.at.Sub(began))
	}
	return last
}

func TestWhoWouldBeHeldForTooLongIsRefusedAtOnce(t *testing.T) {
	t.Parallel()
	c := startWith(t, strings.Replace(patientSite, "wait 5m", "wait 1s", 1), nil)
	c.awaitTLS(t)
	g := guest{c, secureClient(t, c, true), "https://secure.test:" + c.env["PORT"]}
	began := time.Now()
	g.expectNow(t, "/page", "ThreeBot/1.0", 200)
	served := time.Now()
	a, _ := g.expectNow(t, "/page", "ThreeBot/1.0", 429)
	if got := a.retryAfter(t, 3); got < 2 {
		t.Errorf("Retry-After: got %d, want 3", got)
	}
	until(served.Add(2100 * time.Millisecond))
	g.send(t, "ThreeBot/1.0").expectBetween(t, 200, began.Add(3*time.Second), served.Add(3*time.Second+slack))
}
