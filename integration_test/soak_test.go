//go:build soak

package integration

import (
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/internal/ratelimit/redis/redistest"
	"github.com/caddy-robots/caddy-robots/internal/testutil"
)

// soakTime is how long the soak is, if ROBOTS_SOAK does not say otherwise. Less than two
// minutes are not enough for every trouble.
const soakTime = 30 * time.Minute

const (
	// The rules of a file that changed are in force within a second, and those of an
	// upstream once it has answered, for which it has five.
	fileWindow = 1*time.Second + slack
	urlWindow  = 1*time.Second + 5*time.Second + slack

	// Redis is up and down for so long. It is known to be up, once it is, for sure after
	// sharedAgain, and to be down with the first request.
	redisUp      = 18 * time.Second
	redisDown    = 7 * time.Second
	redisSettles = sharedAgain + 2*time.Second
)

// soak is a Caddy under full load and all the trouble that there is.
type soak struct {
	*notes
	c        *caddy
	rules    string // the file of fileHost
	upstream *faulty
	redis    *redistest.Server

	file, text, url  *history
	verified, others *creed
	sites            map[string]changing
	paced            []*paced

	walkers, floods, pacers *audience
	invented                atomic.Int64 // names and addresses that were made up

	config  atomic.Int64 // in force
	redisAt atomic.Int64 // since when Redis has settled, in Unix nanoseconds

	faults int // of the upstream, so far

	mu      sync.Mutex // guards reloads
	reloads []span     // the last ones
}

// span is the time between two moments.
type span struct{ from, to time.Time }

func (s *soak) audiences() []*audience { return []*audience{s.walkers, s.floods, s.pacers} }

func TestSoak(t *testing.T) {
	length := soakTime
	if text := os.Getenv("ROBOTS_SOAK"); text != "" {
		var err error
		if length, err = time.ParseDuration(text); err != nil {
			t.Fatalf("ROBOTS_SOAK: %v; write a duration such as 30m", err)
		}
	}
	s := startSoak(t)
	s.run(length / 5)
	begin := s.c.settled(t, "start", nil)
	s.run(length * 2 / 5)
	middle := s.c.settled(t, "middle", &begin)
	s.run(length * 2 / 5)
	end := s.c.settled(t, "end", &begin)

	s.c.expectNoLeak(t, begin, middle, end)
	// A store that is lost, and one that comes back empty, may each bring a document.
	more := 3 + s.times("Redis killed") + s.times("Redis started") + 2*int64(len(s.c.said(msgAlone)))
	for _, p := range s.paced {
		s.expectPace(p, more)
	}
	s.expectFewLost(s.floods, floods*floodBatch)
	s.expectFewLost(s.pacers, 4)
	s.expectTroubles()
	t.Logf("%s of soak, race detector: %t\n%s", length, testutil.Race, s.table([]gauge{begin, middle, end}))
}

// startSoak runs what the soak needs, until the test ends.
func startSoak(t *testing.T) *soak {
	t.Helper()
	s := &soak{
		notes: newNotes(t), rules: filepath.Join(t.TempDir(), "robots.txt"), upstream: newFaulty(t), redis: redistest.Start(t),
		file: &history{window: fileWindow}, text: new(history), url: &history{window: urlWindow},
		verified: creedOf(soakVerify), others: creedOf(soakOthers), paced: soakPaced(),
		walkers: &audience{name: "walkers"}, floods: &audience{name: "made-up"}, pacers: &audience{name: "paced"},
	}
	s.sites = map[string]changing{
		fileHost: {fileHost, func(_ answer, from, to time.Time) []*creed { return s.file.inForce(from, to) }},
		urlHost:  {urlHost, func(_ answer, from, to time.Time) []*creed { return s.url.inForce(from, to) }},
		textHost: {textHost, s.configInForce},
	}
	first := creedOf(keepOut)
	s.text.change(configCreed(0), func() {})
	s.file.change(first, func() { write(t, s.rules, keepOut) })
	s.url.change(first, func() { s.serve(plain(keepOut)) })
	dns := testutil.StartDNS(t, googleZone())
	s.c = startWith(t, config(0), map[string]string{
		"RULES": s.rules, "UPSTREAM": s.upstream.URL, "DNS": dns.Address, "REDIS_URL": s.redis.URL(),
	})
	s.c.settle(t, verifyHost, realAddress, "verified")
	s.c.settle(t, verifyHost, fakeAddress, "impostor")
	return s
}

// serve has the upstream be in a state.
func (s *soak) serve(state http.HandlerFunc) { s.upstream.set("127.0.0.1", state) }

// run is one phase: it begins the load and the trouble, and ends when they are over.
func (s *soak) run(length time.Duration) {
	s.t.Helper()
	begun, stop := time.Now(), make(chan struct{})
	var load sync.WaitGroup
	for i := range uint64(3) {
		load.Go(func() { s.walk(i, i > 0, stop) })
	}
	for _, p := range s.paced {
		for range 3 {
			load.Go(func() { s.hammer(p, stop) })
		}
	}
	load.Go(func() { s.keepPace(paceHost, stop) })
	load.Go(func() { s.comeTwice(paceHost, stop) })
	load.Go(func() { s.disobey(banHost, stop) })
	for range floods {
		load.Go(func() { s.flood(stop) })
	}
	load.Go(func() { s.watchReport(stop) })
	load.Go(func() { s.rewrite(stop) })
	load.Go(func() { s.fail(stop) })
	s.direct(begun.Add(length))

	close(stop)
	for _, p := range s.paced {
		p.active += time.Since(begun)
	}
	load.Wait()
	s.redisStarts() // and everything else is as it was when the phase began
	s.reload(s.config.Load()/2*2 + 2)
}

// expectTroubles fails the test for a trouble that did not happen: then it shows nothing.
func (s *soak) expectTroubles() {
	s.t.Helper()
	for _, status := range []int{200, 403, 429} {
		if s.answered(status) == 0 {
			s.t.Errorf("no answer was %d", status)
		}
	}
	for _, what := range []string{
		"reloads", "reloads refused", "Redis killed", "Redis started", "bans", "requests held", "looks at the report",
		"file replaced", "file half written", "file truncated", "file removed", "verified robots", "impostor robots",
		"upstream: 500", "upstream: reset", "upstream: cut short", "upstream: hanging", "upstream: redirected in a circle",
		"upstream: 404", "upstream: empty", "upstream: a web page", "upstream: garbage",
	} {
		if s.times(what) == 0 {
			s.t.Errorf("it did not happen: %s", what)
		}
	}
	for _, what := range []string{
		fileHost, textHost, urlHost, verifyHost, "hosts that are made up", "robots that keep their pace",
		"robots that come twice at " + paceHost, "robots that are banned at " + banHost,
	} {
		if c := s.checks[what]; c == nil || c.exact == 0 {
			s.t.Errorf("the twin had nothing to say of %s", what)
		}
	}
}
