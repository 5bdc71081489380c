package caddymodule

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/caddy-robots/caddy-robots/internal/proof/ipranges"
)

const (
	// loadTimeout bounds one load of robots.txt, all redirects included, and with it
	// the wait of the first request of a host.
	loadTimeout = 5 * time.Second

	// maxRedirects is how many redirects a load follows (RFC 9309, 2.3.1.2).
	maxRedirects = 5

	// fetcherName is the User-Agent of our own requests.
	fetcherName = "caddy-robots-fetcher (reads robots.txt for this site)"
)

// answer is an HTTP answer to a request for robots.txt, from wherever it came.
type answer struct {
	status int
	header http.Header
	body   []byte // at most one octet more than is read of a robots.txt
	cut    error  // why the answer ended before it said it would; nil if it is whole

	from netip.Addr // whose it is; zero where it came through no connection of ours
}

// errRedirect is a load that ended in more redirects than are followed.
var errRedirect = fmt.Errorf("more than %d redirects, or one that leads back to itself", maxRedirects)

// httpClient fetches robots.txt from other servers, and publicClient from those on the public
// internet only. Redirects are followed, and counted, by the caller.
var (
	httpClient   = &http.Client{Timeout: loadTimeout, CheckRedirect: noRedirect}
	publicClient = &http.Client{Timeout: loadTimeout, CheckRedirect: noRedirect, Transport: publicTransport()}
)

func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

func publicTransport() *http.Transport {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DialContext = (&net.Dialer{Control: ipranges.RefusePrivate}).DialContext
	return transport
}

// fetchURL loads robots.txt over HTTP, following at most hops redirects.
func (l *loader) fetchURL(ctx context.Context, address string, hops int, last *document) (document, error) {
	return fetch(ctx, l.shared, address, l.settings.reading.MaxBytes, hops, last, l.now())
}

// fetch loads at most limit octets over HTTP, and one more to tell; last is what the text
// was before, if anything.
func fetch(ctx context.Context, sh *shared, address string, limit, hops int, last *document, now time.Time) (document, error) {
	// The mark lets this module know its own request again should the address lead back to
	// this server.
	mark := sh.mark()
	defer sh.unmark(mark)
	client := httpClient
	for ; ; hops-- {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
		if err != nil {
			return document{}, err
		}
		dress(req, last)
		req.Header.Set(markHeader, mark)
		a, err := roundTrip(client, req, limit)
		if err != nil {
			return document{}, err
		}
		location, redirected := a.location()
		if !redirected {
			return a.read(last, now)
		}
		if hops == 0 {
			return document{}, errRedirect
		}
		next, err := req.URL.Parse(location)
		if err != nil {
			return document{}, fmt.Errorf("redirect to %q: %w", location, err)
		}
		if sh.public(a.from) {
			// Who is out there does not choose what is fetched in the network in here.
			client = publicClient
		}
		address = next.String()
	}
}

// public tells whether an address is one of the public internet.
func (sh *shared) public(addr netip.Addr) bool {
	if sh.isPublic != nil {
		return sh.isPublic(addr)
	}
	return ipranges.IsPublic(addr)
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

// dress sets the headers of our own requests.
func dress(req *http.Request, last *document) {
	req.Header.Set("User-Agent", fetcherName)
	req.Header.Set("Accept", "text/plain, */*;q=0.1")
	if last == nil {
		return
	}
	if last.etag != "" {
		req.Header.Set("If-None-Match", last.etag)
	}
	if last.lastModified != "" {
		req.Header.Set("If-Modified-Since", last.lastModified)
	}
}

// location returns where a redirect leads.
func (a answer) location() (string, bool) {
	if a.status < 300 || a.status > 399 || a.status == http.StatusNotModified {
		return "", false
	}
	return a.header.Get("Location"), true
}

// read gives what the answer means for the rules: RFC 9309, 2.3.1. A 2xx is the text, a
// 4xx says that there are no rules, everything else is a failure that changes nothing.
func (a answer) read(last *document, now time.Time) (document, error) {
	doc := document{
		etag:         a.header.Get("ETag"),
		lastModified: a.header.Get("Last-Modified"),
		lifetime:     lifetime(a.header, now),
	}
	switch {
	case a.status == http.StatusNotModified && last != nil:
		doc.text, doc.forbidden = last.text, last.forbidden
		doc.etag, doc.lastModified = last.etag, last.lastModified
		return doc, nil
	case a.status >= 200 && a.status <= 299:
		if a.cut != nil {
			return document{}, fmt.Errorf("the answer was cut short: %w", a.cut)
		}
		if coding := a.header.Get("Content-Encoding"); coding != "" && coding != "identity" {
			return document{}, fmt.Errorf("the answer is encoded as %q, which was not asked for", coding)
		}
		doc.text = string(a.body)
		return doc, nil
	case a.status >= 400 && a.status <= 499:
		// A refusal carries no text whose validators could be asked with.
		return document{
			forbidden: a.status == http.StatusUnauthorized || a.status == http.StatusForbidden,
			lifetime:  doc.lifetime,
		}, nil
	default:
		return document{}, fmt.Errorf("answered %d %s", a.status, http.StatusText(a.status))
	}
}

// lifetime is how long an answer says it stays fresh: Cache-Control's max-age, else
// Expires (seed 001, 3.4; RFC 9309, 2.4). Zero when it does not say.
func lifetime(header http.Header, now time.Time) time.Duration {
	for directive := range strings.SplitSeq(strings.Join(header.Values("Cache-Control"), ","), ",") {
		name, value, _ := strings.Cut(strings.ToLower(strings.TrimSpace(directive)), "=")
		switch name {
		case "no-cache", "no-store":
			return 0
		case "max-age":
			seconds, err := strconv.ParseUint(strings.Trim(value, `"`), 10, 31)
			if err != nil {
				return 0
			}
			return time.Duration(seconds) * time.Second
		}
	}
	expires, err := http.ParseTime(header.Get("Expires"))
	if err != nil || !expires.After(now) {
		return 0
	}
	return expires.Sub(now)
}
