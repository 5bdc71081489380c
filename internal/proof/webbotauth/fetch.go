package webbotauth

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/caddy-robots/caddy-robots/internal/proof/ipranges"
)

// The limits of one fetch of a key directory.
const (
	directoryTimeout = 5 * time.Second
	maxDirectorySize = 64 << 10
	minDirectoryAge  = 5 * time.Minute
	maxDirectoryAge  = 24 * time.Hour
	unstatedAge      = time.Hour // for a directory that does not say how long it holds
	directoryType    = "application/http-message-signatures-directory+json"
)

// directoryFetcher gets key directories of signers. Every step is bounded: https, no redirects (the
// draft forbids them), no proxy, 64 KiB, five seconds; and public addresses only, unless the owner of
// the site has named the signer.
type directoryFetcher struct {
	public, inside *http.Client
	testKeys       bool
}

// newDirectoryFetcher uses a given client with redirects and cookies off, or its own.
func newDirectoryFetcher(given *http.Client) *directoryFetcher {
	client := func(transport http.RoundTripper) *http.Client {
		return &http.Client{
			Transport:     transport,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}
	}
	if given != nil {
		return &directoryFetcher{public: client(given.Transport), inside: client(given.Transport)}
	}
	transport := func(dialer net.Dialer) *http.Transport {
		dialer.Timeout = directoryTimeout
		return &http.Transport{
			DialContext:            dialer.DialContext,
			TLSHandshakeTimeout:    directoryTimeout,
			MaxResponseHeaderBytes: 16 << 10,
			DisableKeepAlives:      true, // the next fetch from there is minutes away
			DisableCompression:     true,
			ForceAttemptHTTP2:      true,
		}
	}
	return &directoryFetcher{
		public: client(transport(net.Dialer{Control: ipranges.RefusePrivate})),
		inside: client(transport(net.Dialer{})),
	}
}

// fetch returns the keys that are published at a place and how long they hold.
func (f *directoryFetcher) fetch(ctx context.Context, at place) (map[string]signingKey, time.Duration, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at.url, nil)
	if err != nil {
		return nil, 0, errNoDirectory
	}
	req.Header.Set("Accept", directoryType+", application/jwk-set+json, application/json")
	req.Header.Set("User-Agent", "caddy-robots (+https://github.com/caddy-robots/caddy-robots)")
	client := f.public
	if at.inside {
		client = f.inside
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, 0, withoutURL(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, 0, fmt.Errorf("it answered %d instead of 200", resp.StatusCode)
	}
	if !mayHoldKeys(resp.Header.Get("Content-Type")) {
		return nil, 0, errors.New("it is not served as JSON")
	}
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxDirectorySize+1))
	if err != nil {
		return nil, 0, withoutURL(err)
	}
	if len(text) > maxDirectorySize {
		return nil, 0, errors.New("it is longer than 64 KiB")
	}
	keys, err := parseKeys(text, f.testKeys)
	return keys, directoryAge(resp.Header), err
}

// mayHoldKeys is lenient: directories on static hosts come as plain JSON, as text, or as bytes.
// Only what is plainly something else is refused.
func mayHoldKeys(contentType string) bool {
	if contentType == "" {
		return true
	}
	kind, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		return false
	}
	return strings.HasSuffix(kind, "json") || kind == "text/plain" || kind == "application/octet-stream"
}

// directoryAge returns how long a directory holds: the max-age it states, within 5 minutes and a
// day; an hour if it states none.
func directoryAge(h http.Header) time.Duration {
	age := unstatedAge
	for directive := range strings.SplitSeq(strings.Join(h.Values("Cache-Control"), ","), ",") {
		name, value, _ := strings.Cut(strings.ToLower(strings.TrimSpace(directive)), "=")
		switch name {
		case "no-store", "no-cache":
			return minDirectoryAge
		case "max-age":
			if seconds, err := strconv.ParseUint(strings.Trim(value, `"`), 10, 31); err == nil {
				age = time.Duration(seconds) * time.Second
			}
		}
	}
	return min(max(age, minDirectoryAge), maxDirectoryAge)
}

// withoutURL drops the address from an error, for the reason is read beside the agent, and cuts it
// short: an error about a certificate repeats the names in it, which the other side chose.
func withoutURL(err error) error {
	const atMost = 200
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err
	}
	if text := err.Error(); len(text) > atMost {
		return errors.New(text[:atMost] + "...")
	}
	return err
}
