package enforce

import (
	"github.com/caddy-robots/caddy-robots/crawler"
	"github.com/caddy-robots/caddy-robots/robotsrules"
)

// stricter returns the record that holds for a robot whose claim is doubted: its own or, where that
// asks more of it now, the "*" record, so that no header and no name server of its own buys it more
// than a robot without a name has. A service stays one: a real one may come through a CDN that
// nobody named.
func (e *Engine) stricter(rules *Rules, own *robotsrules.Binding, r *Request, v *Verdict) *robotsrules.Binding {
	all := rules.Compiled.Default()
	if !v.Proof.Doubted || v.Who.Class != crawler.Robot || own == all || all == nil || !e.Unnamed.Binds(crawler.Robot) {
		return own
	}
	if !decide(own, r).Allowed() {
		return own
	}
	if !decide(all, r).Allowed() {
		return all
	}
	ownIsOpen, _, _ := own.Pace().Visit(r.At)
	allIsOpen, _, _ := all.Pace().Visit(r.At)
	switch {
	case ownIsOpen && !allIsOpen, ownIsOpen == allIsOpen && e.rate(all, v).SlowerThan(e.rate(own, v)):
		return all
	}
	return own
}
