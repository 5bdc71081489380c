//go:build soak

package integration

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync/atomic"
	"time"
)

const (
	soakDelay = 500 * time.Millisecond // of hammerBot and steadyBot
	waitDelay = 300 * time.Millisecond // of the robot that is held

	// banTime is how long a ban of the soak is, after banAfter requests.
	banTime  = 2 * time.Second
	banAfter = 5
)

// paced is a robot that comes as fast as it can. What it may get is counted in time.
type paced struct {
	host, agent string
	delay       time.Duration
	tolerance   float64 // above the pace
	held        bool    // it is not refused but held

	served atomic.Int64
	active time.Duration // for how long it came
}

func soakPaced() []*paced {
	return []*paced{
		{host: paceHost, agent: hammerBot, delay: soakDelay, tolerance: 0.02},
		// Who is held may be let in a fifth too early.
		{host: waitHost, agent: "WaitBot/1.0", delay: waitDelay, tolerance: 0.25, held: true},
	}
}

// hammer is one of the clients of p.
func (s *soak) hammer(p *paced, stop <-chan struct{}) {
	web := browser(true)
	defer web.CloseIdleConnections()
	for goesOn(stop) {
		a, from, to, err := s.ask(s.pacers, web, request{host: p.host, path: "/page", agent: p.agent})
		switch {
		case err != nil:
		case a.status == http.StatusOK:
			p.served.Add(1)
			if to.Sub(from) > p.delay/2 && p.held {
				s.did("requests held")
			}
		case a.status == http.StatusTooManyRequests && (!p.held || s.reloading(from, to)):
			if retryAfter(a) <= 0 {
				s.wrong("%s for %q: got 429 without a time to come back", p.host, p.agent)
			}
		default:
			s.wrong("%s for %q after %s: got %d %q", p.host, p.agent, to.Sub(from), a.status, tail(a.body, 200))
		}
		if !p.held {
			time.Sleep(10 * time.Millisecond)
		}
	}
}

// expectPace fails the test unless p got what its pace permits, and no less than half of it.
// Each time that Redis is lost or comes back, and each time that the load begins anew, may
// bring a document more.
func (s *soak) expectPace(p *paced, more int64) {
	paces := float64(p.active) / float64(p.delay)
	served, most := p.served.Load(), int64(paces*(1+p.tolerance))+more
	s.t.Logf("%s at %s: %d documents in %s, %.3f of its pace", p.agent, p.host, served, p.active.Round(time.Second), float64(served)/paces)
	if served > most || float64(served) < paces/2 {
		s.t.Errorf("%s at %s: got %d documents in %s, want %d to %d", p.agent, p.host, served, p.active, int64(paces/2), most)
	}
}

// keepPace is a robot that leaves its delay between an answer and the next request, give or
// take what it may: it is never refused.
func (s *soak) keepPace(host string, stop <-chan struct{}) {
	web := browser(true)
	defer web.CloseIdleConnections()
	for goesOn(stop) {
		a, err := request{host: host, path: "/page", agent: steadyBot}.try(web, "http://"+s.c.address())
		if err != nil {
			s.pacers.lost.Add(1) // it may have been served
		} else {
			s.pacers.count(a.status)
			s.checked("robots that keep their pace", true)
			if a.status != http.StatusOK {
				s.wrong("%s for %q, which keeps its pace: got %d %q", host, steadyBot, a.status, tail(a.body, 200))
			}
		}
		time.Sleep(soakDelay*85/100 + rand.N(soakDelay*35/100))
	}
}

// comeTwice are robots that come at once again: the second time is too fast.
func (s *soak) comeTwice(host string, stop <-chan struct{}) {
	web := browser(true)
	defer web.CloseIdleConnections()
	for goesOn(stop) {
		q := request{host: host, path: "/page", agent: fmt.Sprintf("HourBot%d/1.0", s.invented.Add(1))}
		begun := time.Now()
		for _, want := range []int{http.StatusOK, http.StatusTooManyRequests} {
			a, err := q.try(web, "http://"+s.c.address())
			if err != nil {
				s.pacers.lost.Add(1)
				break
			}
			s.pacers.count(a.status)
			strict := s.calm(begun)
			if a.status != want && (strict || a.status != http.StatusOK) {
				s.wrong("%s for %q: got %d, want %d", host, q.agent, a.status, want)
			}
			s.checked("robots that come twice at "+host, strict)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// disobey are robots that break the rules until they are banned, and come again after.
func (s *soak) disobey(host string, stop <-chan struct{}) {
	web := browser(true)
	defer web.CloseIdleConnections()
	for goesOn(stop) {
		n := s.invented.Add(1)
		rogue := request{host: host, path: "/page", agent: "RogueBot/1.0"}.from(fmt.Sprintf("2001:db8:1::%x:%x", n>>16, n&0xffff))
		private, rules, reader := rogue, rogue, rogue
		private.path, rules.path, reader.agent = "/private/", "/robots.txt", chrome
		other := rogue.from(fmt.Sprintf("2001:db8:2::%x:%x", n>>16, n&0xffff))

		begun := time.Now()
		always := func() bool { return true }
		whileBanned := func() bool { return s.calm(begun) && time.Since(begun) < banTime }
		s.expect(web, rogue, http.StatusOK, always)
		for range banAfter {
			s.expect(web, private, http.StatusForbidden, always)
		}
		if s.expect(web, rogue, http.StatusForbidden, whileBanned) {
			s.did("bans")
		}
		for _, q := range []request{rules, reader, other} {
			s.expect(web, q, http.StatusOK, always)
		}
		time.Sleep(banTime + 100*time.Millisecond) // for what a clock in milliseconds rounds
		s.expect(web, rogue, http.StatusOK, always)
	}
}

// expect sends a request and compares the status, which has to be as wanted if that can be
// told once the answer is there. It tells whether it was compared, and as wanted.
func (s *soak) expect(web *http.Client, q request, want int, told func() bool) bool {
	a, _, _, err := s.ask(s.pacers, web, q)
	if err != nil {
		return false
	}
	strict := told()
	s.checked("robots that are banned at "+q.host, strict)
	if strict && a.status != want {
		s.wrong("%s%s for %q from %s: got %d %q, want %d", q.host, q.path, q.agent, q.header.Get("X-Forwarded-For"), a.status, tail(a.body, 200), want)
	}
	return strict && a.status == want
}
