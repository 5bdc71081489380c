package caddymodule

import (
	"context"
	"math"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
)

// site is what is known of one host, or of all of them where the sources do not differ.
type site struct {
	host    string
	current atomic.Pointer[ruleset] // nil until the first load ended
	first   chan struct{}           // closed when the first load ended
	due     atomic.Int64            // when to load again, in Unix nanoseconds
	loaded  atomic.Int64            // when the oldest of documents was, in Unix nanoseconds; 0: not all were
	loading atomic.Bool
	running atomic.Int32 // own requests that have not ended, also past the bound of their load

	// Only the load in progress touches these.
	documents []*document // the last good one of each part
	failed    bool        // the last load did not go well, and the log says so
}

// everLoaded tells whether any source ever gave an answer.
func (s *site) everLoaded() bool {
	return slices.ContainsFunc(s.documents, func(d *document) bool { return d != nil })
}

// lastLoad is when the oldest of the documents was loaded, in Unix nanoseconds; 0 while one is
// missing.
func (s *site) lastLoad() int64 {
	oldest := int64(math.MaxInt64)
	for _, doc := range s.documents {
		if doc == nil {
			return 0
		}
		oldest = min(oldest, doc.at.UnixNano())
	}
	return oldest
}

// part is one source as the loader sees it.
type part struct {
	name  string
	key   func(host string) string // under which its last good text is kept; "" for nowhere
	fetch func(ctx context.Context, s *site, last *document) (document, error)
}

// sourcePart is a source that the owner named.
func (l *loader) sourcePart(src Source) part {
	return part{
		name: src.String(),
		key: func(host string) string {
			if src.Text != "" {
				return "" // it is always at hand, and another handler's is another text
			}
			place, _ := src.place(host) // the fetch reports the error
			return src.String() + "\x00" + place
		},
		fetch: func(ctx context.Context, s *site, last *document) (document, error) {
			return l.fetchSource(ctx, src, s.host, last)
		},
	}
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

// hostOf returns the host of r without port and final dot, in lower case. It allocates
// only for hosts that are not written that way.
func hostOf(r *http.Request) string {
	host := r.Host
	if i := strings.LastIndexByte(host, ':'); i >= 0 && strings.IndexByte(host[i:], ']') < 0 {
		host = host[:i]
	}
	return strings.ToLower(strings.TrimSuffix(host, "."))
}
