package caddymodule

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/caddy-robots/caddy-robots/internal/enforce"
	"github.com/caddy-robots/caddy-robots/internal/ratelimit"
	"github.com/caddy-robots/caddy-robots/robotsrules"
)

// pace judges when the request came. A request that is refused costs the robot nothing.
func (h *Handler) pace(r *http.Request, j *judgement) {
	now := h.now()
	j.at = now
	binding := j.decision.Binding
	if open, opens, line := binding.Pace().Visit(now); !open && !j.before.welcomes(now) {
		j.line, j.rule, j.retryAfter = line, visitTime(binding, line), opens.Sub(now)
		h.against(j, OffHours, h.settings.offHours)
		if j.refused || h.settings.observe {
			return
		}
	}
	d := h.demand(j, now)
	if d.rate.Documents == 0 || !j.vars.count() {
		return
	}
	switch result, offence := h.take(r, j, d, now); {
	case result.Banned():
		h.sentence(j, result.Ban, result.RetryAfter)
	case !result.Allowed():
		h.tooFast(r, j, d, result, offence)
	}
}

// demand is a pace that a client has to keep, and what is done if it does not.
type demand struct {
	rate      robotsrules.Rate
	throttled bool // a disallowed page, served at a rate
	do        action
}

// demand returns the pace that holds now: what the client's record states, else the site's
// own default; and for a disallowed page that is served at a rate, the slower of the two.
func (h *Handler) demand(j *judgement, now time.Time) demand {
	rate := h.rate(j.decision.Binding, now)
	if j.before != nil {
		if earlier := h.rate(j.before.binding, now); rate.SlowerThan(earlier) {
			rate = earlier
		}
	}
	d := demand{rate: rate, do: h.settings.tooFast}
	if h.settings.disallowed == throttle && (j.denied != "" || !j.decision.Allowed()) {
		d.throttled = true
		if limit := h.settings.disallowedPace; !rate.SlowerThan(limit) {
			d.rate = limit
		}
		if d.do == observe {
			d.do = refuse // or it would be served at any rate
		}
	}
	return d
}

// rate returns the pace of a record, or the site's own where it states none.
func (h *Handler) rate(binding *robotsrules.Binding, now time.Time) robotsrules.Rate {
	if rate, ok := binding.Pace().At(now); ok {
		return rate
	}
	return h.settings.defaultPace
}

// take has the pace judged, and the ban with it where both can be asked at once. It also
// tells whether a refusal is an offence that was not counted yet. A disallowed page that is
// served at a rate has a budget of its own.
func (h *Handler) take(r *http.Request, j *judgement, d demand, now time.Time) (result ratelimit.Result, offence bool) {
	q := ratelimit.Request{
		Key:   h.budget(r, j),
		Limit: ratelimit.PerPeriod(d.rate.Documents, d.rate.Period),
		Line:  d.rate.Line, Rule: d.rate.Text,
	}
	if d.throttled {
		q.Key.Standing = "disallowed " + q.Key.Standing
	}
	if d.do == wait && mayBeHeld(r) && !h.settings.observe {
		return h.hold(r, q)
	}
	apart := d.throttled || d.do == wait
	if !apart && d.do == refuse && h.bannable(j) {
		q.Ban, q.Address = h.settings.ban, h.answerable(r, j)
	}
	// An error would mean a store that could not be asked, and refuses nobody.
	result, _ = h.limiter.Take(r.Context(), q, now)
	return result, apart
}

// tooFast notes a verdict against the pace.
func (h *Handler) tooFast(r *http.Request, j *judgement, d demand, result ratelimit.Result, offence bool) {
	j.retryAfter = result.RetryAfter
	if d.throttled {
		j.throttle = d.rate.Text
	} else {
		j.line, j.rule = d.rate.Line, d.rate.Text
	}
	h.against(j, TooFast, d.do)
	if result.New {
		h.tellBan(r, j, result.Ban)
	}
	if offence {
		h.offend(r, j)
	}
}

// budget is whose pace a request counts against: one for each robot of a site, however
// many addresses it comes from. A client without a robot's name is its address. Nobody
// spends a verified robot's budget by taking its name.
func (h *Handler) budget(r *http.Request, j *judgement) ratelimit.Key {
	robot := j.who.Key
	if robot == "" {
		robot = clientAddress(r)
	}
	key := ratelimit.Key{Site: j.site, Robot: robot, Standing: j.proof.standing()}
	if h.settings.observe {
		key.Standing = observedStandings[key.Standing]
	}
	return key
}

// observedStandings are the standings of those who are only observed: what is counted then
// never counts in earnest.
var observedStandings = map[string]string{
	"":                          observed,
	enforce.Unverified.String(): observed + " " + enforce.Unverified.String(),
	enforce.Verified.String():   observed + " " + enforce.Verified.String(),
	enforce.Impostor.String():   observed + " " + enforce.Impostor.String(),
}

const observed = "observed"

// visitTime returns the Visit-time line with that number, as written.
func visitTime(binding *robotsrules.Binding, line int) string {
	for _, group := range binding.Groups() {
		if group.VisitTime != nil && group.VisitTime.Line == line {
			return group.VisitTime.Text
		}
	}
	return ""
}

// optionalRate reads the rate of an option, the zero value where it is not set.
func optionalRate(option, text string) (robotsrules.Rate, error) {
	if text == "" {
		return robotsrules.Rate{}, nil
	}
	rate, ok := robotsrules.ParseRate(text)
	if !ok {
		return rate, fmt.Errorf("%s: %q is not a rate; write documents/time as in Request-rate, such as 1/10s or 10/1m", option, text)
	}
	rate.Text = option + " " + text // as it is told to a robot
	return rate, nil
}

// checkPace returns an error for options of the pace that make no sense together.
func (h *Handler) checkPace(s settings) error {
	switch {
	case s.disallowed == throttle && h.DisallowedPace == "":
		return errors.New("disallowed pace: write the rate too, such as disallowed pace 1/1m")
	case s.disallowed != throttle && h.DisallowedPace != "":
		return errors.New("disallowed_pace is for disallowed pace; write disallowed pace, or remove disallowed_pace")
	case s.tooFast == wait && s.maxWait == 0:
		return errors.New("too_fast wait: write how long at the most, such as too_fast wait 10s")
	case s.tooFast != wait && s.maxWait != 0:
		return errors.New("max_wait is for too_fast wait; write too_fast wait, or remove max_wait")
	}
	return h.checkBan(s)
}
