package enforce

import (
	"context"
	"time"

	"github.com/caddy-robots/caddy-robots/crawler"
	"github.com/caddy-robots/caddy-robots/internal/ratelimit"
)

// banAddress returns who answers for the client's disobedience: the client, since others may use
// the same name, or "" where the robot is known to be who it says. Not ok is who may not be banned:
// a browser, even where the owner has robots.txt bind it, since other people come from its address;
// a client that was caught in a trap, which may be a browser too; and who cannot be told from others.
func (e *Engine) banAddress(ctx context.Context, r *Request, v *Verdict) (address string, ok bool) {
	switch {
	case e.Ban == nil || v.Who.Class == crawler.Browser || v.Capture != nil:
		return "", false
	case v.Proof.IsVerified():
		return "", true
	}
	client := e.client(ctx, r)
	return client.String(), !client.IsNobody()
}

// isBanned reports whether the client is banned, and notes the verdict.
func (e *Engine) isBanned(ctx context.Context, r *Request, v *Verdict) bool {
	if e.Ban == nil || e.Bans.None(r.At) {
		return false
	}
	key, address, ok := e.offender(ctx, r, v)
	if !ok {
		return false
	}
	ban, ok := e.Bans.Find(key, address, r.At)
	if ok {
		e.ban(v, &ban, ban.Until.Sub(r.At))
	}
	return ok
}

// offender returns the budget and the address that a ban of the client goes by; not ok is who may
// not be banned.
func (e *Engine) offender(ctx context.Context, r *Request, v *Verdict) (key ratelimit.Key, address string, ok bool) {
	if address, ok = e.banAddress(ctx, r, v); ok {
		key, ok = e.budget(ctx, r, v)
	}
	return key, address, ok
}

// ban notes that the client is banned.
func (e *Engine) ban(v *Verdict, ban *ratelimit.Ban, left time.Duration) {
	v.Line, v.Rule, v.Until, v.RetryAfter = ban.Line, ban.Rule, ban.Until, left
	v.against(Banned, Refuse)
}

// countOffence counts a disobedient request towards a ban.
func (e *Engine) countOffence(ctx context.Context, r *Request, v *Verdict) {
	key, address, ok := e.offender(ctx, r, v)
	if !ok {
		return
	}
	result, _ := e.Limiter.Take(ctx, ratelimit.Request{
		Key: key, Ban: e.Ban, Address: address,
		Offence: true, Line: v.Line, Rule: v.Cause(),
	}, r.At)
	if result.New {
		v.NewBan = result.Ban
	}
}
