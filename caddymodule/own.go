package caddymodule

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// robotsPath is where the rules are told (RFC 9309, 2.3).
const robotsPath = "/robots.txt"

// ownFetchKey marks, in a request's context, a request that this module puts through its
// own server.
type ownFetchKey struct{}

// origin is the server a handler stands in, as the requests it gets show it: a request
// for this site's own robots.txt is put through it, so that whatever serves the site
// answers, also when it is another route than the handler's.
type origin struct {
	server http.Handler
	name   string               // the server's, as the config has it
	tls    *tls.ConnectionState // nil for plain HTTP
	local  net.Addr
}

// originOf returns the server that r came through, nil if none can be seen.
func originOf(r *http.Request) *origin {
	server, ok := r.Context().Value(caddyhttp.ServerCtxKey).(*caddyhttp.Server)
	if !ok {
		return nil
	}
	o := &origin{server: server, name: server.Name()}
	if r.TLS != nil {
		state := *r.TLS
		state.PeerCertificates, state.VerifiedChains = nil, nil // the visitor's, not ours
		state.HandshakeComplete = true
		o.tls = &state
	}
	o.local, _ = r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	return o
}

// scheme is the origin's part of a URL.
func (o *origin) scheme() string {
	if o.tls != nil {
		return "https"
	}
	return "http"
}

// authority is the Host header of our requests for host: with the port we listen at where
// that is not the usual one.
func (o *origin) authority(host string) string {
	if host == "" || isOdd(host) {
		return host // HTTP/1.0 has no Host header, and what is odd is asked for as it came
	}
	bare := strings.Trim(host, "[]")
	if addr, ok := o.local.(*net.TCPAddr); ok && addr.Port != 80 && addr.Port != 443 {
		return net.JoinHostPort(bare, strconv.Itoa(addr.Port))
	}
	return host
}

// connection is the TLS state of our own requests. Where the server itself speaks plain
// HTTP, behind a proxy that ends TLS, a site may send http to https: then it is told what
// the proxy's clients have.
func (o *origin) connection(host string) *tls.ConnectionState {
	state := tls.ConnectionState{Version: tls.VersionTLS13, HandshakeComplete: true}
	if o.tls != nil {
		state = *o.tls
	}
	state.ServerName = strings.Trim(host, "[]")
	return &state
}

// fetchOwn loads what this server answers to GET /robots.txt on host. Redirects to the
// same host go through the server again, others over HTTP.
func (l *loader) fetchOwn(ctx context.Context, s *site, last *document) (document, error) {
	o := l.origin.Load()
	if o == nil {
		return document{}, errors.New("no request has come through a Caddy server yet")
	}
	address := &url.URL{Scheme: o.scheme(), Host: o.authority(s.host), Path: robotsPath}
	seen := make(map[string]bool, maxRedirects)
	for hops := maxRedirects; ; hops-- {
		seen[address.String()] = true
		a, err := l.throughServer(ctx, o, address, s, last)
		if err != nil {
			return document{}, err
		}
		location, redirected := a.location()
		if !redirected {
			return a.read(last, l.now())
		}
		next, err := address.Parse(location)
		if err != nil {
			return document{}, fmt.Errorf("redirect to %q: %w", location, err)
		}
		if hops == 0 || seen[next.String()] {
			return document{}, errRedirect
		}
		if !strings.EqualFold(next.Hostname(), address.Hostname()) {
			return l.fetchURL(ctx, next.String(), hops-1, last)
		}
		address = next
	}
}

// throughServer puts a GET for address through the server and waits for the answer, no
// longer than ctx. A handler that does not heed ctx is left to end on its own.
func (l *loader) throughServer(ctx context.Context, o *origin, address *url.URL, s *site, last *document) (answer, error) {
	if s.running.Load() > 0 {
		return answer{}, errors.New("the load before this one still hangs")
	}
	ctx = context.WithValue(ctx, ownFetchKey{}, true)
	if o.local != nil {
		ctx = context.WithValue(ctx, http.LocalAddrContextKey, o.local)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, robotsPath, http.NoBody)
	if err != nil {
		return answer{}, err
	}
	u := *address // not all that can be a Host header can be read as part of a URL
	req.URL, req.Host = &u, u.Host
	dress(req, last)
	req.RequestURI = address.RequestURI()
	req.RemoteAddr = "127.0.0.1:0"
	if s.host == "" {
		req.Proto, req.ProtoMinor = "HTTP/1.0", 0
	}
	if address.Scheme == "https" {
		req.TLS = o.connection(s.host)
	}

	rec := &recorder{header: make(http.Header), limit: l.settings.reading.MaxBytes}
	done := make(chan answer, 1)
	s.running.Add(1)
	go func() {
		a := rec.serve(o.server, req)
		s.running.Add(-1)
		done <- a
	}()
	select {
	case a := <-done:
		return a, nil
	case <-ctx.Done():
		return answer{}, fmt.Errorf("no whole answer within %s: %w", loadTimeout, ctx.Err())
	}
}

// recorder is the http.ResponseWriter of our own requests. It keeps the head of the body
// and lets the rest go. One goroutine uses it.
type recorder struct {
	header  http.Header
	limit   int // octets of the body that are kept, and one more
	status  int
	sent    http.Header // the header as it was when the status was written
	body    bytes.Buffer
	written int64
}

// serve runs the request through the server. A handler that breaks off panics with
// http.ErrAbortHandler, as reverse_proxy does when its upstream goes away in mid-body.
func (rec *recorder) serve(server http.Handler, req *http.Request) (a answer) {
	defer func() {
		broken := recover()
		rec.WriteHeader(http.StatusOK)
		a = answer{status: rec.status, header: rec.sent, body: rec.body.Bytes()}
		if rec.body.Len() <= rec.limit { // else there was more than is read anyway
			a.cut = rec.cut(broken)
		}
	}()
	server.ServeHTTP(rec, req)
	return a
}

// cut returns why the body is not whole, nil if it is; broken is what the handler panicked with.
func (rec *recorder) cut(broken any) error {
	length, err := strconv.ParseInt(rec.sent.Get("Content-Length"), 10, 64)
	switch {
	case broken == http.ErrAbortHandler:
		return errors.New("what answers it broke off")
	case broken != nil:
		return fmt.Errorf("what answers it panicked: %v", broken)
	case err == nil && rec.written < length:
		return fmt.Errorf("%d of %d octets came", rec.written, length)
	}
	return nil
}

// Header implements http.ResponseWriter.
func (rec *recorder) Header() http.Header { return rec.header }

// WriteHeader implements http.ResponseWriter.
func (rec *recorder) WriteHeader(status int) {
	if rec.status == 0 && status >= 200 {
		rec.status, rec.sent = status, rec.header.Clone()
	}
}

// Write implements http.ResponseWriter.
func (rec *recorder) Write(p []byte) (int, error) {
	rec.WriteHeader(http.StatusOK)
	rec.written += int64(len(p))
	if room := rec.limit + 1 - rec.body.Len(); room > 0 {
		rec.body.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

// Flush implements http.Flusher.
func (rec *recorder) Flush() { rec.WriteHeader(http.StatusOK) }
