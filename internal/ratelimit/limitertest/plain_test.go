package limitertest_test

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/caddy-robots/caddy-robots/internal/ratelimit"
)

// plain is the least that keeps the contract: maps of all that it is told.
type plain struct {
	mu       sync.Mutex
	states   map[ratelimit.Key]ratelimit.State
	bans     map[client]*ratelimit.Ban
	offences map[client][]time.Time
}

// client is who is banned.
type client struct {
	key     ratelimit.Key
	address string
}

// request is what a Limiter is asked.
type request struct {
	ratelimit.Request
	ctx context.Context
	now time.Time
}

func (r request) client() client { return client{r.Key, r.Address} }

// take judges a request soundly.
func (p *plain) take(r request) (ratelimit.Result, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if r.Return {
		p.states[r.Key] = r.Limit.Return(p.states[r.Key])
		return ratelimit.Result{}, nil
	}
	if !bans(r.Ban) {
		return p.pace(r), nil
	}
	if ban := p.bans[r.client()]; ban != nil && r.now.Before(ban.Until) {
		if r.now.Before(ban.Since) { // the clock stepped back
			ban.Since, ban.Until = r.now, r.now.Add(ban.Until.Sub(ban.Since))
		}
		return ratelimit.Result{RetryAfter: ban.Until.Sub(r.now), Ban: ban}, nil
	}
	result := p.pace(r)
	if r.Offence || !result.Allowed() {
		result.Ban = p.offend(r)
		result.New = result.Ban != nil
	}
	return result, nil
}

// pace judges a request by its pace alone.
func (p *plain) pace(r request) ratelimit.Result {
	if r.Offence || r.Limit.Interval <= 0 {
		return ratelimit.Result{}
	}
	next, result := r.Limit.Take(p.states[r.Key], r.now)
	p.states[r.Key] = next
	return result
}

// offend counts an offence and returns the ban that it brings.
func (p *plain) offend(r request) *ratelimit.Ban {
	c := r.client()
	times := append(p.offences[c], r.now)
	times = slices.DeleteFunc(times, func(at time.Time) bool { return r.now.Sub(at) >= r.Ban.Within })
	p.offences[c] = times
	if len(times) < min(r.Ban.Offences, ratelimit.MaxOffences) {
		return nil
	}
	delete(p.offences, c)
	p.bans[c] = &ratelimit.Ban{
		Key: r.Key, Address: r.Address, Since: r.now, Until: r.now.Add(r.Ban.For), Line: r.Line, Rule: r.Rule,
	}
	return p.bans[c]
}

func bans(p *ratelimit.BanPolicy) bool {
	return p != nil && p.Offences > 0 && p.Within > 0 && p.For > 0
}

// faulty is a Limiter that answers by way of a function.
type faulty struct {
	plain
	answer func(*plain, request) (ratelimit.Result, error)
}

// newFaulty returns an empty Limiter that answers by way of a function.
func newFaulty(answer func(*plain, request) (ratelimit.Result, error)) *faulty {
	return &faulty{answer: answer, plain: plain{
		states:   make(map[ratelimit.Key]ratelimit.State),
		bans:     make(map[client]*ratelimit.Ban),
		offences: make(map[client][]time.Time),
	}}
}

func (f *faulty) Take(ctx context.Context, r ratelimit.Request, now time.Time) (ratelimit.Result, error) {
	return f.answer(&f.plain, request{r, ctx, now})
}
