package caddymodule

import (
	"context"
	"net/http"
	"net/netip"

	"github.com/caddy-robots/caddy-robots/internal/compliance"
	"github.com/caddy-robots/caddy-robots/internal/enforce"
)

// maxReaders bounds the readings of /robots.txt of which a name server is still to say whose
// they were.
const maxReaders = 64

// atOnce is the context of a check that does not wait.
var atOnce = func() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}()

// reading begins a reading of /robots.txt. What it returns notes that it is over, and which
// text was read; it must be called.
func (h *Handler) reading(r *http.Request, a *asked, j *judgement) (over func()) {
	mine := j.vars.join()
	j.vars.leave()
	if a.method != http.MethodGet {
		return func() {}
	}
	h.arrives(j)
	site, addr := h.loader.siteOf(a.host), provedAddress(r)
	if site.current.Load() == nil {
		h.loader.begin(site) // it may be loaded when this is over
	}
	kept := *j // else every judgement would be one that has to be allocated
	return func() {
		if kept.vars.isLast(mine) {
			h.noteReading(r, site, addr, &kept)
		}
	}
}

// noteReading notes that a client has read the /robots.txt of a site.
func (h *Handler) noteReading(r *http.Request, s *site, addr netip.Addr, j *judgement) {
	e := j.event()
	e.RobotsTxt = true
	if rules := s.current.Load().held(); rules != nil {
		e.Version, e.Record = rules.version, h.binding(rules, j).Token()
	}
	if e.Record == "" && mayBeAPerson(j.who.Class) {
		return
	}
	h.countReading(r, e.Site, j, e.Record)
	if c := h.prover.claimOf(j.who); c != nil {
		h.noteReader(e, c, addr)
		return
	}
	h.shared.ledger.note(&e)
}

// noteReader notes a reading of one who claims to be a robot that can be checked. It waits
// for nothing: who reads the rules is served at once.
func (h *Handler) noteReader(e compliance.Event, c *claim, addr netip.Addr) {
	note := func(status enforce.Standing) {
		e.Standing = proof{claimed: c.token, status: status}.standing()
		h.shared.ledger.note(&e)
	}
	status := h.prover.check(atOnce, c, addr)
	if status == enforce.Unverified && addr.IsValid() && len(c.suffixes) > 0 {
		select {
		case h.shared.readers <- struct{}{}:
			go func() {
				defer func() { <-h.shared.readers }()
				note(h.prover.check(context.Background(), c, addr))
			}()
			return
		default: // there are too many; it stays unverified
		}
	}
	note(status)
}
