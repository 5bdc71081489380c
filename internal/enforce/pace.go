package enforce

import (
	"context"
	"strings"
	"time"

	"github.com/caddy-robots/caddy-robots/crawler"
	"github.com/caddy-robots/caddy-robots/internal/ratelimit"
	"github.com/caddy-robots/caddy-robots/robotsrules"
)

// Queue holds requests that came too early until their time.
type Queue interface {
	// Hold judges a request as a Limiter does and, if it comes too early, holds it. It
	// also reports whether a refusal is an offence: that a client leaves, or the server stops,
	// is none.
	Hold(ctx context.Context, q ratelimit.Request) (result ratelimit.Result, offence bool)
}

// pace judges when the request came. A request that is refused costs the robot nothing.
func (e *Engine) pace(ctx context.Context, r *Request, previous *grace, v *Verdict) {
	binding := v.Decision.Binding
	if open, opens, line := binding.Pace().Visit(r.At); !open && !previous.isOpen(r.At) {
		v.Line, v.Rule, v.RetryAfter = line, visitTime(binding, line), opens.Sub(r.At)
		v.against(OffHours, e.OffHours)
		if v.Refused || v.Observed {
			return
		}
	}
	d := e.demand(v, previous)
	if d.rate.Documents == 0 || v.Counted {
		return
	}
	v.Counted = true
	switch result, offence := e.take(ctx, r, v, d); {
	case result.Banned():
		e.ban(v, result.Ban, result.RetryAfter)
	case !result.Allowed():
		e.tooFast(ctx, r, v, d, result, offence)
	}
}

// demand is a pace that a client has to keep, and what is done if it does not.
type demand struct {
	rate      robotsrules.Rate
	throttled bool // a disallowed page, served at a rate
	do        Action
}

// demand returns the pace that holds now: what the client's record states, else the site's own
// default, and none for who is unpaced; for a disallowed page that is served at a rate, the slower
// of the two.
func (e *Engine) demand(v *Verdict, previous *grace) demand {
	rate := e.rate(v.Decision.Binding, v)
	if previous != nil {
		if earlier := e.rate(previous.binding, v); rate.SlowerThan(earlier) {
			rate = earlier
		}
	}
	if e.Unpaced.covers(v) {
		rate = robotsrules.Rate{}
	}
	d := demand{rate: rate, do: e.TooFast}
	if e.Disallowed == Pace && (v.Denied != "" || !v.Decision.Allowed()) {
		d.throttled = true
		if !rate.SlowerThan(e.DisallowedPace) {
			d.rate = e.DisallowedPace
		}
		if d.do == Observe {
			d.do = Refuse // or it would be served at any rate
		}
	}
	return d
}

// rate returns the pace of a record or, where it states none, the site's own. That is for robots
// that say what they are: it does not hold for one that was caught.
func (e *Engine) rate(binding *robotsrules.Binding, v *Verdict) robotsrules.Rate {
	if rate, ok := binding.Pace().At(v.At); ok {
		return rate
	}
	if v.Capture != nil {
		return robotsrules.Rate{}
	}
	return e.DefaultPace
}

// take has the pace judged, and the ban with it where both can be asked at once. It also
// reports whether a refusal is an offence that was not counted yet. A disallowed page that is
// served at a rate has a budget of its own.
func (e *Engine) take(ctx context.Context, r *Request, v *Verdict, d demand) (result ratelimit.Result, offence bool) {
	key, ok := e.budget(ctx, r, v)
	if !ok {
		return ratelimit.Result{}, false
	}
	if d.throttled {
		key.Standing = "disallowed " + key.Standing
	}
	q := ratelimit.Request{
		Key: key, Group: e.group(ctx, r, v, key),
		Limit: ratelimit.PerPeriod(d.rate.Documents, d.rate.Period),
		Line:  d.rate.Line, Rule: d.rate.Text,
	}
	apart := d.throttled || d.do == Wait
	if hasNetworkBudget(v) {
		client := e.client(ctx, r)
		if client.IsNobody() {
			return ratelimit.Result{}, false
		}
		q.Key.Robot += " from " + client.String()
		apart = true // who is banned goes by its name and, apart from that, its address
	}
	if d.do == Wait && r.CanWait && e.Queue != nil && !v.Observed {
		return e.Queue.Hold(ctx, q)
	}
	if !apart && d.do == Refuse {
		if address, ok := e.banAddress(ctx, r, v); ok {
			q.Ban, q.Address = e.Ban, address
		}
	}
	// An error would mean a store that could not be asked, and refuses nobody.
	result, _ = ratelimit.Judge(ctx, e.Limiter, q, r.At)
	return result, apart
}

