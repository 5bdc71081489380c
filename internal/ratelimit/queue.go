package ratelimit

import (
	"context"
	"sync"
	"time"
)

const (
	// maxHeld and maxHeldPerRobot bound the requests that are held at a time: each takes a
	// connection and some memory, and a robot that opens hundreds must not take them all.
	maxHeld         = 1024
	maxHeldPerRobot = 16

	// MaxWait is the longest that a request may be held.
	MaxWait = 5 * time.Minute
)

// Queue is where requests are that came too early and are held until their time, in one line for
// each budget. NewQueue makes one. It is safe for concurrent use.
type Queue struct {
	mu    sync.Mutex // guards the fields below
	lines map[Key]*line
	held  int
}

// lineKey is the budget whose line a request stands in: that of its group, where it has one, since
// there are as many others as somebody makes up names.
func lineKey(r *Request) Key {
	if r.Group != (Key{}) {
		return r.Group
	}
	return r.Key
}

// line is the requests held for one budget, in the order in which they came.
type line struct {
	held int
	last time.Time // when the last of them falls due
}

// NewQueue returns a queue that holds nothing.
func NewQueue() *Queue { return &Queue{lines: make(map[Key]*line)} }

// has reports whether requests are held for this budget. New requests queue behind them.
func (q *Queue) has(k Key) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.lines[k] != nil
}

// join returns when a request falls due that comes now: at first, or one interval after the last
// that is held. It reports false if that is later than within, or there is no room; else leave
// must follow.
func (q *Queue) join(k Key, now, first time.Time, interval, within time.Duration) (due time.Time, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	due = first
	l := q.lines[k]
	if l != nil {
		if next := l.last.Add(interval); next.After(due) {
			due = next
		}
	}
	if due.Sub(now) > within || q.held >= maxHeld || l != nil && l.held >= maxHeldPerRobot {
		return due, false
	}
	if l == nil {
		l = new(line)
		q.lines[k] = l
	}
	l.last = due
	l.held++
	q.held++
	return due, true
}

// leave ends what join began. The last in line gives its place back if it was not served.
func (q *Queue) leave(k Key, due time.Time, interval time.Duration, served bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	l := q.lines[k]
	if !served && l.last.Equal(due) {
		l.last = due.Add(-interval)
	}
	q.held--
	if l.held--; l.held == 0 {
		delete(q.lines, k)
	}
}

// Len returns how many requests are held.
func (q *Queue) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.held
}

// Holder holds the requests of one site in a Queue.
type Holder struct {
	*Queue
	Limiter Limiter
	MaxWait time.Duration
	Now     func() time.Time
	Closing <-chan struct{} // closed when requests are not to be held any longer
}

// Hold judges a request as Judge does and, if it comes too early, has it wait for its time,
// behind those of its robot that wait already. It is released, and refused, if its client leaves
// (ctx ends) or Closing is closed; that alone is no offence.
func (h *Holder) Hold(ctx context.Context, q Request) (result Result, offence bool) {
	now, key := h.Now(), lineKey(&q)
	first := now
	if !h.has(key) {
		if result, _ = Judge(ctx, h.Limiter, q, now); result.Allowed() {
			return result, false
		}
		first = now.Add(result.RetryAfter)
	}
	interval, latest := q.Limit.Interval, now.Add(h.MaxWait)
	due, ok := h.join(key, now, first, interval, h.MaxWait)
	if !ok {
		return Result{RetryAfter: max(due.Sub(now), 1)}, true
	}
	defer func() { h.leave(key, due, interval, result.Allowed()) }()
	for at := due; ; {
		if !h.waitUntil(ctx, at) {
			return Result{RetryAfter: max(at.Sub(h.Now()), 1)}, false
		}
		now = h.Now()
		if result, _ = Judge(ctx, h.Limiter, q, now); result.Allowed() {
			return result, false
		}
		// Somebody else was faster: another member of the fleet, or a clock stepped.
		if at = now.Add(result.RetryAfter); at.After(latest) {
			return result, true
		}
	}
}

// waitUntil waits, and reports false if the request is not to wait any longer.
func (h *Holder) waitUntil(ctx context.Context, due time.Time) bool {
	timer := time.NewTimer(due.Sub(h.Now()))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
	case <-h.Closing:
	}
	return false
}
