package caddymodule

import (
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-robots/caddy-robots/internal/ratelimit"
)

const (
	// maxHeld and maxHeldPerRobot bound the requests that are held at a time: each takes a
	// connection and some memory, and a robot that opens hundreds must not take them all.
	maxHeld         = 1024
	maxHeldPerRobot = 16

	// maxMaxWait is the longest that a request may be held.
	maxMaxWait = 5 * time.Minute
)

// readMaxWait reads how long a request may be held.
func readMaxWait(d caddy.Duration) (time.Duration, error) {
	if within := time.Duration(d); within >= 0 && within <= maxMaxWait {
		return within, nil
	}
	return 0, fmt.Errorf("too_fast wait: %s: write a duration up to %s", time.Duration(d), maxMaxWait)
}

// waiting is where requests are that came too early and are held until their time, in one
// line for each budget. It outlives a config reload and is safe for concurrent use.
type waiting struct {
	mu    sync.Mutex // guards the fields below
	lines map[ratelimit.Key]*line
	held  int
}

// line is the requests held for one budget, in the order in which they came.
type line struct {
	held int
	last time.Time // when the last of them falls due
}

func newWaiting() *waiting { return &waiting{lines: make(map[ratelimit.Key]*line)} }

// isLine tells whether requests are held for this budget. Who comes now is behind them.
func (w *waiting) isLine(k ratelimit.Key) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.lines[k] != nil
}

// join returns when a request falls due that comes now: at first, or one interval after the
// last that is held. It reports false if that is later than within, or there is no room;
// else leave must follow.
func (w *waiting) join(k ratelimit.Key, now, first time.Time, interval, within time.Duration) (due time.Time, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	due = first
	l := w.lines[k]
	if l != nil {
		if next := l.last.Add(interval); next.After(due) {
			due = next
		}
	}
	if due.Sub(now) > within || w.held >= maxHeld || l != nil && l.held >= maxHeldPerRobot {
		return due, false
	}
	if l == nil {
		l = new(line)
		w.lines[k] = l
	}
	l.last = due
	l.held++
	w.held++
	return due, true
}

// leave ends what join began. The last in line gives its place back if it was not served.
func (w *waiting) leave(k ratelimit.Key, due time.Time, interval time.Duration, served bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	l := w.lines[k]
	if !served && l.last.Equal(due) {
		l.last = due.Add(-interval)
	}
	w.held--
	if l.held--; l.held == 0 {
		delete(w.lines, k)
	}
}

// len returns how many requests are held.
func (w *waiting) len() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.held
}

// mayBeHeld tells whether the end of r's client would be noticed while it is held: that of
// one with a body is not before the body is read.
func mayBeHeld(r *http.Request) bool { return r.ContentLength == 0 }

// hold has the pace judged of a request that may be held: if it comes too early, it waits
// for its time, behind those of its robot that wait already. It is let go, and refused, if
// its client leaves or Caddy reloads or stops; that alone is no offence.
func (h *Handler) hold(r *http.Request, q ratelimit.Request) (result ratelimit.Result, offence bool) {
	room, now := h.shared.waiting, h.now()
	first := now
	if !room.isLine(q.Key) {
		if result, _ = h.limiter.Take(r.Context(), q, now); result.Allowed() {
			return result, false
		}
		first = now.Add(result.RetryAfter)
	}
	interval, latest := q.Limit.Interval, now.Add(h.settings.maxWait)
	due, ok := room.join(q.Key, now, first, interval, h.settings.maxWait)
	if !ok {
		return ratelimit.Result{RetryAfter: max(due.Sub(now), 1)}, true
	}
	defer func() { room.leave(q.Key, due, interval, result.Allowed()) }()
	for at := due; ; {
		if !h.waitUntil(r, at) {
			return ratelimit.Result{RetryAfter: max(at.Sub(h.now()), 1)}, false
		}
		now = h.now()
		if result, _ = h.limiter.Take(r.Context(), q, now); result.Allowed() {
			return result, false
		}
		// Somebody else was faster: another member of the fleet, or a clock stepped.
		if at = now.Add(result.RetryAfter); at.After(latest) {
			return result, true
		}
	}
}

// waitUntil waits, and reports false if the request is not to wait any longer.
func (h *Handler) waitUntil(r *http.Request, due time.Time) bool {
	timer := time.NewTimer(due.Sub(h.now()))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-r.Context().Done():
	case <-h.closing:
	}
	return false
}
