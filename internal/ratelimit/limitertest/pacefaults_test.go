package limitertest_test

import (
	"runtime"
	"strings"
	"time"

	"github.com/caddy-robots/caddy-robots/internal/ratelimit"
)

var admit = ratelimit.Result{}

// paceFaults are ways in which a store may go wrong about the pace, by the subtest of
// the kit that must notice.
var paceFaults = map[string]func(*plain, request) (ratelimit.Result, error){
	"a stranger is admitted": func(*plain, request) (ratelimit.Result, error) {
		return ratelimit.Result{RetryAfter: time.Second}, nil
	},
	"a burst is admitted, and no more": func(*plain, request) (ratelimit.Result, error) {
		return admit, nil
	},
	"a burst is regained at the pace": func(p *plain, r request) (ratelimit.Result, error) {
		if _, result := r.Limit.Take(p.states[r.Key], r.now); result.Allowed() && p.states[r.Key] != 0 {
			p.states[r.Key] = min(p.states[r.Key], ratelimit.State(r.now.UnixNano()))
		}
		return p.take(r)
	},
	"retry after is exact": func(p *plain, r request) (ratelimit.Result, error) {
		result, err := p.take(r)
		result.RetryAfter = (result.RetryAfter + time.Second - 1).Truncate(time.Second)
		return result, err
	},
	"a refusal costs nothing": func(p *plain, r request) (ratelimit.Result, error) {
		result, err := p.take(r)
		if !result.Allowed() {
			p.states[r.Key] += ratelimit.State(r.Limit.Interval / 100)
		}
		return result, err
	},
	"a refusal takes the leeway":      keepLeeway,
	"a hammering robot gets its pace": keepLeeway,
	"the leeway is not saved up": func(p *plain, r request) (ratelimit.Result, error) {
		old, known := p.states[r.Key]
		result, err := p.take(r)
		if known && result.Allowed() {
			p.states[r.Key] = old + ratelimit.State(r.Limit.Interval)
		}
		return result, err
	},
	"sites are separate": func(p *plain, r request) (ratelimit.Result, error) {
		r.Key.Site = ""
		return p.take(r)
	},
	"robots are separate": func(p *plain, r request) (ratelimit.Result, error) {
		r.Key.Robot = ""
		return p.take(r)
	},
	"standings are separate": func(p *plain, r request) (ratelimit.Result, error) {
		r.Key.Standing = ""
		return p.take(r)
	},
	"the parts of a key do not run together": func(p *plain, r request) (ratelimit.Result, error) {
		r.Key = ratelimit.Key{Site: r.Key.Site + ":" + r.Key.Robot, Standing: r.Key.Standing}
		return p.take(r)
	},
	"the empty key is a key": func(p *plain, r request) (ratelimit.Result, error) {
		if r.Key == (ratelimit.Key{}) {
			return admit, nil
		}
		return p.take(r)
	},
	"silence clears the debt": func(p *plain, r request) (ratelimit.Result, error) {
		if old := p.states[r.Key]; old != 0 && r.now.UnixNano()-int64(old) > int64(time.Hour) {
			r.now = time.Unix(0, int64(old)) // time stands still for the silent
		}
		return p.take(r)
	},
	"a clock that steps back refuses for one interval": func(p *plain, r request) (ratelimit.Result, error) {
		if p.states[r.Key] > ratelimit.State(r.now.Add(time.Hour).UnixNano()) {
			return ratelimit.Result{RetryAfter: time.Duration(int64(p.states[r.Key]) - r.now.UnixNano())}, nil
		}
		return p.take(r)
	},
	"a relaxed limit holds at once":   firstLimit(),
	"a tightened limit holds at once": firstLimit(),
	"no limit admits and remembers nothing": func(p *plain, r request) (ratelimit.Result, error) {
		if r.Limit.Interval > 0 {
			return p.take(r)
		}
		p.states[r.Key] = ratelimit.State(r.now.Add(time.Minute).UnixNano())
		return admit, nil
	},
	"concurrent takers share one burst": func(p *plain, r request) (ratelimit.Result, error) {
		p.mu.Lock()
		old := p.states[r.Key]
		p.mu.Unlock()
		runtime.Gosched() // another taker may see the same state
		next, result := r.Limit.Take(old, r.now)
		p.mu.Lock()
		p.states[r.Key] = next
		p.mu.Unlock()
		return result, nil
	},
	"concurrent takers of many keys do not meet": func(p *plain, r request) (ratelimit.Result, error) {
		p.mu.Lock()
		if len(p.states) > 100 {
			clear(p.states)
		}
		p.mu.Unlock()
		return p.take(r)
	},
	"what is returned can be drawn again":                  keepReturns,
	"what its own budget refuses draws not on the group's": keepReturns,
	"nothing is returned where nothing was drawn": func(p *plain, r request) (ratelimit.Result, error) {
		if r.Return && p.states[r.Key] == 0 {
			p.states[r.Key] = ratelimit.State(r.now.Add(2*r.Limit.Interval).UnixNano() &^ 1)
		}
		return p.take(r)
	},
	"what the group refuses draws on nothing": func(p *plain, r request) (ratelimit.Result, error) {
		r.Key.Robot = strings.Replace(r.Key.Robot, "plum", "net", 1)
		return p.take(r)
	},
	"what the group refuses is an offence": func(p *plain, r request) (ratelimit.Result, error) {
		r.Offence = false
		return p.take(r)
	},
	"a done context refuses nobody": func(p *plain, r request) (ratelimit.Result, error) {
		if err := r.ctx.Err(); err != nil {
			return ratelimit.Result{RetryAfter: time.Second}, err
		}
		return p.take(r)
	},
}

// keepReturns gives nothing back.
func keepReturns(p *plain, r request) (ratelimit.Result, error) {
	if r.Return {
		return admit, nil
	}
	return p.take(r)
}

// keepLeeway forgets that a request was refused.
func keepLeeway(p *plain, r request) (ratelimit.Result, error) {
	result, err := p.take(r)
	p.states[r.Key] &^= 1
	return result, err
}

// firstLimit judges every request by the first limit that was ever given.
func firstLimit() func(*plain, request) (ratelimit.Result, error) {
	var first ratelimit.Limit
	return func(p *plain, r request) (ratelimit.Result, error) {
		if first == (ratelimit.Limit{}) {
			first = r.Limit
		}
		r.Limit = first
		return p.take(r)
	}
}
