package caddymodule

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// serveRobotsTxt has /robots.txt answered, and notes who has read which text.
func (h *Handler) serveRobotsTxt(w http.ResponseWriter, next caddyhttp.Handler, x *exchange) error {
	turn := x.state.join()
	x.state.save()
	if x.request.Method == http.MethodGet {
		site := h.policies.Site(x.request.Host) // its rules may be loaded when this is over
		kept := *x                              // a copy, so that x need not escape
		defer func() {
			if !kept.state.isLast(turn) {
				return
			}
			if h.prover != nil {
				h.engine.Locate(kept.r.Context(), &kept.request)
			}
			version, record := "", ""
			if p := site.Policy(); p != nil {
				version, record = p.Rules.Version, h.engine.Binding(&p.Rules.Rules, &kept.verdict).Token()
			}
			h.observers.noteReading(&kept, version, record, h.prover)
		}()
	}
	return next.ServeHTTP(w, x.r)
}

// serving answers a request for /robots.txt with the rules of a host or, while there are none, has
// what stands behind the handler answer it.
type serving struct {
	handler *Handler
	host    string
	next    caddyhttp.Handler
}

// ServeHTTP implements caddyhttp.Handler.
func (s serving) ServeHTTP(w http.ResponseWriter, r *http.Request) error {
	if s.handler.serveRules(w, r, s.host) {
		return nil
	}
	return s.next.ServeHTTP(w, r)
}

// serveRules answers with the text that is enforced, also when it is empty. It returns false
// while there is none: robots are allowed everything then, unless the owner
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
