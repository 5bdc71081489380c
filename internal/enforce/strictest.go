package enforce

import (
	"context"

	"github.com/caddy-robots/caddy-robots/crawler"
)

// maxReadings bounds how many User-Agent headers of one request are compared.
const maxReadings = 8

// Strictest returns who the client of r is that sends several User-Agent headers, and that header.
// One product sends one (RFC 9110, section 10.1.5), so nothing says which of them is true: the one
// that the rules allow least decides. Who sends a great many is a robot without a name.
func (e *Engine) Strictest(ctx context.Context, r *Request, sent []string, identify func(string) *crawler.Identity) (string, *crawler.Identity) {
	if len(sent) > maxReadings {
		return "", &crawler.Identity{Class: crawler.Robot}
	}
	var (
		userAgent string
		who       *crawler.Identity
		strictest Verdict
	)
	for _, text := range sent {
		one := *r
		one.UserAgent = text
		id := identify(text)
		if e.isDisguised(&one) {
			id = e.disguised.identify(text)
		}
		var v Verdict
		if ByCircumstance(&one, id).Class != crawler.Browser { // for whom nobody is to wait
			v = e.ByRules(e.policyFor(ctx, r, waits(id.Class)).Rules, &one, id)
		} else {
			v.Who = id
		}
		v.At = r.At
		if who == nil || e.isStricter(&v, &strictest) {
			userAgent, who, strictest = text, id, v
		}
	}
	return userAgent, who
}

// isStricter reports whether the rules allow less to a client than to another: what it asks for, its
// pace, or what robots may.
func (e *Engine) isStricter(a, b *Verdict) bool {
	if a.Kind != b.Kind {
		return a.Kind == Disallowed
	}
	if order := restraint(a.Who.Class) - restraint(b.Who.Class); order != 0 {
		return order > 0
	}
	return e.rate(a.Decision.Binding, a).SlowerThan(e.rate(b.Decision.Binding, b))
}

// restraint orders classes by how many records can bind a client of one.
func restraint(c crawler.Class) int {
	switch c {
	case crawler.Robot:
		return 3
	case crawler.Unstated:
		return 2
	case crawler.Browser:
		return 0
	default:
		return 1
	}
}
