package policies

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/caddy-robots/caddy-robots/internal/proof/ipranges"
	"github.com/caddy-robots/caddy-robots/robotsrules"
)

// ownFetchKey marks, in a request's context, a request that we put through our own server.
type ownFetchKey struct{}

// IsOwnFetch reports whether ctx is of a request for robots.txt that a loader put through its own
// server. Such a request must not be judged.
func IsOwnFetch(ctx context.Context) bool {
	own, _ := ctx.Value(ownFetchKey{}).(bool)
	return own
}

// Origin is the server that a handler stands in, as the requests that it gets show it. A request
// for this site's own robots.txt is put through it, so that whatever serves the site answers, also
// when it is another route than the handler's.
type Origin struct {
	Server http.Handler
	Name   string               // the server's, as the config has it
	TLS    *tls.ConnectionState // nil for plain HTTP
	Local  net.Addr             // where it listens; nil if that is not known
}

// WantsRequests reports whether the loader has something to learn from the requests that come: the
// server that it is part of, or a visitor. It costs one atomic load.
func (l *Loader) WantsRequests() bool { return l.wants.Load() != 0 }

// LearnServer has the loader know the server it is part of, from a request. Only the first one
// counts.
func (l *Loader) LearnServer(o Origin) {
	if l.origin.Load() != nil {
		return
	}
	if o.TLS != nil {
		state := *o.TLS
		state.PeerCertificates, state.VerifiedChains = nil, nil // the visitor's, not ours
		state.HandshakeComplete = true
		o.TLS = &state
	}
	if l.origin.CompareAndSwap(nil, &o) {
		l.wants.Add(-1)
	}
}

// scheme is the origin's part of a URL.
func (o *Origin) scheme() string {
	if o.TLS != nil {
		return "https"
	}
	return "http"
}

// authority is the Host header of our requests for host: with the port we listen at where that is
// not the usual one.
func (o *Origin) authority(host string) string {
	if host == "" || isOdd(host) {
		return host // HTTP/1.0 has no Host header, and what is odd is asked for as it came
	}
	if addr, ok := o.Local.(*net.TCPAddr); ok && addr.Port != 0 && addr.Port != 80 && addr.Port != 443 {
		return net.JoinHostPort(strings.Trim(host, "[]"), strconv.Itoa(addr.Port))
	}
	return host
}

// connection is the TLS state of our own requests. Where the server itself speaks plain HTTP,
// behind a proxy that ends TLS, a site may send http to https: then our request shows what those
// of the proxy's clients would.
func (o *Origin) connection(host string) *tls.ConnectionState {
	state := tls.ConnectionState{Version: tls.VersionTLS13, HandshakeComplete: true}
	if o.TLS != nil {
		state = *o.TLS
	}
	state.ServerName = strings.Trim(host, "[]")
	return &state
}

// fetchOwn loads what this server answers to GET /robots.txt on a host.
func (l *Loader) fetchOwn(ctx context.Context, s *Site, last *Document) (Document, error) {
	o := l.origin.Load()
	if o == nil {
		return Document{}, errors.New("no request has come through a Caddy server yet")
	}
	doc, err := l.fetchAs(ctx, o, s, last, nil)
	// The 1996 draft reads a refusal as "stay out", to which no text adds anything.
	if err != nil || !doc.Forbidden || doc.foreign || l.cfg.Reading.Dialect == robotsrules.Draft1996 {
		s.want(false)
		return doc, err
	}
	return l.fetchAgain(ctx, o, s, last, doc)
}

// fetchAs loads what this server answers to GET /robots.txt on a host, from a connection of our own
// or as from a visitor's. Redirects to the same host go through the server again, others over HTTP
// to public addresses.
func (l *Loader) fetchAs(ctx context.Context, o *Origin, s *Site, last *Document, from *Visitor) (Document, error) {
	address := &url.URL{Scheme: o.scheme(), Host: o.authority(s.host), Path: Path}
	seen := make(map[string]bool, maxRedirects)
	for hops := maxRedirects; ; hops-- {
		seen[address.String()] = true
		a, err := l.throughServer(ctx, o, address, s, last, from)
		if err != nil {
			return Document{}, err
		}
		location, redirected := a.location()
		if !redirected {
			return a.document(last, l.cfg.Now())
		}
		next, err := address.Parse(location)
		if err != nil {
			return Document{}, fmt.Errorf("redirect to %q: %w", location, err)
		}
		if hops == 0 || seen[next.String()] {
			return Document{}, errRedirect
		}
		if !strings.EqualFold(next.Hostname(), address.Hostname()) {
			return l.fetchElsewhere(ctx, next, hops-1, last)
		}
		address = next
	}
}

// fetchElsewhere loads what this site's robots.txt redirects to on another host. Whoever serves the
// site need not be the owner of this server, and must not choose what is fetched in its network.
func (l *Loader) fetchElsewhere(ctx context.Context, address *url.URL, hops int, last *Document) (Document, error) {
	doc, err := l.cache.fetch(ctx, l.cache.outside, address.String(), l.cfg.Reading.MaxBytes, hops, last, l.cfg.Now())
	if errors.Is(err, ipranges.ErrNotPublic) {
		place := url.URL{Scheme: address.Scheme, Host: address.Host, Path: address.Path, RawPath: address.RawPath}
		return Document{}, fmt.Errorf("redirects to another host: %w; if it is to be followed, write source url %s", err, place.String())
	}
	doc.foreign = true
	return doc, err
}

// throughServer puts a GET for address through the server and waits for the answer, no longer
// than ctx. A handler that does not heed ctx is left to end on its own.
func (l *Loader) throughServer(
	ctx context.Context, o *Origin, address *url.URL, s *Site, last *Document, from *Visitor,
) (answer, error) {
	if s.running.Load() > 0 {
		return answer{}, errors.New("the load before this one still hangs")
	}
	ctx = context.WithValue(ctx, ownFetchKey{}, true)
	if o.Local != nil {
		ctx = context.WithValue(ctx, http.LocalAddrContextKey, o.Local)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, Path, http.NoBody)
	if err != nil {
		return answer{}, err
	}
	u := *address // not all that can be a Host header can be read as part of a URL
	req.URL, req.Host = &u, u.Host
	setHeaders(req, last)
	mark := l.cache.newMark(true)
	req.Header.Set(MarkHeader, mark.text)
	req.RequestURI = address.RequestURI()
	req.RemoteAddr = "127.0.0.1:0"
	if from != nil {
		req.RemoteAddr = from.Peer
		maps.Copy(req.Header, from.Header)
	}
	if s.host == "" {
		req.Proto, req.ProtoMinor = "HTTP/1.0", 0
	}
	if address.Scheme == "https" {
		req.TLS = o.connection(s.host)
	}

	rec := &recorder{header: make(http.Header), limit: l.cfg.Reading.MaxBytes}
	done := make(chan answer, 1)
	s.running.Add(1)
	go func() {
		a := rec.serve(o.Server, req)
		s.running.Add(-1)
		l.cache.end(mark)
		done <- a
	}()
	select {
	case a := <-done:
		return a, mark.check(a)
	case <-ctx.Done():
		return answer{}, fmt.Errorf("no whole answer within %s: %w", LoadTimeout, context.Cause(ctx))
	}
}

// recorder is the http.ResponseWriter of our own requests. It keeps the head of the body
// and lets the rest go. One goroutine uses it.
type recorder struct {
	header  http.Header
	limit   int // bytes of the body that are kept, and one more
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
		return fmt.Errorf("%d of %d bytes came", rec.written, length)
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
