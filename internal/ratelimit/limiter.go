package ratelimit

import (
	"context"
	"time"
)

// Key names one budget: the site whose robots.txt states the pace, the robot
// that is held to it, and what is known of its claim to be that robot, so that
// nobody can spend the budget of a robot by taking its name. A robot's many
// addresses share one Key. No part is changed or interpreted; two keys are the
// same if all parts are equal, byte by byte. The zero Key is a key like any
// other.
type Key struct {
	Site, Robot, Standing string
}

// Request is one request, as a [Limiter] judges it. The zero Request asks for
// nothing and is admitted.
type Request struct {
	// Key is whose budget the request draws on, and Limit the pace that it has to
	// keep. The zero Limit is no limit.
	Key   Key
	Limit Limit

	// Group is a second budget that the request draws on, with the same limit, such as that of
	// the network that it comes from; one without a Robot is none. [Judge] looks at it, a Limiter does
	// not.
	Group Key

	// Return gives back what an admitted request of this Key drew, since another budget has
	// refused it. It is admitted, whatever the pace, and neither Ban nor Offence count.
	Return bool

	// Ban says when disobedience gets a client banned; nil means never. Who is
	// banned is Key together with Address, which is empty where a robot answers
	// for its requests from everywhere.
	Ban     *BanPolicy
	Address string

	// Offence says that the request is refused whatever its pace. It draws on no
	// budget, and counts towards a ban.
	Offence bool

	// Line and Rule are the line of robots.txt that a refusal of this request
	// rests on, its number and its text. They are kept with the ban that it brings.
	Line int
	Rule string
}

// Result is the verdict on one request. The zero Result admits it.
type Result struct {
	// RetryAfter is zero for a request that may be served. For one that came too
	// early it is positive, at most the Interval of the limit, and exact: a request
	// that long from now is admitted if no other one is before it, and a
	// request sooner is refused. For one whose client is banned it is how long the
	// ban goes on; for the one that brought the ban it is not.
	RetryAfter time.Duration

	// Ban is the ban that refuses this request or, if New, the one that this
	// request has brought about and that holds from the next one on. It is nil for
	// all others, and not to be changed.
	Ban *Ban
	New bool

	// Group says that it was the budget of the request's Group that refused it.
	Group bool
}

// Allowed reports whether the request may be served, as far as pace and bans go.
func (r Result) Allowed() bool { return r.RetryAfter <= 0 }

// Banned reports whether the request is refused because its client is banned.
func (r Result) Banned() bool { return r.Ban != nil && !r.New }

// Limiter keeps the budget of every key, and who is banned. Package limitertest
// tests what follows.
//
// Take judges one request at the time now and remembers the outcome. A client that
// is banned is refused, and nothing else is counted. Otherwise an offence counts
// towards a ban, and any other request is judged as [Limit.Take] does; one that
// comes too early is an offence too. A request without a policy neither counts nor is
// refused for a ban. Take keeps to this:
//
//   - It is safe for concurrent use: of requests that come at once, exactly
//     Burst are admitted, and of bans they bring exactly one is New.
//   - Keys share nothing, unless an implementation documents the odds.
//   - Time is what now says. It may stand still, leap ahead or step back, and
//     requests of one key may arrive slightly out of order. A store with a clock
//     of its own documents it.
//   - The limit may differ from one call to the next for the same key. Only the
//     one given counts, and a refusal for the pace is never for longer than its Interval.
//   - A ban lasts as long as the policy said when it began, counted from now if
//     the clock stepped back since; an offence after now counts as one of now.
//   - A limit without Interval admits, and nothing is remembered of it.
//   - What a Return gives back can be drawn again at once, and no more than that: a budget that
//     nothing was drawn on stays as it is.
//   - A key may be forgotten once its arrival time is past, which changes no
//     verdict. A store that is full may forget others as well, those with the
//     least debt first; it then admits too much, never too little.
//   - A store may count in units of up to a millisecond, as Redis scripts do.
//   - An error means that the store could not be asked. The Result is then
//     zero, so that a caller who looks no further refuses nobody.
//   - A context that is done may yield its error, or a verdict where none has
//     to be waited for.
type Limiter interface {
	Take(ctx context.Context, r Request, now time.Time) (Result, error)
}

// Judge judges one request as l does, by the budget of its Group first, where it has one. A request
// that either refuses draws on neither; for the time that it takes to ask both it may keep another
// one of the group from being admitted. One that the group's budget refuses counts towards the ban
// of its client as any other that comes too early, and RetryAfter is the group's.
func Judge(ctx context.Context, l Limiter, r Request, now time.Time) (Result, error) {
	if r.Group.Robot == "" || r.Offence || r.Limit.Interval <= 0 {
		return l.Take(ctx, r, now)
	}
	group := Request{Key: r.Group, Limit: r.Limit}
	result, err := l.Take(ctx, group, now)
	switch {
	case err != nil:
		return Result{}, err
	case !result.Allowed():
		r.Offence = true
		own, err := l.Take(ctx, r, now)
		if own.Banned() {
			return own, err
		}
		result.Ban, result.New, result.Group = own.Ban, own.New, true
		return result, err
	}
	if result, err = l.Take(ctx, r, now); !result.Allowed() {
		group.Return = true
		_, _ = l.Take(ctx, group, now) // else the group has one document less
	}
	return result, err
}
