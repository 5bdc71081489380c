package enforce

import (
	"context"

	"github.com/caddy-robots/caddy-robots/crawler"
)

// Disallows reports whether the rules of the host disallow to a robot what r asks for, whoever has
// sent r, as ByRules has it without options. It waits for nothing, and reports false while no rules
// are loaded and for the answer to an ACME challenge.
func (e *Engine) Disallows(ctx context.Context, r *Request, robot *crawler.Identity) bool {
	if r.IsChallenge() {
		return false
	}
	policy := e.policyFor(ctx, r, false)
	return policy.Loaded && withoutOptions.ByRules(policy.Rules, r, robot).Kind == Disallowed
}

var withoutOptions Engine
