package integration

import (
	"net/http"
	"slices"
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
	f := startFleet(t, calmly, "too_fast wait 30s")
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

// visit is one request of a hammer.
type visit struct {
	node         *caddy
	agent        string
	begun, ended time.Time
	status       int
	err          error
}

// hammer is visitors that ask without a pause.
type hammer struct {
	ask    ask
	stop   chan struct{}
	done   sync.WaitGroup
	mu     sync.Mutex
	visits []visit // in the order of their answers; guarded by mu until end
}

// ask sends one request and returns the answer: once, or persistent.
type ask func(visitor *http.Client, q request, base string) (answer, error)

func once(visitor *http.Client, q request, base string) (answer, error) { return q.try(visitor, base) }

// hammer has so many clients of each visitor ask each Caddy without a pause, until end.
func (f *fleet) hammer(how ask, clients int, agents ...string) *hammer {
	h := &hammer{ask: how, stop: make(chan struct{})}
	for range clients {
		for _, agent := range agents {
			h.join(f.a, agent)
			h.join(f.b, agent)
		}
	}
	return h
}

// join adds a client of one Caddy.
func (h *hammer) join(node *caddy, agent string) {
	visitor := &http.Client{Timeout: patience, Transport: new(http.Transport)}
	h.done.Go(func() {
		defer visitor.CloseIdleConnections()
		for {
			select {
			case <-h.stop:
				return
			default:
			}
			v := visit{node: node, agent: agent, begun: time.Now()}
			var a answer
			a, v.err = h.ask(visitor, request{host: fleetHost, path: "/page", agent: agent}, "http://"+node.address())
			v.status, v.ended = a.status, time.Now()
			h.mu.Lock()
			h.visits = append(h.visits, v)
			h.mu.Unlock()
		}
	})
}

// end stops the visitors. It fails the test for requests without an answer, or with one
// other than that it was too fast for a robot.
func (h *hammer) end(t *testing.T) {
	t.Helper()
	close(h.stop)
	h.done.Wait()
	wrong := 0
	for _, v := range h.visits {
		if v.err == nil && (v.status == 200 || v.status == 429 && v.agent != chrome) {
			continue
		}
		if wrong++; wrong <= 10 {
			t.Errorf("%.20q at %s: got %d, error %v", v.agent, v.begun.Format(time.StampMicro), v.status, v.err)
		}
	}
	t.Logf("%d requests, %d of them with a wrong answer or none", len(h.visits), wrong)
}

// watch is what a robot got between two times.
type watch struct {
	served []time.Time

	// late is by how much, in all, the robot may have missed the moments at which it
	// would have been served: it was refused that long before it was served.
	late time.Duration
}

// watch returns what a robot got at some Caddys between two times.
func (h *hammer) watch(agent string, from, to time.Time, nodes ...*caddy) (w watch) {
	var before time.Time
	visits := slices.Clone(h.visits)
	slices.SortFunc(visits, func(v, w visit) int { return v.begun.Compare(w.begun) })
	for _, v := range visits {
		if v.agent != agent || v.begun.Before(from) || v.ended.After(to) || !slices.Contains(nodes, v.node) {
			continue
		}
		if v.status == http.StatusOK {
			if len(w.served) > 0 {
				w.late += v.ended.Sub(before)
			}
			w.served = append(w.served, v.ended)
		}
		before = v.begun
	}
	slices.SortFunc(w.served, time.Time.Compare)
	return w
}

// expectPace fails the test unless documents were served at a pace, give or take a share of
// it. The first burst of them came at once.
func (w watch) expectPace(t *testing.T, what string, interval time.Duration, burst int, tolerance float64) {
	t.Helper()
	n := len(w.served) - burst
	if n < 10 {
		t.Errorf("%s: got %d documents after %d, too few to tell the pace", what, n, burst)
		return
	}
	elapsed := w.served[len(w.served)-1].Sub(w.served[burst-1])
	paced := time.Duration(n) * interval
	ratio := float64(paced) / float64(elapsed)
	t.Logf("%s: %d documents in %.3fs after the first %d, %.4f of the pace; the robot was late by %.3fs at the most",
		what, n, elapsed.Seconds(), burst, ratio, w.late.Seconds())
	if ratio > 1+tolerance {
		t.Errorf("%s: got %.4f of the pace, want at most %.4f", what, ratio, 1+tolerance)
	}
	if ratio := float64(paced+w.late) / float64(elapsed); ratio < 1-tolerance {
		t.Errorf("%s: got %.4f of the pace with what the robot was late, want at least %.4f", what, ratio, 1-tolerance)
	}
}

// durations returns how long requests took that were under way between two times, the
// shortest first.
func (h *hammer) durations(from, to time.Time) []time.Duration {
	var all []time.Duration
	for _, v := range h.visits {
		if v.ended.After(from) && v.begun.Before(to) {
			all = append(all, v.ended.Sub(v.begun))
		}
	}
	slices.Sort(all)
	return all
}
