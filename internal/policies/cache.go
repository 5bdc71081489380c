package policies

import (
	"cmp"
	"net/http"
	"net/netip"
	"sync"

	"github.com/caddy-robots/caddy-robots/internal/proof/ipranges"
)

// Cache is what all loaders of a process have in common and what outlives a reload of the config:
// the compiled texts, the last good document of each source, and the previous policy of each host.
// It is bounded in bytes. It is safe for concurrent use; [NewCache] makes one.
type Cache struct {
	// IsPublic reports whether an address is one of the public internet. It is nil but in
	// tests, and must not change while the cache is in use.
	IsPublic func(netip.Addr) bool

	outside   *http.Client // connects to public addresses alone; tests have one that does not
	library   library
	hosts     *hosts
	known     *pool // loads of hosts that are known, or were loaded before
	strangers *pool // and of all others
	gentle    gentle

	// marks are those of our own requests for robots.txt that are under way, by their text. Each is
	// good for one load, as it is shown to other servers; one that a proxy brings back here may
	// reach several sites.
	marks sync.Map
}

// NewCache returns an empty cache.
func NewCache() *Cache {
	return &Cache{
		outside: publicClient, library: newLibrary(), hosts: newHosts(),
		// Loads of known hosts are as many as there are such hosts at most. Those of others are as
		// many as there are robots that wait: after LoadTimeout none does, and the next one has it
		// begun again.
		known: newPool(0), strangers: newPool(LoadTimeout),
	}
}

// SetMemory has the cache hold no more than so many bytes of texts, compiled rules and hosts; 0 is
// [DefaultMemory]. What the config names is held all the same.
func (c *Cache) SetMemory(bytes int64) {
	c.hosts.mu.Lock()
	defer c.hosts.mu.Unlock()
	c.hosts.max = cmp.Or(bytes, DefaultMemory)
	c.hosts.shrink(c.hosts.max, nil)
}

// Held is what a [Cache] holds at a moment.
type Held struct {
	Hosts, Texts int
	Bytes        int64
}

// Held returns what is held.
func (c *Cache) Held() Held {
	c.hosts.mu.Lock()
	defer c.hosts.mu.Unlock()
	return Held{Hosts: len(c.hosts.byKey), Texts: len(c.hosts.texts), Bytes: c.hosts.weight}
}

// isPublic reports whether an address is one of the public internet.
func (c *Cache) isPublic(addr netip.Addr) bool {
	if c.IsPublic != nil {
		return c.IsPublic(addr)
	}
	return ipranges.IsPublic(addr)
}
