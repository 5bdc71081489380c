package integration

import (
	"context"
	"net/http"
	"net/http/httptrace"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// patientSite holds requests for longer than any test takes. It has no grace_period: a
// Caddy that reloads or stops waits for every request that is under way.
const patientSite = `{
	admin {$ADMIN}
	auto_https disable_redirects
	skip_install_trust
	metrics
}
https://secure.test:{$PORT} {
	tls internal
	robots {
		too_fast wait 5m
	}
	respond /robots.txt <<ROBOTS
		User-agent: HalfBot
		Crawl-delay: 0.5

		User-agent: ThreeBot
		Crawl-delay: 3

		User-agent: TenBot
		Crawl-delay: 10
		ROBOTS
	respond "page of config 1"
}
`

const (
	heldOfOne = 16              // requests of one robot are held at a time
	slack     = 2 * time.Second // by which a busy machine may be late
)

// guest is a client of a patient site, by one version of HTTP.
type guest struct {
	*caddy
	client *http.Client
	base   string
}

// overHTTP1And2 runs a test with a patient site and a guest for each version of HTTP.
func overHTTP1And2(t *testing.T, test func(t *testing.T, g guest)) {
	t.Parallel()
	for _, version := range []struct {
		name  string
		http2 bool
	}{{"HTTP/1.1", false}, {"HTTP/2", true}} {
		t.Run(version.name, func(t *testing.T) {
			t.Parallel()
			c := startWith(t, patientSite, nil)
			c.awaitTLS(t)
			g := guest{c, secureClient(t, c, version.http2), "https://secure.test:" + c.env["PORT"]}
			g.expectNow(t, "/page", chrome, 200) // one connection is open
			test(t, g)
		})
	}
}

// expectNow sends a GET and compares the status. It returns the answer and how long it took.
func (g guest) expectNow(t *testing.T, path, agent string, want int) (answer, time.Duration) {
	t.Helper()
	began := time.Now()
	a, err := request{path: path, agent: agent}.try(g.client, g.base)
	took := time.Since(began)
	if err != nil || a.status != want {
		t.Fatalf("GET %s for %q: got %d, error %v, want %d: %q", path, agent, a.status, err, want, a.body)
	}
	if took > slack {
		t.Errorf("GET %s for %q: took %s", path, agent, took)
	}
	return a, took
}

// pending is a request that was sent and not waited for.
type pending struct {
	leave    context.CancelFunc // ends it from the client's side
	answered chan struct{}      // closed when the fields below are set
	answer   answer
	err      error
	at       time.Time
}

func (g guest) send(t *testing.T, agent string) *pending {
	ctx, leave := context.WithCancel(t.Context())
	p := &pending{leave: leave, answered: make(chan struct{})}
	go func() {
		defer close(p.answered)
		p.answer, p.err = request{path: "/page", agent: agent}.tryUntil(ctx, g.client, g.base)
		p.at = time.Now()
	}()
	return p
}

// expect waits for the answer and compares the status.
func (p *pending) expect(t *testing.T, want int) {
	t.Helper()
	<-p.answered // every client has a timeout
	if p.err != nil || p.answer.status != want {
		t.Errorf("got %d, error %v, want %d: %q", p.answer.status, p.err, want, p.answer.body)
	}
}

// expectBetween is expect with bounds on when the answer comes.
func (p *pending) expectBetween(t *testing.T, want int, earliest, latest time.Time) {
	t.Helper()
	p.expect(t, want)
	if p.at.Before(earliest) || p.at.After(latest) {
		t.Errorf("answer: got one %s after the earliest time for it, want 0s to %s", p.at.Sub(earliest), latest.Sub(earliest))
	}
}

// inFlight matches what Caddy's metrics say of requests to a site that are under way.
var inFlight = regexp.MustCompile(`(?m)^caddy_http_requests_in_flight\{handler="subroute",.*\} (\d+)$`)

// awaitHeld waits until so many requests are held, while there are no others.
func (g guest) awaitHeld(t *testing.T, want int) {
	t.Helper()
	eventually(t, strconv.Itoa(want)+" requests are held", func() bool {
		m := inFlight.FindStringSubmatch(g.adminGet(t, "/metrics"))
		return m != nil && m[1] == strconv.Itoa(want)
	})
}

// fill sends as many requests of TenBot as are held, and a few more, and returns those that
// are held and those that are refused.
func (g guest) fill(t *testing.T) (held, refused []*pending) {
	t.Helper()
	const tooMany = 3
	g.expectNow(t, "/page", "TenBot/1.0", 200)
	var all []*pending
	for range heldOfOne + tooMany {
		all = append(all, g.send(t, "TenBot/1.0"))
	}
	eventually(t, "those that are too many are refused", func() bool {
		held, refused = nil, nil
		for _, p := range all {
			select {
			case <-p.answered:
				refused = append(refused, p)
			default:
				held = append(held, p)
			}
		}
		return len(refused) >= tooMany
	})
	g.awaitHeld(t, heldOfOne)
	return held, refused
}

func TestWhatComesAtOnceIsServedOneAfterTheOther(t *testing.T) {
	overHTTP1And2(t, func(t *testing.T, g guest) {
		const delay = 500 * time.Millisecond
		began := time.Now()
		var all []*pending
		for range 8 {
			all = append(all, g.send(t, "HalfBot/1.0"))
		}
		for _, p := range all {
			p.expect(t, 200)
		}
		slices.SortFunc(all, func(a, b *pending) int { return a.at.Compare(b.at) })
		var latest time.Duration
		for n, p := range all {
			due := began.Add(time.Duration(n) * delay)
			p.expectBetween(t, 200, due, due.Add(slack))
			latest = max(latest, p.at.Sub(due))
		}
		t.Logf("%d requests at one in %s: the latest was answered %s after its time", len(all), delay, latest)
	})
}

func TestAConnectionOutlivesAHeldRequest(t *testing.T) {
	overHTTP1And2(t, func(t *testing.T, g guest) {
		fresh := 0
		ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{GotConn: func(conn httptrace.GotConnInfo) {
			if !conn.Reused {
				fresh++
			}
		}})
		const requests, delay = 4, 500 * time.Millisecond
		began := time.Now()
		for range requests {
			a, err := request{path: "/page", agent: "HalfBot/1.0"}.tryUntil(ctx, g.client, g.base)
			if err != nil || a.status != 200 {
				t.Fatalf("got %d, error %v, want 200", a.status, err)
			}
		}
		if took, least := time.Since(began), (requests-1)*delay; took < least {
			t.Errorf("%d requests one after the other: took %s, want at least %s", requests, took, least)
		}
		if fresh != 0 {
			t.Errorf("connections made: got %d, want none besides the one that there was", fresh)
		}
	})
}

