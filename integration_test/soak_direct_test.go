//go:build soak

package integration

import (
	"math"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// direct reloads every second, with a longer pause now and then for what a config does by
// itself, and kills and starts Redis.
func (s *soak) direct(end time.Time) {
	s.t.Helper()
	up, changed := true, time.Now()
	for second := 0; time.Now().Before(end) && s.c.alive(); second++ {
		next := time.Now().Add(time.Second)
		switch {
		case second%40 >= 32:
		case rand.IntN(6) == 0:
			s.reloadBroken(s.config.Load() + 1)
		default:
			s.reload(s.config.Load() + 1)
		}
		if up && time.Since(changed) > redisUp {
			s.redisAt.Store(math.MaxInt64)
			s.redis.Kill()
			s.did("Redis killed")
			s.redisAt.Store(time.Now().Add(time.Second).UnixNano())
			up, changed = false, time.Now()
		} else if !up && time.Since(changed) > redisDown {
			s.redisStarts()
			up, changed = true, time.Now()
		}
		time.Sleep(time.Until(next))
	}
}

// redisStarts starts Redis, with nothing in it.
func (s *soak) redisStarts() {
	s.t.Helper()
	s.redisAt.Store(math.MaxInt64)
	s.redis.Restart(s.t)
	s.did("Redis started")
	s.redisAt.Store(time.Now().Add(redisSettles).UnixNano())
}

// calm reports whether paces and bans are counted in one place, Redis or this Caddy, and were
// since a moment.
func (s *soak) calm(since time.Time) bool { return since.UnixNano() > s.redisAt.Load() }

// reload puts config n in force.
func (s *soak) reload(n int64) {
	s.t.Helper()
	s.text.change(configCreed(n), func() {
		s.mu.Lock()
		s.reloads = append(s.reloads[max(0, len(s.reloads)-100):], span{from: time.Now()})
		last := &s.reloads[len(s.reloads)-1]
		s.mu.Unlock()
		status, body, err := s.c.loadWhole(config(n))
		s.mu.Lock()
		last.to = time.Now()
		s.mu.Unlock()
		if err != nil || status != http.StatusOK {
			s.wrong("reload of config %d: got status %d, error %v: %s", n, status, err, tail(body, 500))
		}
	})
	s.config.Store(n)
	s.did("reloads")
}

// reloadBroken offers a config that is refused, and changes nothing.
func (s *soak) reloadBroken(n int64) {
	s.t.Helper()
	text, mention := brokenConfig(n)
	status, body, err := s.c.loadWhole(text)
	if err != nil || status == http.StatusOK || !strings.Contains(body, mention) {
		s.wrong("reload of a config that is wrong: got status %d, error %v: %s, want a refusal that mentions %q", status, err, tail(body, 500), mention)
	}
	s.did("reloads refused")
}

// reloading tells whether there was a reload between two moments, or a little before.
func (s *soak) reloading(from, to time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.reloads {
		if r.from.Before(to) && (r.to.IsZero() || r.to.Add(noise).After(from)) {
			return true
		}
	}
	return false
}

// configInForce returns the text of the config that says that it made the answer, if that may
// have been in force.
func (s *soak) configInForce(a answer, from, to time.Time) []*creed {
	n, err := strconv.ParseInt(a.header.Get("X-Config"), 10, 64)
	if err != nil {
		return nil
	}
	text := configCreed(n).text
	return slices.DeleteFunc(s.text.inForce(from, to), func(c *creed) bool { return c.text != text })
}
