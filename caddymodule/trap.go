package caddymodule

import (
	"cmp"
	"hash/maphash"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/caddy-robots/caddy-robots/crawler"
	"github.com/caddy-robots/caddy-robots/robotsrules"
)

// maxCaught bounds how many clients are remembered at once; those longest caught make
// room.
const maxCaught = 1 << 16

// trapped are the clients that were caught, by site, address and User-Agent: a household has
// one address and people in it who did nothing. It outlives a config reload and is safe for
// concurrent use.
type trapped struct {
	seed maphash.Seed

	mu      sync.RWMutex // guards clients
	clients map[uint64]capture
}

// capture is the evidence against a client.
type capture struct {
	At        time.Time `json:"at"`
	Until     time.Time `json:"until"` // when it is let go
	Host      string    `json:"host"`
	Path      string    `json:"path"`
	Address   string    `json:"address"`
	UserAgent string    `json:"user_agent"`
}

func newTrapped() *trapped {
	return &trapped{seed: maphash.MakeSeed(), clients: make(map[uint64]capture)}
}

// key is the client's. Two clients have the same one with odds of 2^-64.
func (t *trapped) key(host, address, userAgent string) uint64 {
	var h maphash.Hash
	h.SetSeed(t.seed)
	for _, part := range [...]string{host, address} {
		_, _ = h.WriteString(part)
		_ = h.WriteByte(0)
	}
	_, _ = h.WriteString(userAgent[:min(len(userAgent), crawler.MaxLength)])
	return h.Sum64()
}

// has tells whether the client is still to be counted as a robot.
func (t *trapped) has(host, address, userAgent string, now time.Time) bool {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if len(t.clients) == 0 {
		return false
	}
	return now.Before(t.clients[t.key(host, address, userAgent)].Until)
}

// add remembers a client, and forgets those whose time is over or, if need be, those
// caught the longest ago. It tells whether the client is new.
func (t *trapped) add(c capture) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	key := t.key(c.Host, c.Address, c.UserAgent)
	old, known := t.clients[key]
	if !known && len(t.clients) >= maxCaught {
		t.shrink(c.At)
	}
	t.clients[key] = c
	return !known || !c.At.Before(old.Until)
}

// list returns the evidence against all who are still counted as robots, the newest first.
func (t *trapped) list(now time.Time) []capture {
	t.mu.RLock()
	defer t.mu.RUnlock()
	all := []capture{} // an empty list, not null, in JSON
	for _, c := range t.clients {
		if now.Before(c.Until) {
			all = append(all, c)
		}
	}
	slices.SortFunc(all, func(a, b capture) int { return b.At.Compare(a.At) })
	return all
}

// len returns how many clients are remembered, those whose time is over included.
func (t *trapped) len() int {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return len(t.clients)
}

// release forgets the clients of an address, and returns how many there were.
func (t *trapped) release(address string) int {
	address = plainAddress(address)
	t.mu.Lock()
	defer t.mu.Unlock()
	before := len(t.clients)
	maps.DeleteFunc(t.clients, func(_ uint64, c capture) bool { return c.Address == address })
	return before - len(t.clients)
}

// shrink makes room for a sixteenth more. Callers hold mu.
func (t *trapped) shrink(now time.Time) {
	maps.DeleteFunc(t.clients, func(_ uint64, c capture) bool { return !now.Before(c.Until) })
	keys := slices.SortedFunc(maps.Keys(t.clients), func(a, b uint64) int {
		return cmp.Compare(t.clients[a].At.UnixNano(), t.clients[b].At.UnixNano())
	})
	for _, key := range keys[:max(0, len(keys)-(maxCaught-maxCaught/16))] {
		delete(t.clients, key)
	}
}

// trappedRobot is whom a caught client counts as: a robot without a name, bound by the
// "*" record and no other.
var trappedRobot = &crawler.Identity{Class: crawler.Robot}

// springs tells whether the request goes into one of the traps: somebody asks for a path
// that the rules keep from all robots. A browser that fetches ahead of its user does not
// count, since nobody knows yet whether a person goes there.
func (h *Handler) springs(r *http.Request, a *asked) bool {
	path := a.path
	if a.peculiar() {
		path = resolve(path, foldSlashes)
	}
	if !h.isTrap(path) || prefetches(r) || isLed(r) || r.TLS != nil && !r.TLS.HandshakeComplete {
		return false
	}
	return !decide(h.loader.inForce(r, a.host).policy.Default(), a).Allowed()
}

func (h *Handler) isTrap(path string) bool {
	return slices.ContainsFunc(h.Trap, func(trap string) bool {
		return path == trap || strings.HasSuffix(trap, "/") && strings.HasPrefix(path, trap)
	})
}

// prefetches tells whether a browser says that it fetches ahead of its user.
func prefetches(r *http.Request) bool {
	for _, header := range []string{"Sec-Purpose", "Purpose", "X-Purpose", "X-Moz"} {
		value := strings.ToLower(r.Header.Get(header))
		if strings.Contains(value, "prefetch") || strings.Contains(value, "prerender") || strings.Contains(value, "preview") {
			return true
		}
	}
	return false
}

// isLed tells whether a browser says that a page of another site has it fetch this one (Fetch
// Metadata, Sec-Fetch-Site): its user was led here by somebody who may mean to have them caught.
func isLed(r *http.Request) bool {
	site := r.Header.Get("Sec-Fetch-Site")
	return site == "cross-site" || site == "same-site"
}

// caught tells whether the client of r counts as a robot, which this very request may bring
// about.
func (h *Handler) caught(r *http.Request, a *asked, sent string) bool {
	now, address := h.now(), clientAddress(r)
	if !h.springs(r, a) {
		return h.shared.trapped.has(a.host, address, sent, now)
	}
	c := capture{
		At: now, Until: now.Add(h.settings.trapFor), Host: strings.Clone(a.host), Path: a.path,
		Address: strings.Clone(address), UserAgent: strings.Clone(sent[:min(len(sent), crawler.MaxLength)]),
	}
	if h.shared.trapped.add(c) {
		h.notice.Info("robot trapped", zap.String("client_ip", c.Address), zap.String("user_agent", c.UserAgent),
			zap.String("host", c.Host), zap.String("path", c.Path), zap.Time("until", c.Until))
	}
	return true
}

// idleTraps returns the trap paths that the rules do not keep from all robots.
func idleTraps(policy *robotsrules.Policy, paths []string) []string {
	return slices.DeleteFunc(slices.Clone(paths), func(path string) bool {
		return !policy.Default().Decide(path).Allowed()
	})
}
