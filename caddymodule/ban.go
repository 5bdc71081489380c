package caddymodule

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/caddyserver/caddy/v2"
	"go.uber.org/zap"

	"github.com/caddy-robots/caddy-robots/crawler"
	"github.com/caddy-robots/caddy-robots/internal/enforce"
	"github.com/caddy-robots/caddy-robots/internal/ratelimit"
)

// Ban says when a robot is refused altogether: after so many disobedient requests within a
// time, for another. Disobedient is what is refused as disallowed, too fast, or as an
// impostor's.
type Ban struct {
	// How many disobedient requests, from 1 to 1000.
	Offences int `json:"offences"`

	// The time within which they come.
	Within caddy.Duration `json:"within"`

	// How long the robot is refused.
	For caddy.Duration `json:"for"`
}

// maxBan bounds both times of a ban.
const maxBan = 366 * 24 * time.Hour

// policy returns what the option means, nil if it is not set.
func (b *Ban) policy() (*ratelimit.BanPolicy, error) {
	if b == nil {
		return nil, nil
	}
	p := &ratelimit.BanPolicy{Offences: b.Offences, Within: time.Duration(b.Within), For: time.Duration(b.For)}
	if p.Offences < 1 || p.Offences > ratelimit.MaxOffences {
		return nil, fmt.Errorf("ban: %d disobedient requests: write a number from 1 to %d", p.Offences, ratelimit.MaxOffences)
	}
	for _, d := range []time.Duration{p.Within, p.For} {
		if d < time.Second || d > maxBan {
			return nil, fmt.Errorf("ban: %s: write a duration from 1s to 366d", d)
		}
	}
	return p, nil
}

// checkBan returns an error for a ban that nothing could bring about.
func (h *Handler) checkBan(s settings) error {
	if h.Ban != nil && s.disallowed != refuse && s.tooFast == observe && s.impostors != impostorsRefuse {
		return errors.New("ban: nothing is refused that would count towards it; remove ban, or write disallowed refuse or too_fast refuse")
	}
	return nil
}

// bannable tells whether the client may be banned. A browser may not, even where the owner
// has robots.txt bind it: from its address other people come.
func (h *Handler) bannable(j *judgement) bool {
	return h.settings.ban != nil && j.who.Class != crawler.Browser
}

// answerable is the address that answers for the client's disobedience: its own, since
// others may use the same name, or none where the robot is known to be who it says.
func (h *Handler) answerable(r *http.Request, j *judgement) string {
	if j.proof.claimed != "" && j.proof.status == enforce.Verified {
		return ""
	}
	return clientAddress(r)
}

// banned tells whether the client is banned, and notes the verdict.
func (h *Handler) banned(r *http.Request, j *judgement) bool {
	if !h.bannable(j) {
		return false
	}
	bans, now := h.shared.memory.Bans(), h.now()
	if bans.None(now) {
		return false
	}
	ban, ok := bans.Find(h.budget(r, j), h.answerable(r, j), now)
	if ok {
		h.sentence(j, &ban, ban.Until.Sub(now))
	}
	return ok
}

// sentence notes that the client is banned.
func (h *Handler) sentence(j *judgement, ban *ratelimit.Ban, left time.Duration) {
	j.line, j.rule, j.until, j.retryAfter = ban.Line, ban.Rule, ban.Until, left
	h.against(j, Banned, refuse)
}

// offend counts a disobedient request.
func (h *Handler) offend(r *http.Request, j *judgement) {
	if !h.bannable(j) {
		return
	}
	result, _ := h.limiter.Take(r.Context(), ratelimit.Request{
		Key: h.budget(r, j), Ban: h.settings.ban, Address: h.answerable(r, j),
		Offence: true, Line: j.line, Rule: j.cause(),
	}, h.now())
	if result.New {
		h.tellBan(r, j, result.Ban)
	}
}

// tellBan tells the log of a ban.
func (h *Handler) tellBan(r *http.Request, j *judgement, ban *ratelimit.Ban) {
	h.shared.metrics.newBans.Add(1)
	message := "robot banned"
	if h.settings.observe {
		message = "robot observed, not banned"
	}
	h.notice.Info(message, zap.String("robot", j.who.Name), zap.String("class", j.who.Class.String()),
		zap.String("host", ban.Key.Site), zap.String("address", ban.Address), zap.Time("until", ban.Until),
		zap.Int("line", ban.Line), zap.String("rule", ban.Rule), zap.String("reason", j.reason()))
}
