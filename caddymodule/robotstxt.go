package caddymodule

import (
	"context"
	"net/http"
	"net/netip"
	"strconv"
	"strings"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-robots/caddy-robots/internal/compliance"
	"github.com/caddy-robots/caddy-robots/internal/enforce"
	"github.com/caddy-robots/caddy-robots/internal/policies"
)

// maxReaders bounds the readings of /robots.txt of which a name server is still to say whose
// they were.
const maxReaders = 64

// serveRobotsTxt answers /robots.txt, or has it answered, and notes who has read which text.
func (h *Handler) serveRobotsTxt(w http.ResponseWriter, next caddyhttp.Handler, x *exchange) error {
	turn := x.state.join()
	x.state.save()
	if x.request.Method == http.MethodGet {
		site := h.policies.Site(x.request.Host) // its rules may be loaded when this is over
		kept := *x                              // a copy, so that x need not escape
		defer func() {
			if kept.state.isLast(turn) {
				h.noteReading(&kept, site.Policy())
			}
		}()
	}
	if h.settings.serve && h.serveRules(w, x.r, x.request.Host) {
		return nil
	}
	return next.ServeHTTP(w, x.r)
}

// serveRules answers with the text that is enforced, also when it is empty. It returns false
// while there is none that could be told: robots are allowed everything then, unless the owner
// would have them stay out, which a robots.txt that answers 503 says too (RFC 9309, section
// 2.3.1.4).
func (h *Handler) serveRules(w http.ResponseWriter, r *http.Request, host string) bool {
	p := h.policies.PolicyFor(r.Context(), host)
	header := w.Header()
	refresh := strconv.Itoa(int(h.settings.refresh.Seconds()))
	if !p.Loaded {
		if p.Rules.Denied == "" {
			return false
		}
		header.Set("Retry-After", refresh)
		header.Set("Cache-Control", "no-store")
		http.Error(w, p.Rules.Denied, http.StatusServiceUnavailable)
		return true
	}
	header.Set("Content-Type", "text/plain; charset=utf-8")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Cache-Control", "max-age="+refresh)
	header.Set("ETag", `"`+p.Rules.Version+`"`)
	http.ServeContent(w, r, "", p.Modified, strings.NewReader(p.Rules.Text))
	return true
}

// noteReading notes that a client has read /robots.txt.
func (h *Handler) noteReading(x *exchange, p *policies.Policy) {
	v := &x.verdict
	e := v.Event()
	e.RobotsTxt = true
	if p != nil {
		e.Version, e.Record = p.Rules.Version, h.engine.Binding(&p.Rules.Rules, v).Token()
	}
	if e.Record == "" && enforce.MayBeAPerson(v.Who.Class) {
		return
	}
	h.app.counts.Reading(h.sitesOf(x.r).Of(v.Host), v, e.Record)
	if h.prover != nil {
		if token, ok := h.prover.ClaimOf(v.Who); ok {
			h.noteReader(e, token, x.request.Addr())
			return
		}
	}
	h.app.ledger.Note(&e)
}

// noteReader notes a reading by a client that claims to be a robot which can be checked. It
// waits for nothing: who reads the rules is served at once.
func (h *Handler) noteReader(e compliance.Event, token string, addr netip.Addr) {
	note := func(standing enforce.Standing) {
		e.Standing = standing.String()
		h.app.ledger.Note(&e)
	}
	standing, pending := h.prover.CheckAtOnce(token, addr)
	if pending {
		select {
		case h.app.readers <- struct{}{}:
			go func() {
				defer func() { <-h.app.readers }()
				note(h.prover.Check(context.Background(), token, addr))
			}()
			return
		default: // there are too many; it stays unverified
		}
	}
	note(standing)
}
