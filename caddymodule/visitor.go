package caddymodule

import (
	"net"
	"net/http"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-robots/caddy-robots/internal/policies"
)

// watch learns what the policies want to know from a request, and returns what serves it: next or,
// where a visitor of its host is wanted, a handler that looks at the answer of next.
func (h *Handler) watch(r *http.Request, next caddyhttp.Handler) caddyhttp.Handler {
	h.learnServer(r)
	host := policies.Host(r.Host)
	if _, target := originalTarget(r); target == "" || !h.policies.WantsVisitor(host) || r.Header.Get("User-Agent") == policies.FetcherName {
		return next
	}
	return watching{h, host, next}
}

// watching serves requests of a host of which a visitor is wanted.
type watching struct {
	handler *Handler
	host    string
	next    caddyhttp.Handler
}

// ServeHTTP implements caddyhttp.Handler.
func (s watching) ServeHTTP(w http.ResponseWriter, r *http.Request) error {
	rec := caddyhttp.NewResponseRecorder(w, nil, nil)
	err := s.next.ServeHTTP(rec, r)
	if err == nil && rec.Status() == http.StatusOK {
		s.handler.policies.Meet(s.host, visitorOf(r))
	}
	return err
}

// visitorOf returns who sent r: the peer and, where that is a proxy that the server trusts, the
// client behind it, in the header that the server reads. Nothing else of r is in it.
func visitorOf(r *http.Request) *policies.Visitor {
	v := &policies.Visitor{Peer: r.RemoteAddr}
	client, _ := caddyhttp.GetVar(r.Context(), caddyhttp.ClientIPVarKey).(string)
	peer, _, err := net.SplitHostPort(r.RemoteAddr)
	server := serverOf(r)
	if err == nil && client == peer || client == "" || server == nil || len(server.ClientIPHeaders) == 0 {
		return v
	}
	v.Header = make(http.Header)
	v.Header.Set(server.ClientIPHeaders[0], client)
	return v
}
