package enforce

import (
	"context"
	"time"

	"github.com/caddy-robots/caddy-robots/crawler"
	"github.com/caddy-robots/caddy-robots/internal/ratelimit"
)

// isBannable reports whether the client may be banned. A browser may not, even where the owner
// has robots.txt bind it: from its address other people come. Nor may a client that was caught in
// a trap, which may be a browser too.
func (e *Engine) isBannable(v *Verdict) bool {
	return e.Ban != nil && v.Who.Class != crawler.Browser && v.Capture == nil
}

// banAddress is the address that answers for the client's disobedience: its own, since others
// may use the same name, or none where the robot is known to be who it says.
func banAddress(r *Request, v *Verdict) string {
	if v.Proof.IsVerified() {
		return ""
	}
	return r.Address
}

// isBanned reports whether the client is banned, and notes the verdict.
func (e *Engine) isBanned(r *Request, v *Verdict) bool {
	if !e.isBannable(v) || e.Bans.None(r.At) {
		return false
	}
	ban, ok := e.Bans.Find(e.budget(r, v), banAddress(r, v), r.At)
	if ok {
		e.ban(v, &ban, ban.Until.Sub(r.At))
	}
	return ok
}

// ban notes that the client is banned.
func (e *Engine) ban(v *Verdict, ban *ratelimit.Ban, left time.Duration) {
	v.Line, v.Rule, v.Until, v.RetryAfter = ban.Line, ban.Rule, ban.Until, left
	v.against(&e.Options, Banned, Refuse)
}

// countOffence counts a disobedient request towards a ban.
func (e *Engine) countOffence(ctx context.Context, r *Request, v *Verdict) {
	if !e.isBannable(v) {
		return
	}
	result, _ := e.Limiter.Take(ctx, ratelimit.Request{
		Key: e.budget(r, v), Ban: e.Ban, Address: banAddress(r, v),
		Offence: true, Line: v.Line, Rule: v.Cause(),
	}, r.At)
	if result.New {
		v.NewBan = result.Ban
	}
}
