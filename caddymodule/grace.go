package caddymodule

import (
	"fmt"
	"net/http"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-robots/caddy-robots/robotsrules"
)

// maxGrace is the longest time for which a robot may go by an earlier robots.txt.
const maxGrace = 30 * 24 * time.Hour

// readGrace reads the option.
func readGrace(d caddy.Duration) (time.Duration, error) {
	if grace := time.Duration(d); grace >= 0 && grace <= maxGrace {
		return grace, nil
	}
	return 0, fmt.Errorf("grace %s: write a duration up to 30d", time.Duration(d))
}

// before is what held for a client before the rules changed, as long as it may still go by
// it.
type before struct {
	rules   *ruleset
	binding *robotsrules.Binding
}

// inGrace returns what held before the rules changed, nil if the client cannot go by that any
// longer: it has read the new text, or had time to.
func (h *Handler) inGrace(r *http.Request, e *edition, j *judgement) *before {
	if h.settings.grace == 0 || e.earlier == nil || h.now().Sub(e.earlier.changed) >= h.settings.grace {
		return nil
	}
	read, version := h.shared.ledger.Fetched(j.site, j.who.Name, j.who.Class.String(), j.proof.standing())
	if version == e.version || read.After(e.earlier.changed) {
		return nil
	}
	return &before{e.earlier.rules, h.binding(e.earlier.rules, j)}
}

// allowedBefore tells whether what the rules of now disallow was allowed by those before.
func (h *Handler) allowedBefore(a *asked, j *judgement) bool {
	if j.before == nil {
		return false
	}
	then := *j
	if !h.allows(j.before.rules, j.before.binding, a, &then) {
		return false
	}
	j.decision, j.denied, j.line, j.rule = robotsrules.Decision{Binding: j.decision.Binding}, "", 0, ""
	return true
}

// welcomes tells whether a visit was welcome before.
func (b *before) welcomes(now time.Time) bool {
	if b == nil {
		return false
	}
	open, _, _ := b.binding.Pace().Visit(now)
	return open
}
