package limitertest_test

import (
	"slices"
	"time"

	"github.com/caddy-robots/caddy-robots/internal/ratelimit"
)

// banFaults are ways in which a store may go wrong about bans, by the subtest of the
// kit that must notice.
var banFaults = map[string]func(*plain, request) (ratelimit.Result, error){
	"offences within the time ban": func(p *plain, r request) (ratelimit.Result, error) {
		if r.Offence && r.Ban != nil {
			policy := *r.Ban
			policy.Within /= 2
			r.Ban = &policy
		}
		return p.take(r)
	},
	"one offence bans where one is enough": func(p *plain, r request) (ratelimit.Result, error) {
		if r.Offence && r.Ban != nil && len(p.offences[r.client()]) == 0 {
			p.offences[r.client()] = []time.Time{r.now} // the first is only noted
			return admit, nil
		}
		return p.take(r)
	},
	"one offence too few bans nobody": func(p *plain, r request) (ratelimit.Result, error) {
		if r.Offence && r.Ban != nil {
			policy := *r.Ban
			policy.Offences--
			r.Ban = &policy
		}
		return p.take(r)
	},
	"offences too far apart ban nobody": func(p *plain, r request) (ratelimit.Result, error) {
		times := p.offences[r.client()]
		for i := range times {
			times[i] = r.now // as a store does that keeps a count that expires
		}
		return p.take(r)
	},
	"no ban waits for more offences than the most": func(p *plain, r request) (ratelimit.Result, error) {
		if r.Ban != nil && r.Ban.Offences > ratelimit.MaxOffences {
			return admit, nil
		}
		return p.take(r)
	},
	"a ban refuses until its end": func(p *plain, r request) (ratelimit.Result, error) {
		r.now = r.now.Round(time.Second)
		return p.take(r)
	},
	"a ban ends": func(p *plain, r request) (ratelimit.Result, error) {
		if ban := p.bans[r.client()]; ban != nil {
			return ratelimit.Result{RetryAfter: max(ban.Until.Sub(r.now), 1), Ban: ban}, nil
		}
		return p.take(r)
	},
	"the count begins anew after a ban": func(p *plain, r request) (ratelimit.Result, error) {
		before := p.offences[r.client()]
		result, err := p.take(r)
		if result.New {
			p.offences[r.client()] = append(before, r.now)
		}
		return result, err
	},
	"a clock that steps back lengthens no ban": func(p *plain, r request) (ratelimit.Result, error) {
		if ban := p.bans[r.client()]; ban != nil && r.now.Before(ban.Since) {
			return ratelimit.Result{RetryAfter: ban.Until.Sub(r.now), Ban: ban}, nil
		}
		return p.take(r)
	},
	"offences out of order count": func(p *plain, r request) (ratelimit.Result, error) {
		c := r.client()
		p.offences[c] = slices.DeleteFunc(p.offences[c], func(at time.Time) bool { return at.After(r.now) })
		return p.take(r)
	},
	"coming too fast is an offence": func(p *plain, r request) (ratelimit.Result, error) {
		if !r.Offence && p.bans[r.client()] == nil {
			r.Ban = nil
		}
		return p.take(r)
	},
	"being admitted is no offence": func(p *plain, r request) (ratelimit.Result, error) {
		result, err := p.take(r)
		if result.Allowed() && !r.Offence && r.Limit.Interval > 0 {
			result.Ban = p.offend(r)
			result.New = result.Ban != nil
		}
		return result, err
	},
	"an offence draws on no budget": func(p *plain, r request) (ratelimit.Result, error) {
		if r.Offence {
			_, _ = p.take(request{ratelimit.Request{Key: r.Key, Limit: r.Limit}, r.ctx, r.now})
		}
		return p.take(r)
	},
	"the banned draw on no budget": func(p *plain, r request) (ratelimit.Result, error) {
		result, err := p.take(r)
		if result.Banned() {
			_ = p.pace(r)
		}
		return result, err
	},
	"the banned lengthen no ban": func(p *plain, r request) (ratelimit.Result, error) {
		result, err := p.take(r)
		if result.Banned() && r.Offence {
			_ = p.offend(r)
		}
		return result, err
	},
	"a ban keeps its line": func(p *plain, r request) (ratelimit.Result, error) {
		if ban := p.bans[r.client()]; ban != nil {
			ban.Line, ban.Rule = r.Line, r.Rule
		}
		return p.take(r)
	},
	"addresses are banned apart": func(p *plain, r request) (ratelimit.Result, error) {
		r.Address = "192.0.2.0/24"
		return p.take(r)
	},
	"an empty address is a client": func(p *plain, r request) (ratelimit.Result, error) {
		if r.Address == "" {
			r.Ban = nil
		}
		return p.take(r)
	},
	"sites are banned apart": func(p *plain, r request) (ratelimit.Result, error) {
		return p.takeAs(r, client{ratelimit.Key{Robot: r.Key.Robot, Standing: r.Key.Standing}, r.Address})
	},
	"robots are banned apart": func(p *plain, r request) (ratelimit.Result, error) {
		return p.takeAs(r, client{ratelimit.Key{Site: r.Key.Site, Standing: r.Key.Standing}, r.Address})
	},
	"standings are banned apart": func(p *plain, r request) (ratelimit.Result, error) {
		return p.takeAs(r, client{ratelimit.Key{Site: r.Key.Site, Robot: r.Key.Robot}, r.Address})
	},
	"the parts of a client do not run together": func(p *plain, r request) (ratelimit.Result, error) {
		return p.takeAs(r, client{ratelimit.Key{Site: r.Key.Site, Robot: r.Key.Robot}, r.Key.Standing + r.Address})
	},
	"no policy bans nobody": func(p *plain, r request) (ratelimit.Result, error) {
		if ban := p.bans[r.client()]; r.Ban == nil && ban != nil {
			return ratelimit.Result{RetryAfter: ban.Until.Sub(r.now), Ban: ban}, nil
		}
		return p.take(r)
	},
	"concurrent offences bring one ban": func(p *plain, r request) (ratelimit.Result, error) {
		result, err := p.take(r)
		if result.Banned() && result.Ban.Since.Equal(r.now) {
			result.New = true // it came at the same time
		}
		return result, err
	},
}

// takeAs judges a request as that of another client, whose ban it calls its own.
func (p *plain) takeAs(r request, c client) (ratelimit.Result, error) {
	own := r.client()
	r.Key, r.Address = c.key, c.address
	result, err := p.take(r)
	if result.Ban != nil {
		ban := *result.Ban
		ban.Key, ban.Address = own.key, own.address
		result.Ban = &ban
	}
	return result, err
}
