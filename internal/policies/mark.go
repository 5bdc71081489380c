package policies

import (
	"crypto/rand"
	"errors"
	"net/http"
	"sync/atomic"
)

// MarkHeader carries the mark of our own requests for robots.txt: [Cache.Mark] knows it.
const MarkHeader = "Caddy-Robots-Fetch"

// Mark is of one of our own requests for robots.txt, or of those that a load over HTTP makes. It
// comes along where a proxy passes the request on, so that we know what comes back to us. It is safe
// for concurrent use.
type Mark struct {
	text   string
	isOwn  bool // it was put through our own server, so whatever serves the site is shown the mark
	depth  atomic.Int32
	looped atomic.Bool
}

// maxDepth is how many handlers of ours a request for robots.txt passes at most, one within the
// other, as proxies may lead from one site to the next.
const maxDepth = 8

// ErrLoop is the error for a robots.txt whose request leads back to where it came from.
var ErrLoop = errors.New("what serves robots.txt leads back to this site, as a proxy does that has this server as its upstream; let it lead to what has the file")

// newMark returns the mark of a load that begins; end follows.
func (c *Cache) newMark(isOwn bool) *Mark {
	m := &Mark{text: rand.Text(), isOwn: isOwn}
	c.marks.Store(m.text, m)
	return m
}

func (c *Cache) end(m *Mark) { c.marks.Delete(m.text) }

// Mark returns the mark of a request of this process that is under way, given the value of its
// [MarkHeader]; nil if it is none.
func (c *Cache) Mark(text string) *Mark {
	found, _ := c.marks.Load(text)
	m, _ := found.(*Mark)
	return m
}

// Covers reports whether a request for a path that shows the mark, which may be nil, is our own.
// What whoever serves a site is shown is worth nothing for other pages.
func (m *Mark) Covers(path string) bool { return m != nil && (!m.isOwn || path == Path) }

// Enter notes that a request with the mark passes a handler, until Leave is called. It returns
// [ErrLoop] for one that comes back again and again.
func (m *Mark) Enter() error {
	if m.depth.Add(1) <= maxDepth {
		return nil
	}
	m.Leave()
	m.looped.Store(true)
	return ErrLoop
}

// Leave follows Enter, where that returned no error.
func (m *Mark) Leave() { m.depth.Add(-1) }

// check returns [ErrLoop] if that is what an answer to a marked request comes of.
func (m *Mark) check(a answer) error {
	if m.looped.Load() && a.status >= http.StatusInternalServerError {
		return ErrLoop
	}
	return nil
}
