package caddymodule

import (
	"context"
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"
)

// site is what is known of one host, or of all of them where the sources do not differ.
type site struct {
	host    string
	current atomic.Pointer[edition]       // nil until the first load ended
	first   chan struct{}                 // closed when the first load ended
	ended   atomic.Int64                  // when the last load did, in Unix nanoseconds
	due     atomic.Int64                  // when to load again, likewise
	loading atomic.Pointer[chan struct{}] // nil when no load is under way; closed when it ends
	outcome atomic.Pointer[outcome]       // of the last load; nil before there was one
	running atomic.Int32                  // own requests that have not ended, also past the bound of their load

	// Only the load in progress touches these.
	documents []*document // the last good one of each part
	compiled  []*document // those that the current rules were made of
	failed    bool        // the last load did not go well, and the log says so
}

// isDue tells whether to load again. A clock that has stepped back, to well before the last
// load, would else have the site wait until it is where it was; a little before, now was read
// while that load ended.
func (s *site) isDue(now time.Time) bool {
	at := now.UnixNano()
	return at >= s.due.Load() || at+int64(time.Second) < s.ended.Load()
}

// outcome is how a load ended.
type outcome struct {
	loaded  time.Time // when a load last went well; zero if none did
	failure string    // what is wrong since then; "" if nothing is
}

// everLoaded tells whether any source ever gave an answer.
func (s *site) everLoaded() bool { return len(s.answered()) > 0 }

// answered returns the documents that there are.
func (s *site) answered() []*document {
	var there []*document
	for _, doc := range s.documents {
		if doc != nil {
			there = append(there, doc)
		}
	}
	return there
}

// part is one source as the loader sees it.
type part struct {
	name    string                   // for the log
	title   func(host string) string // for everybody who reads the text
	limited bool                     // only_disallow_all
	fixed   *document                // what it always gives; nil where it has to be asked
	fetch   func(ctx context.Context, s *site, last *document) (document, error)

	// key is under which its last good text is kept and its site is known again; "" for
	// nowhere, as long as that cannot be told.
	key func(host string) string

	// address is under which Caddy's storage keeps it; "" for not at all.
	address string
}

// sourcePart is a source that the owner named.
func (l *loader) sourcePart(src Source) part {
	p := part{
		name:    src.String(),
		title:   src.title,
		limited: src.OnlyDisallowAll,
		key: func(host string) string {
			place, _ := src.place(host) // the fetch reports the error
			return src.String() + "\x00" + place + src.Text
		},
		fetch: func(ctx context.Context, s *site, last *document) (document, error) {
			return l.fetchSource(ctx, src, s.host, last)
		},
	}
	if src.Text != "" {
		p.fixed = &document{text: src.Text}
	}
	if src.URL != "" && !src.perHost() {
		p.address, _ = src.place("") // check has seen that there is no error
	}
	return p
}

// ownPart is what this server answers at /robots.txt. Its key tells the hosts of one
// server from the same hosts of another.
func (l *loader) ownPart() part {
	return part{
		name: "this site's " + robotsPath,
		key: func(host string) string {
			o := l.origin.Load()
			if o == nil {
				return ""
			}
			return strings.Join([]string{"own", o.name, o.scheme(), host}, "\x00")
		},
		fetch: l.fetchOwn,
	}
}

// hostOf returns the host of r without port, in lower case: one that Caddy's host matcher
// tells from another is another, also by a final dot. A Host header that is neither a name
// nor an address in brackets is kept as it came. It allocates only for hosts that are not
// written that way.
func hostOf(r *http.Request) string {
	for _, c := range []byte(r.Host) {
		if !inPlainHost[c] {
			return plainHost(r.Host)
		}
	}
	return r.Host
}

// inPlainHost tells the octets of a host that is a name in small letters without a port.
var inPlainHost = func() (t [256]bool) {
	for c := range utf8.RuneSelf {
		t[c] = !strings.ContainsRune(":[]", rune(c)) && (c < 'A' || c > 'Z')
	}
	return t
}()

// plainHost is hostOf for one that is written in another way.
func plainHost(written string) string {
	host := written
	if i := strings.LastIndexByte(host, ':'); i >= 0 && strings.IndexByte(host[i:], ']') < 0 {
		host = host[:i]
	}
	if isOdd(host) {
		host = written
	}
	return strings.ToLower(host)
}

// isOdd tells whether a host without port is neither a name nor an address in brackets.
func isOdd(host string) bool {
	if !strings.ContainsAny(host, "[]:") {
		return false
	}
	inner, isOpen := strings.CutPrefix(host, "[")
	inner, isClosed := strings.CutSuffix(inner, "]")
	_, err := netip.ParseAddr(inner)
	return !isOpen || !isClosed || err != nil
}
