package policies

import (
	"context"
	"fmt"
	"net/http"

	"github.com/caddy-robots/caddy-robots/robotsrules"
)

// Visitor is a client that a site has answered 200. If a firewall admits only the proxies of a CDN,
// it refuses our own fetch of robots.txt, but not a fetch with the address of a visitor's
// connection. It does not change.
type Visitor struct {
	Peer   string      // where the connection comes from, as http.Request has it
	Header http.Header // says which client is behind a proxy that the server trusts; nil: none is

	worked bool // robots.txt was answered as from there
}

// refusal is how far a site refuses its robots.txt, with 401 or 403. The zero refusal is that it
// does not, or that more is not known.
type refusal uint8

// The refusals.
const (
	refusedToUs refusal = iota + 1 // visitors are answered
	refusedToAll
)

// want says whether the site wants a visitor.
func (s *Site) want(wanted bool) {
	if wanted && s.gone.Load() || !s.wants.CompareAndSwap(!wanted, wanted) {
		return
	}
	if wanted {
		s.loader.wants.Add(1)
	} else {
		s.loader.wants.Add(-1)
	}
}

// WantsVisitor reports whether the host needs a visitor that the site has answered 200.
func (l *Loader) WantsVisitor(host string) bool {
	s := l.held(host)
	return s != nil && s.wants.Load()
}

// Meet takes a visitor that a host has answered 200, and loads its robots.txt with the visitor's
// address, unless another visitor was faster.
func (l *Loader) Meet(host string, v *Visitor) {
	s := l.held(host)
	if s == nil || !s.wants.Load() {
		return
	}
	s.record.visitor.Store(v)
	s.want(false)
	go func() { _, _ = l.Refresh(l.life, host) }() // after the load that wants him, which has told of refusals
}

// fetchAgain asks again for a robots.txt that was refused, with the address of a visitor's
// connection. It may add rules. It never removes any: an answer to an earlier visitor holds until a
// newer visitor, whom the site has answered 200 since, is refused.
func (l *Loader) fetchAgain(ctx context.Context, o *Origin, s *Site, last *Document, refused Document) (Document, error) {
	wasTold := last != nil && last.refused == refusedToUs
	v := s.record.visitor.Load()
	if v == nil {
		s.want(true)
		if wasTold {
			return Document{}, fmt.Errorf("answered %d, and no visitor is known as whom to ask", refused.Status)
		}
		return refused, nil
	}
	doc, err := l.fetchAs(ctx, o, s, last, v)
	if err == nil && robotsrules.IsHTML(doc.Text) {
		err = errPage
	}
	switch {
	case err == nil && doc.Status == 0:
		if !v.worked {
			s.record.visitor.CompareAndSwap(v, &Visitor{Peer: v.Peer, Header: v.Header, worked: true})
		}
		doc.refused, doc.refusedStatus = refusedToUs, refused.Status
		return doc, nil
	case err != nil && wasTold:
		return Document{}, fmt.Errorf("answered %d; asked as a visitor: %w", refused.Status, err)
	case err == nil && doc.Forbidden && !doc.foreign:
		s.record.visitor.CompareAndSwap(v, nil)
		if v.worked && wasTold {
			s.want(true)
			return Document{}, fmt.Errorf("answered %d, and %d to the visitor as whom it was asked for", refused.Status, doc.Status)
		}
		refused.refused = refusedToAll
	}
	return refused, nil
}
