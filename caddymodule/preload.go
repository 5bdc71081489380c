package caddymodule

import (
	"crypto/tls"
	"net"
	"net/netip"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-robots/caddy-robots/internal/policies"
)

// preload has the rules of all hosts loaded that the config names. It is called when Caddy has
// started: a config that is refused changes nothing.
func (a *App) preload() {
	a.policies.SetMemory(a.HostsMemory)
	var sites []*policies.Site
	for _, s := range a.all() {
		s.find(s.server)
		if s.server != nil {
			s.policies.LearnServer(a.originOf(s.server))
		}
		if !s.policies.PerHost() {
			sites = append(sites, s.policies.Name(""))
			continue
		}
		for _, pattern := range s.named() {
			if !strings.Contains(pattern, "*") {
				sites = append(sites, s.policies.Name(hostOf(pattern)))
			}
		}
	}
	a.policies.Preload(a.ctx, sites, a.log)
}

// hostOf returns the host that requests for a pattern of a host matcher without wildcards name.
func hostOf(pattern string) string {
	if addr, err := netip.ParseAddr(strings.Trim(pattern, "[]")); err == nil && addr.Is6() {
		return "[" + addr.String() + "]"
	}
	return policies.Host(pattern)
}

// originOf returns a server as its config has it: where it listens, and whether that is TLS.
func (a *App) originOf(server *caddyhttp.Server) policies.Origin {
	o := policies.Origin{Server: server, Name: server.Name()}
	httpPort := caddyhttp.DefaultHTTPPort
	if app, err := a.ctx.AppIfConfigured("http"); err == nil {
		if port := app.(*caddyhttp.App).HTTPPort; port != 0 {
			httpPort = port
		}
	}
	for _, listen := range server.Listen {
		addr, err := caddy.ParseNetworkAddress(listen)
		if err != nil {
			continue
		}
		isTLS := len(server.TLSConnPolicies) > 0 && int(addr.StartPort) != httpPort
		if o.Local != nil && (o.TLS != nil || !isTLS) {
			continue // of several, one with TLS
		}
		if isTLS {
			o.TLS = &tls.ConnectionState{Version: tls.VersionTLS13, HandshakeComplete: true}
		}
		o.Local = localAddr(addr)
	}
	return o
}

// localAddr returns the address at which connections to a listener arrive.
func localAddr(addr caddy.NetworkAddress) net.Addr {
	if addr.IsUnixNetwork() {
		return &net.UnixAddr{Net: "unix", Name: addr.Host}
	}
	local := &net.TCPAddr{IP: net.ParseIP(addr.Host), Port: int(addr.StartPort)}
	if local.IP == nil || local.IP.IsUnspecified() {
		local.IP = net.IPv4(127, 0, 0, 1)
	}
	return local
}
