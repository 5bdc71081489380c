package integration

import (
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"
)

// offences bring a ban in these tests.
const offences = 4

const banning = "ban 4 in 1m for 1h"

// spreads is how soon all Caddys know of a ban or that it is lifted.
const spreads = time.Second

// disobey has the rogue robot commit offences at one Caddy.
func (c *caddy) disobey(t *testing.T, times int) {
	t.Helper()
	for range times {
		c.expectFrom(t, personal, fleetHost, "/private/", rogueBot, 403, "")
	}
}

// learns waits until a Caddy answers the rogue robot like this for a page that is open to it,
// which must be soon after since.
func (c *caddy) learns(t *testing.T, what string, status int, since time.Time) {
	t.Helper()
	eventually(t, what, func() bool {
		return c.ask(t, request{host: fleetHost, path: "/page", agent: rogueBot}.from(personal)).status == status
	})
	took := time.Since(since)
	t.Logf("%s: %s later", what, took)
	if took > spreads {
		t.Errorf("%s: got that after %s, want it within %s", what, took, spreads)
	}
}

// unban lifts the bans that fit a query at the admin endpoint, and returns what that says.
func (c *caddy) unban(t *testing.T, query string) (status int, body string) {
	t.Helper()
	req, err := http.NewRequest(http.MethodDelete, "http://"+c.env["ADMIN"]+"/robots/bans?"+query, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

func TestOffencesAtBothCaddysBringOneBan(t *testing.T) {
	f := startFleet(t, calmly, banning)
	f.a.disobey(t, offences/2)
	f.b.disobey(t, offences-offences/2-1)
	for _, node := range f.both() {
		node.expectFrom(t, personal, fleetHost, "/page", rogueBot, 200, "")
	}
	f.b.disobey(t, 1)
	f.b.expectFrom(t, personal, fleetHost, "/page", rogueBot, 403, "")
	f.a.learns(t, "a ban of offences at both holds at the other Caddy", 403, time.Now())
	f.a.expectSaid(t, "robot banned", 0)
	f.b.expectSaid(t, "robot banned", 1)
	for _, node := range f.both() {
		if list := node.adminGet(t, "/robots/bans"); strings.Count(list, `"robot":"roguebot"`) != 1 {
			t.Errorf("bans: got %s, want one of roguebot", list)
		}
		node.expectFrom(t, personal, fleetHost, "/robots.txt", rogueBot, 200, "")
		node.expect(t, fleetHost, "/page", chrome, 200)
	}
}

func TestABanHoldsAtAllCaddysThatAskRedisNothing(t *testing.T) {
	f := startFleet(t, calmly, banning)
	f.a.disobey(t, offences)
	banned, before := time.Now(), judgements(t, f.redis)
	f.b.learns(t, "a ban is known to the other Caddy", 403, banned)
	if got := judgements(t, f.redis) - before; got != 0 {
		t.Errorf("judgements by Redis of a robot without a pace: got %d, want 0", got)
	}
}

func TestABanIsLiftedAtAllCaddys(t *testing.T) {
	f := startFleet(t, calmly, banning)
	f.a.disobey(t, offences)
	f.b.learns(t, "a ban is known to the other Caddy", 403, time.Now())
	if status, body := f.b.unban(t, "robot=roguebot"); status != http.StatusOK || !strings.Contains(body, `"robot":"roguebot"`) {
		t.Fatalf("DELETE: got %d %q, want 200 and the ban", status, body)
	}
	lifted := time.Now()
	f.b.expectFrom(t, personal, fleetHost, "/page", rogueBot, 200, "")
	f.a.learns(t, "the ban is lifted at the other Caddy", 200, lifted)

	// The next one takes as many offences as the first.
	f.a.disobey(t, offences-1)
	for _, node := range f.both() {
		node.expectFrom(t, personal, fleetHost, "/page", rogueBot, 200, "")
	}
	f.b.disobey(t, 1)
	f.b.expectFrom(t, personal, fleetHost, "/page", rogueBot, 403, "")
}

func TestACaddyThatStartsLaterKnowsTheBans(t *testing.T) {
	f := startFleet(t, calmly, banning)
	f.a.disobey(t, offences)
	late := f.join(t, calmly, banning)
	late.learns(t, "a ban of before is known", 403, time.Now())
	if status, body := late.unban(t, "robot=roguebot"); status != http.StatusOK || !strings.Contains(body, `"robot":"roguebot"`) {
		t.Fatalf("DELETE: got %d %q, want 200 and the ban", status, body)
	}
	f.a.learns(t, "the ban is lifted by the late one", 200, time.Now())
	later := f.join(t, calmly, banning)
	watched(t, f.redis, 4)
	later.expectFrom(t, personal, fleetHost, "/page", rogueBot, 200, "")
}

func TestACaddyThatWasAwayKnowsThatABanWasLifted(t *testing.T) {
	f := startFleet(t, calmly, banning)
	f.a.disobey(t, offences)
	f.b.learns(t, "a ban is known to the other Caddy", 403, time.Now())
	f.a.end(t, syscall.SIGTERM)
	if status, body := f.b.unban(t, "robot=roguebot"); status != http.StatusOK || !strings.Contains(body, `"robot":"roguebot"`) {
		t.Fatalf("DELETE: got %d %q, want 200 and the ban", status, body)
	}
	f.a.run(t)
	f.a.learns(t, "the ban was lifted while a Caddy was away", 200, time.Now())
}

func TestBansHoldWhileRedisIsLostAndAfterItHasForgottenThem(t *testing.T) {
	f := startFleet(t, calmly, banning)
	f.a.disobey(t, offences)
	f.b.learns(t, "a ban is known to the other Caddy", 403, time.Now())
	f.server.Kill()
	for _, node := range f.both() {
		node.waitSaid(t, msgAlone, 1)
		node.expectFrom(t, personal, fleetHost, "/page", rogueBot, 403, "")
		node.expect(t, fleetHost, "/page", chrome, 200)
	}
	f.server.Restart(t)
	for _, node := range f.both() {
		node.waitSaid(t, msgSharedAgain, 1)
	}
	watched(t, f.redis, 2)
	for _, node := range f.both() {
		node.expectFrom(t, personal, fleetHost, "/page", rogueBot, 403, "")
	}
}

func TestLiftingABanWithoutRedisSaysWhereItHoldsStill(t *testing.T) {
	f := startFleet(t, calmly, banning)
	f.a.disobey(t, offences)
	f.b.learns(t, "a ban is known to the other Caddy", 403, time.Now())
	f.server.Kill()
	for _, node := range f.both() {
		node.waitSaid(t, msgAlone, 1)
	}
	if status, body := f.b.unban(t, "robot=roguebot"); status != http.StatusBadGateway || !strings.Contains(body, "on this node only") {
		t.Errorf("DELETE: got %d %q, want 502 and that it is lifted on this node only", status, body)
	}
	f.b.expectFrom(t, personal, fleetHost, "/page", rogueBot, 200, "")
	f.a.expectFrom(t, personal, fleetHost, "/page", rogueBot, 403, "")
}

func TestLiftingABanDoesNotWaitForARedisThatHangs(t *testing.T) {
	f := startFleet(t, calmly, banning)
	f.a.disobey(t, offences)
	f.server.Pause()
	begun := time.Now()
	status, body := f.a.unban(t, "robot=roguebot")
	took := time.Since(begun)
	if status != http.StatusBadGateway || !strings.Contains(body, "on this node only") {
		t.Errorf("DELETE: got %d %q, want 502 and that it is lifted on this node only", status, body)
	}
	if want := 5*time.Second + noise; took > want {
		t.Errorf("DELETE: got an answer after %s, want one within %s", took, want)
	}
	t.Logf("DELETE while Redis hangs: %s", took)
	for _, command := range []string{"status", "sites", "bans", "observe on", "observe off"} {
		if got := runCommand(t, t.TempDir(), nil, append(strings.Fields(command), "--address", f.a.env["ADMIN"])...); got.status == 2 || got.took > 3*noise {
			t.Errorf("%s while Redis hangs: got status %d after %s, want an answer at once: %s", command, got.status, got.took, got.err)
		}
	}
	f.a.expectFrom(t, personal, fleetHost, "/page", rogueBot, 200, "")
}

func TestOnlyWhatHasAPaceAsksRedis(t *testing.T) {
	f := startFleet(t, calmly, banning)
	before := judgements(t, f.redis)
	for range 50 {
		for _, node := range f.both() {
			node.expect(t, fleetHost, "/page", chrome, 200)
			node.expect(t, fleetHost, "/private/", chrome, 200)
			node.expectFrom(t, personal, fleetHost, "/page", rogueBot, 200, "")
			node.expect(t, fleetHost, "/robots.txt", tenthBot, 200)
		}
	}
	if got := judgements(t, f.redis) - before; got != 0 {
		t.Errorf("judgements by Redis for 100 requests each of a browser, a robot without a pace, and for robots.txt: got %d, want 0", got)
	}
	f.a.expectAlone(t, hourBotNumber(1))
	f.b.expect(t, fleetHost, "/page", hourBotNumber(1), 429)
	if got := judgements(t, f.redis) - before; got != 3 {
		t.Errorf("judgements by Redis for 3 requests that have to keep a pace: got %d, want 3", got)
	}
}
