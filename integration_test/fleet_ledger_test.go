package integration

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/internal/compliance"
)

const (
	msgUnreadable = "what robots did on another Caddy of the fleet cannot be read; the report leaves it out"
	msgUnshown    = "what robots did here cannot be shown to the fleet"
	msgNameTaken  = "another Caddy has the name of this one: the report of the fleet shows only one of them at a time; remove the file with the name on one of them and restart it"
)

// tally is how many requests a report tells of.
type tally struct{ Requests, Disobedient int }

func (s tally) plus(t tally) tally {
	return tally{s.Requests + t.Requests, s.Disobedient + t.Disobedient}
}

// seen returns what the report of a Caddy says.
func (c *caddy) seen(t *testing.T) tally {
	t.Helper()
	var report struct{ Total tally }
	text := c.adminGet(t, "/robots/robots")
	if err := json.Unmarshal([]byte(text), &report); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return report.Total
}

// sees waits until the report of a Caddy says this.
func (c *caddy) sees(t *testing.T, what string, want tally) {
	t.Helper()
	begun := time.Now()
	var last tally
	defer func() {
		if last != want {
			t.Errorf("%s: last seen %+v", what, last)
		}
	}()
	eventually(t, fmt.Sprintf("%s: %+v", what, want), func() bool { last = c.seen(t); return last == want })
	t.Logf("%s: %s later", what, time.Since(begun).Round(time.Millisecond))
}

// keepsSeeing fails the test unless the report of a Caddy says this for as long as it takes
// to publish and to read a ledger again.
func (c *caddy) keepsSeeing(t *testing.T, what string, want tally) {
	t.Helper()
	for end := time.Now().Add(17 * time.Second); time.Now().Before(end); time.Sleep(time.Second) {
		if got := c.seen(t); got != want {
			t.Fatalf("%s: got %+v, want %+v", what, got, want)
		}
	}
}

// rove has the rogue robot fetch pages, some of which are closed to it.
func (c *caddy) rove(t *testing.T, open, closed int) tally {
	t.Helper()
	for range open {
		c.expectFrom(t, personal, fleetHost, "/page", rogueBot, 200, "")
	}
	c.disobey(t, closed)
	return tally{open + closed, closed}
}

// stored returns what the ledger says that a Caddy has stored.
func (c *caddy) stored(t *testing.T) tally {
	t.Helper()
	data, err := os.ReadFile(c.ledgerFile(t)) // and no file that is being written beside it
	if err != nil {
		return tally{}
	}
	ledger := compliance.NewLedger(compliance.Options{})
	if err := ledger.Unmarshal(data); err != nil {
		t.Fatalf("the ledger in the storage: %v", err)
	}
	total := ledger.Snapshot(time.Now()).Total
	return tally{int(total.Requests), int(total.Disobedient)}
}

func TestTheReportOfAFleetIsTheSumOfItsCaddys(t *testing.T) {
	t.Parallel()
	f := startFleet(t, calmly)
	sum := f.a.rove(t, 5, 2).plus(f.b.rove(t, 7, 3))
	for _, node := range f.both() {
		node.sees(t, "the sum", sum)
	}
	late := f.join(t, calmly)
	sum = sum.plus(late.rove(t, 1, 1))
	for _, node := range append(f.both(), late) {
		node.sees(t, "the sum of three", sum)
		node.expectSaid(t, msgUnreadable, 0)
		node.expectSaid(t, msgUnshown, 0)
		node.expectSaid(t, msgNameTaken, 0)
	}
	if page := f.a.adminGet(t, "/robots/report"); !strings.Contains(page, "live, 3 Caddys") {
		t.Error("the page does not say that it shows three Caddys")
	}
}

func TestACaddyThatIsKilledAndStartsAgainIsCountedOnce(t *testing.T) {
	t.Parallel()
	f := startFleet(t, calmly)
	ofA := f.a.rove(t, 5, 2)
	sum := ofA.plus(f.b.rove(t, 7, 3))
	f.b.sees(t, "the sum", sum)
	eventually(t, "the ledger is stored", func() bool { return f.a.stored(t) == ofA })
	f.a.end(t, syscall.SIGKILL)
	f.b.keepsSeeing(t, "while a Caddy is gone", sum)
	f.a.run(t)
	f.a.sees(t, "after the restart, there", sum)
	f.b.keepsSeeing(t, "after the restart", sum)
	sum = sum.plus(f.a.rove(t, 1, 1))
	for _, node := range f.both() {
		node.sees(t, "after the restart and more requests", sum)
		node.expectSaid(t, msgNameTaken, 0)
	}
}

func TestTheLastRequestsToACaddyThatStopsAreShown(t *testing.T) {
	t.Parallel()
	f := startFleet(t, calmly)
	sum := f.a.rove(t, 1, 0)
	f.b.sees(t, "the first request", sum)
	sum = sum.plus(f.a.rove(t, 3, 2))
	f.a.end(t, syscall.SIGTERM)
	f.b.sees(t, "the last requests", sum)
	f.a.run(t)
	f.a.sees(t, "after the restart", sum)
	f.b.keepsSeeing(t, "after the restart", sum)
}

func TestWithoutRedisTheReportShowsThisCaddy(t *testing.T) {
	t.Parallel()
	f := startFleet(t, calmly)
	ofA, ofB := f.a.rove(t, 5, 2), f.b.rove(t, 7, 3)
	for _, node := range f.both() {
		node.sees(t, "the sum", ofA.plus(ofB))
	}
	f.server.Kill()
	for _, node := range f.both() {
		node.waitSaid(t, msgAlone, 1)
	}
	f.a.sees(t, "alone", ofA)
	f.b.sees(t, "alone", ofB)
	if page := f.a.adminGet(t, "/robots/report"); !strings.Contains(page, "this Caddy only") {
		t.Error("the page does not say that it shows one Caddy only")
	}
	ofA = ofA.plus(f.a.rove(t, 1, 1))
	if got := f.a.seen(t); got != ofA {
		t.Errorf("alone, after more requests: got %+v, want %+v at once", got, ofA)
	}
	f.server.Restart(t)
	for _, node := range f.both() {
		node.waitSaid(t, msgSharedAgain, 1)
		node.sees(t, "the sum, after Redis has forgotten all", ofA.plus(ofB))
	}
}

func TestALedgerInRedisThatCannotBeReadIsLeftOutAndToldOnce(t *testing.T) {
	t.Parallel()
	f := startFleet(t, calmly)
	ofA := f.a.rove(t, 5, 2)
	f.b.sees(t, "the sum", ofA)
	keys, err := f.redis.Keys(t.Context(), "caddy-robots:node:*").Result()
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range keys {
		if err := f.redis.LSet(t.Context(), key, 0, "not ours").Err(); err != nil {
			t.Fatal(err)
		}
	}
	f.b.sees(t, "without the other", tally{})
	f.b.keepsSeeing(t, "without the other", tally{})
	f.b.expectSaid(t, msgUnreadable, 1)
	ofA = ofA.plus(f.a.rove(t, 1, 0))
	f.b.sees(t, "the sum, when the other has published again", ofA)
}