func TestNobodyElseWaitsWhileARobotIsHeld(t *testing.T) {
	overHTTP1And2(t, func(t *testing.T, g guest) {
		g.fill(t)
		var slowest time.Duration
		for range 25 {
			for _, visit := range []struct{ path, agent string }{
				{"/page", chrome}, {"/page", bingbot}, {"/robots.txt", "TenBot/1.0"},
			} {
				_, took := g.expectNow(t, visit.path, visit.agent, 200)
				slowest = max(slowest, took)
			}
		}
		g.expectNow(t, "/page", "ThreeBot/1.0", 200)
		t.Logf("the slowest answer to another one while %d are held: %s", heldOfOne, slowest)
	})
}

func TestSixteenOfARobotAreHeldAtATime(t *testing.T) {
	overHTTP1And2(t, func(t *testing.T, g guest) {
		_, refused := g.fill(t)
		for _, p := range refused {
			p.expect(t, 429)
			// Its turn would come after all of those that are held.
			if got := p.answer.retryAfter(t, (heldOfOne+1)*10); got <= heldOfOne*10-10 {
				t.Errorf("Retry-After: got %d, want about %d", got, (heldOfOne+1)*10)
			}
		}
		g.expectNow(t, "/page", "ThreeBot/1.0", 200)
		p := g.send(t, "ThreeBot/1.0")
		g.awaitHeld(t, heldOfOne+1)
		p.expect(t, 200)
	})
}

func TestAClientThatLeavesFreesItsPlace(t *testing.T) {
	overHTTP1And2(t, func(t *testing.T, g guest) {
		const delay = 3 * time.Second
		began := time.Now()
		g.expectNow(t, "/page", "ThreeBot/1.0", 200)
		first := g.send(t, "ThreeBot/1.0")
		g.awaitHeld(t, 1)
		second := g.send(t, "ThreeBot/1.0")
		g.awaitHeld(t, 2)
		second.leave()
		g.awaitHeld(t, 1)
		third := g.send(t, "ThreeBot/1.0")
		first.expectBetween(t, 200, began.Add(delay), began.Add(delay+slack))
		third.expectBetween(t, 200, began.Add(2*delay), began.Add(2*delay+slack))
	})
}

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
