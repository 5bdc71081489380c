package ratelimit

import (
	"context"
	"time"
)

// Key names one budget: the site whose robots.txt states the pace, the robot
// that is held to it, and what is known of its claim to be that robot, so that
// nobody can spend the budget of a robot by taking its name. A robot's many
// addresses share one Key. No part is changed or interpreted; two keys are the
// same if all parts are equal, octet by octet. The zero Key is a key like any
// other.
type Key struct {
	Site, Robot, Standing string
}

// Result is the verdict on one request. The zero Result admits it.
type Result struct {
	// RetryAfter is zero for a request that may be served. For a refused one
	// it is positive, at most the Interval of the limit, and exact: a request
	// that long from now is admitted if no other one is before it, and a
	// request sooner is refused.
	RetryAfter time.Duration
}

// Allowed reports whether the request may be served.
func (r Result) Allowed() bool { return r.RetryAfter <= 0 }

// Limiter keeps the budget of every key. Package limitertest tests what
// follows.
//
// Take judges one request for k at the time now, as [Limit.Take] does, and
// remembers the outcome. It keeps to this:
//
//   - It is safe for concurrent use: of requests that come at once, exactly
//     Burst are admitted.
//   - Keys share nothing, unless an implementation documents the odds.
//   - Time is what now says. It may stand still, leap ahead or step back, and
//     requests of one key may arrive slightly out of order. Members of a fleet
//     that share a store need clocks that agree to well within the leeway.
//   - The limit may differ from one call to the next for the same key. Only the
//     one given counts, and a refusal is never for longer than its Interval.
//   - A limit without Interval admits, and nothing is remembered.
//   - A key may be forgotten once its arrival time is past, which changes no
//     verdict. A store that is full may forget others as well, those with the
//     least debt first; it then admits too much, never too little.
//   - A store may count in units of up to a millisecond, as Redis scripts do.
//   - An error means that the store could not be asked. The Result is then
//     zero, so that a caller who looks no further refuses nobody.
//   - A context that is done may yield its error, or a verdict where none has
//     to be waited for.
type Limiter interface {
	Take(ctx context.Context, k Key, l Limit, now time.Time) (Result, error)
}
