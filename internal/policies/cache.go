package policies

import (
	"crypto/rand"
	"net/http"
	"net/netip"
	"sync"

	"github.com/caddy-robots/caddy-robots/internal/proof/ipranges"
)

const (
	// maxHosts and maxHostText bound what is kept for the hosts that clients ask for: so many
	// of them, and so many bytes of robots.txt in all.
	maxHosts    = 1024
	maxHostText = 16 << 20
)

// Cache is what all loaders of a process have in common and what outlives a reload of the config:
// the compiled texts, the last good document of each source, and the previous policy of each host.
// It is bounded in size. It is safe for concurrent use; [NewCache] makes one.
type Cache struct {
	// IsPublic reports whether an address is one of the public internet. It is nil but in
	// tests, and must not change while the cache is in use.
	IsPublic func(netip.Addr) bool

	outside  *http.Client // connects to public addresses alone; tests have one that does not
	library  library
	lastGood *table[*Document]   // by Loader.documentKey
	history  *table[*remembered] // by Loader.Key

	// marks are those of our own loads over HTTP that are under way. Each is good for one
	// load, as it is shown to other servers; one that a proxy brings back here may reach
	// several sites.
	marks sync.Map
}

// NewCache returns an empty cache.
func NewCache() *Cache {
	return &Cache{
		outside:  publicClient,
		library:  newLibrary(),
		lastGood: newTable[*Document](maxHosts, maxHostText),
		history:  newTable[*remembered](maxHosts, maxHostText),
	}
}

// Len returns how many documents are kept, for use while their sources cannot be had.
func (c *Cache) Len() int { return c.lastGood.len() }

// mark returns a new mark, and what ends it.
func (c *Cache) mark() (mark string, end func()) {
	mark = rand.Text()
	c.marks.Store(mark, struct{}{})
	return mark, func() { c.marks.Delete(mark) }
}

// IsMark reports whether text, the value of a [MarkHeader], is the mark of a fetch of this process
// that is under way.
func (c *Cache) IsMark(text string) bool {
	_, ok := c.marks.Load(text)
	return ok
}

// isPublic reports whether an address is one of the public internet.
func (c *Cache) isPublic(addr netip.Addr) bool {
	if c.IsPublic != nil {
		return c.IsPublic(addr)
	}
	return ipranges.IsPublic(addr)
}
