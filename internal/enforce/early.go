package enforce

import (
	"context"

	"github.com/caddy-robots/caddy-robots/robotsrules"
)

// hangsOnAddress reports whether a request in early data would be answered otherwise if its address
// were proved, or would be charged to it: it has to be sent again (425, RFC 8470). Of all others
// nothing is charged to an address, and they are judged without it.
func (e *Engine) hangsOnAddress(ctx context.Context, r *Request, policy *Policy, v *Verdict) bool {
	e.Locate(ctx, r)
	proved := *r
	proved.EarlyData = false
	client := proved.Client(e.ClientPrefix)
	own := e.Binding(policy.Rules, v)
	allows := func(binding *robotsrules.Binding) bool {
		trial := *v
		return e.allows(policy.Rules, binding, r, &trial)
	}
	allowed := allows(own)
	claims := v.Proof.Claimed != "" && !v.Proof.Signed && proved.Evidence().IsValid()
	if claims && e.isOtherwiseForImpostors(r, allowed, allows(policy.Rules.Compiled.Default())) {
		return true
	}
	if own == nil && !e.Unnamed.Binds(v.Who.Class) {
		return false
	}
	paced := allowed && e.rate(own, v).Documents > 0
	if !allowed || paced {
		genuine := *v
		genuine.Proof.Standing = Verified
		if e.isExempt(ctx, &proved) || claims && e.Exempt.covers(&genuine) {
			return true
		}
	}
	if paced && (claims || v.Who.Key == "" && !client.IsNobody()) {
		return true
	}
	trial := *v
	return own != nil && e.isBanned(ctx, &proved, &trial)
}

// isOtherwiseForImpostors reports whether a claimant who fails gets another answer than one by its
// own record, which allows what it asked for or not, as the "*" record does.
func (e *Engine) isOtherwiseForImpostors(r *Request, own, all bool) bool {
	switch {
	case r.Origin.Kind == Doubtful:
		return own && !all
	case e.Impostors == ImpostorsRefuse:
		return own
	case e.Impostors == ImpostorsObserve:
		return false
	}
	return own != all
}

// isCaughtEarly reports whether a request in early data is that of a client that counts as a robot
// if the address is its own, or would make it one, and the "*" record asks something of it.
func (e *Engine) isCaughtEarly(ctx context.Context, r *Request, q *quarry, isTrapped bool) bool {
	if isTrapped {
		return true
	}
	if e.Traps.find(q, r.At) == nil {
		return false
	}
	all := e.policyFor(ctx, r, false).Compiled.Default()
	_, isPaced := all.Pace().At(r.At)
	isOpen, _, _ := all.Pace().Visit(r.At)
	return isPaced || !isOpen || !decide(all, r).Allowed()
}