// tooFast notes a verdict against the pace.
func (e *Engine) tooFast(ctx context.Context, r *Request, v *Verdict, d demand, result ratelimit.Result, offence bool) {
	v.RetryAfter, v.Shared = result.RetryAfter, result.Group
	if d.throttled {
		v.Throttle = d.rate.Text
	} else {
		v.Line, v.Rule = d.rate.Line, d.rate.Text
	}
	v.against(TooFast, d.do)
	if result.New {
		v.NewBan = result.Ban
	}
	if offence {
		e.countOffence(ctx, r, v)
	}
}

// hasNetworkBudget reports whether each network of clients that go by this name has a budget of its
// own: an app or a service is many people's, where a robot is one.
func hasNetworkBudget(v *Verdict) bool {
	return v.Who.Key != "" && v.Who.Class != crawler.Robot
}

// group is the second budget that a request draws on: that of its network, under a name which
// neither robots.txt nor the catalogue has. There are as many such names as somebody makes up, and
// so they are held together; a crawler that is known keeps one budget over its many addresses. The
// zero Key is none: a name that is known, or a client that cannot be told from others.
func (e *Engine) group(ctx context.Context, r *Request, v *Verdict, key ratelimit.Key) ratelimit.Key {
	token := v.Decision.Binding.Token() // as most robots write themselves
	if v.Who.Key == "" || v.Proof.IsVerified() || token == v.Who.Name || strings.EqualFold(token, v.Who.Key) {
		return ratelimit.Key{}
	}
	if _, ok := crawler.WellKnown(v.Who.Key); ok {
		return ratelimit.Key{}
	}
	client := e.client(ctx, r)
	client.userAgent = "" // or each name would be a network
	key.Robot = client.String()
	if key.Robot == "" {
		return ratelimit.Key{}
	}
	return key
}

// budget is whose pace a request counts against, and whose a ban is: one for each robot of a host,
// however many addresses it comes from. A client without a robot's name is its network; not ok is one that
// cannot be told from others, which has no pace to keep. Nobody uses up a verified robot's limit by
// taking its name.
func (e *Engine) budget(ctx context.Context, r *Request, v *Verdict) (key ratelimit.Key, ok bool) {
	key = ratelimit.Key{Site: r.site(), Robot: v.Who.Key, Standing: v.Proof.Word()}
	if key.Robot == "" {
		client := e.client(ctx, r)
		key.Robot = client.String()
	}
	if v.Observed {
		key.Standing = observedStandings[key.Standing]
	}
	return key, key.Robot != ""
}

// observedStandings are the standings of those who are only observed: what is counted then
// never counts in earnest.
var observedStandings = map[string]string{
	"":                  observed,
	Unverified.String(): observed + " " + Unverified.String(),
	Verified.String():   observed + " " + Verified.String(),
	Impostor.String():   observed + " " + Impostor.String(),
}

const observed = "observed"

// visitTime returns the Visit-time line with that number, as written.
func visitTime(binding *robotsrules.Binding, line int) string {
	for _, group := range binding.Groups() {
		if group.VisitTime() != nil && group.VisitTime().Line == line {
			return group.VisitTime().Text
		}
	}
	return ""
}

// grace is a client's previous policy, as long as it may still go by it.
type grace struct {
	rules   *Rules
	binding *robotsrules.Binding
}

// inGrace returns what held for the client before the policy, nil if it cannot go by that any
// longer: it has read the new text, or had time to.
func (e *Engine) inGrace(r *Request, p *Policy, v *Verdict) *grace {
	if p.Previous == nil || r.At.Sub(p.Previous.Until) >= e.Grace {
		return nil
	}
	read, version := e.Readers.Fetched(v.Host, v.Who.Name, v.Who.Class.String(), v.Proof.Word())
	if version == p.Version || read.After(p.Previous.Until) {
		return nil
	}
	return &grace{p.Previous.Rules, e.Binding(p.Previous.Rules, v)}
}

// allowedBefore reports whether the previous policy allowed what this one disallows.
func (e *Engine) allowedBefore(previous *grace, r *Request, v *Verdict) bool {
	then := *v
	if !e.allows(previous.rules, previous.binding, r, &then) {
		return false
	}
	v.Decision, v.Denied, v.Line, v.Rule = robotsrules.Decision{Binding: v.Decision.Binding}, "", 0, ""
	return true
}

// isOpen reports whether the previous policy welcomed a visit at this time.
func (g *grace) isOpen(now time.Time) bool {
	if g == nil {
		return false
	}
	open, _, _ := g.binding.Pace().Visit(now)
	return open
}
