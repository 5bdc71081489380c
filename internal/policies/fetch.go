package policies

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"time"

	"github.com/caddy-robots/caddy-robots/internal/enforce"
	"github.com/caddy-robots/caddy-robots/internal/proof/ipranges"
)

const (
	// Path is where the rules are (RFC 9309, section 2.3).
	Path = enforce.RobotsTxt

	// LoadTimeout bounds one load of robots.txt, all redirects included, and with it the wait
	// of the first request of a host.
	LoadTimeout = 5 * time.Second

	// FetcherName is the User-Agent of our own requests.
	FetcherName = "caddy-robots-fetcher (reads robots.txt for this site)"

	// maxRedirects is how many redirects a load follows (RFC 9309, section 2.3.1.2).
	maxRedirects = 5
)

// errRedirect is a load that ended in more redirects than are followed.
var errRedirect = fmt.Errorf("more than %d redirects, or one that leads back to itself", maxRedirects)

// httpClient fetches robots.txt from other servers, and publicClient from those on the public
// internet only. Redirects are followed, and counted, by the caller.
var (
	httpClient   = &http.Client{Timeout: LoadTimeout, CheckRedirect: noRedirect}
	publicClient = &http.Client{Timeout: LoadTimeout, CheckRedirect: noRedirect, Transport: publicTransport()}
)

func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

func publicTransport() *http.Transport {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DialContext = (&net.Dialer{Control: ipranges.RefusePrivate}).DialContext
	transport.Proxy = nil // or nobody would see the address that is connected to
	return transport
}

// Fetch loads at most limit bytes over HTTP, and one more to show that there are more, following
// redirects; last is what the address gave before, if anything.
func (c *Cache) Fetch(ctx context.Context, address string, limit int, last *Document, now time.Time) (Document, error) {
	return c.fetch(ctx, httpClient, address, limit, maxRedirects, last, now)
}

// fetch is Fetch with at most so many hops, the first of them by a client.
func (c *Cache) fetch(
	ctx context.Context, client *http.Client, address string, limit, hops int, last *Document, now time.Time,
) (Document, error) {
	// By the mark we know our own request, should the address lead back to this server.
	mark := c.newMark(false)
	defer c.end(mark)
	for ; ; hops-- {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
		if err != nil {
			return Document{}, err
		}
		setHeaders(req, last)
		req.Header.Set(MarkHeader, mark.text)
		a, err := roundTrip(client, req, limit)
		if err == nil {
			err = mark.check(a)
		}
		if err != nil {
			return Document{}, err
		}
		location, redirected := a.location()
		if !redirected {
			return a.document(last, now)
		}
		if hops == 0 {
			return Document{}, errRedirect
		}
		next, err := req.URL.Parse(location)
		if err != nil {
			return Document{}, fmt.Errorf("redirect to %q: %w", location, err)
		}
		if c.isPublic(a.from) {
			// A server out there must not choose what is fetched in the network in here.
			client = c.outside
		}
		address = next.String()
	}
}

func roundTrip(client *http.Client, req *http.Request, limit int) (answer, error) {
	var from netip.Addr
	ctx := httptrace.WithClientTrace(req.Context(), &httptrace.ClientTrace{GotConn: func(got httptrace.GotConnInfo) {
		if peer, err := netip.ParseAddrPort(got.Conn.RemoteAddr().String()); err == nil {
			from = peer.Addr()
		}
	}})
	resp, err := client.Do(req.WithContext(ctx))
	if err != nil {
		return answer{}, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, int64(limit)+1))
	return answer{status: resp.StatusCode, header: resp.Header, body: body, cut: err, from: from}, nil
}

// setHeaders sets the headers of our own requests.
func setHeaders(req *http.Request, last *Document) {
	req.Header.Set("User-Agent", FetcherName)
	req.Header.Set("Accept", "text/plain, */*;q=0.1")
	if last == nil {
		return
	}
	if last.ETag != "" {
		req.Header.Set("If-None-Match", last.ETag)
	}
	if last.LastModified != "" {
		req.Header.Set("If-Modified-Since", last.LastModified)
	}
}
