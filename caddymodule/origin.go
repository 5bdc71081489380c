package caddymodule

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strconv"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"

	"github.com/caddy-robots/caddy-robots/internal/enforce"
)

// Locate implements enforce.Origins: it says where a request came from, as Caddy knows it.
func (h *Handler) Locate(ctx context.Context, peer string, header map[string][]string) enforce.Origin {
	c := connectionOf(ctx, h.server, peer, header)
	o := c.Origin()
	if o.Kind != enforce.Known && (h.Verify != nil || h.Ban != nil || len(h.Trap) > 0) {
		h.app.told.proxy.Do(func() { h.warnOfProxy(&o) })
	}
	return o
}

// connectionOf returns what Caddy knows of who sends a request to a server, which may be nil.
func connectionOf(ctx context.Context, server *caddyhttp.Server, peer string, header map[string][]string) enforce.Connection {
	vars, _ := ctx.Value(caddyhttp.VarsCtxKey).(map[string]any)
	c := enforce.Connection{Peer: peer, Header: header}
	c.Client, _ = vars[caddyhttp.ClientIPVarKey].(string)
	c.Trusted, _ = vars[caddyhttp.TrustedProxyVarKey].(bool)
	if server != nil {
		c.Strict, c.Told = server.TrustedProxiesStrict > 0, server.ClientIPHeaders
	}
	return c
}

// warnOfProxy says that the addresses of clients are not known, and what to write.
func (h *Handler) warnOfProxy(o *enforce.Origin) {
	instead := `if this is a proxy of yours, write in the global options: servers { trusted_proxies static ` + o.Peer + ` and trusted_proxies_strict }; ` +
		`behind a CDN its ranges, and client_ip_headers with the header in which it tells one address, such as CF-Connecting-IP. ` +
		`If it is a client of your own network, nothing is to be done`
	if o.Kind == enforce.Forgeable {
		instead = "write trusted_proxies_strict beside trusted_proxies, or client_ip_headers with a header of one address; without it Caddy takes the first of several, which the client may have written"
	}
	h.log.Warn("the addresses of clients are not known here: verify proves nothing by them, and trap and ban catch few or nobody",
		zap.String("peer", o.Peer), zap.String("address", o.Address), zap.String("forwarded", o.Forwarded[:min(len(o.Forwarded), 200)]), zap.String("instead", instead))
}

// errTooEarly is the error of a request in early data that has to be sent again.
var errTooEarly = errors.New("the TLS handshake is not complete, so that the client's address proves nothing yet")

// isEarly reports whether the request came in the early data of a TLS handshake (0-RTT), which is
// not complete: anybody can send a copy of it, under any address.
func isEarly(r *http.Request) bool { return r.TLS != nil && !r.TLS.HandshakeComplete }

// portOf returns the one port that a server listens at, noPort where that is a Unix socket, and 0
// where only a request can tell, since it has several.
func portOf(server *caddyhttp.Server) (port int) {
	if server == nil {
		return noPort
	}
	for _, listen := range server.Listen {
		address, err := caddy.ParseNetworkAddress(listen)
		if err != nil || address.PortRangeSize() != 1 {
			return 0
		}
		own := int(address.StartPort)
		if address.IsUnixNetwork() {
			own = noPort
		}
		if port != 0 && port != own {
			return 0
		}
		port = own
	}
	return port
}

const noPort = -1

// site returns the name of the site that a request is for, as paces, bans and traps go by: its
// host and the port of the listener, whatever port the client states. As in a URL, the default
// ports of HTTP and HTTPS are left out. Caddys that share may each listen at another port: there it
// is the host.
func (h *Handler) site(x *exchange) string {
	if h.app.Share != nil {
		return x.request.Host
	}
	port := h.port
	if port == 0 {
		switch local, _ := x.r.Context().Value(http.LocalAddrContextKey).(net.Addr); local := local.(type) {
		case *net.TCPAddr:
			port = local.Port
		case *net.UDPAddr:
			port = local.Port
		}
	}
	switch host := x.request.Host; {
	case port <= 0 || port == 80 || port == 443 || host == "":
		return host
	default:
		return withPort(host, x.r.Host, port)
	}
}

// withPort returns a host with a port: as the client has written it, which costs no allocation,
// where that says the same.
func withPort(host, written string, port int) string {
	var buffer [6]byte
	end := strconv.AppendInt(append(buffer[:0], ':'), int64(port), 10)
	if rest, ok := strings.CutPrefix(written, host); ok && rest == string(end) {
		return written
	}
	return host + string(end)
}
