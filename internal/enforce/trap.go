package enforce

import (
	"cmp"
	"context"
	"hash/maphash"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/caddy-robots/caddy-robots/crawler"
)

// maxCaught bounds how many clients are remembered at once; those caught the longest ago make
// room.
const maxCaught = 1 << 16

// Traps are the clients that were caught in a trap, by site, client and User-Agent: a household
// has one address, and people in it who did nothing. It is safe for concurrent use; NewTraps
// makes one.
type Traps struct {
	seed maphash.Seed

	mu      sync.RWMutex // guards clients
	clients map[uint64]*Capture
}

// Capture is the evidence against a client that was caught. It does not change.
type Capture struct {
	At        time.Time `json:"at"`
	Until     time.Time `json:"until"` // when it is released
	Host      string    `json:"host"`
	Path      string    `json:"path"`
	Address   string    `json:"address"` // of the client, as Client.String has it
	UserAgent string    `json:"user_agent"`
}

// quarry is who may be caught.
type quarry struct {
	site      string
	client    Client
	userAgent string
}

// NewTraps returns traps that have caught nobody.
func NewTraps() *Traps {
	return &Traps{seed: maphash.MakeSeed(), clients: make(map[uint64]*Capture)}
}

// key is the client's. Two clients have the same one with odds of 2^-64.
func (t *Traps) key(q *quarry) uint64 {
	var h maphash.Hash
	h.SetSeed(t.seed)
	network := q.client.network.Addr().As16()
	_, _ = h.Write(network[:])
	_ = h.WriteByte(byte(q.client.network.Bits()))
	for _, part := range [...]string{q.site, q.client.peer, q.client.forwarded, q.userAgent} {
		_, _ = h.WriteString(part)
		_ = h.WriteByte(0)
	}
	return h.Sum64()
}

// find returns the evidence against the client as long as it counts as a robot, nil if it does not.
func (t *Traps) find(q *quarry, now time.Time) *Capture {
	key := t.key(q)
	t.mu.RLock()
	defer t.mu.RUnlock()
	if c := t.clients[key]; c != nil && now.Before(c.Until) {
		return c
	}
	return nil
}

// add remembers a client, and forgets those whose time is over or, if need be, those caught the
// longest ago. It reports whether the client is new.
func (t *Traps) add(q *quarry, c *Capture) bool {
	key := t.key(q)
	t.mu.Lock()
	defer t.mu.Unlock()
	old, known := t.clients[key]
	if !known && len(t.clients) >= maxCaught {
		t.shrink(c.At)
	}
	t.clients[key] = c
	return !known || !c.At.Before(old.Until)
}

// List returns the evidence against all who still count as robots, the newest first.
func (t *Traps) List(now time.Time) []Capture {
	t.mu.RLock()
	defer t.mu.RUnlock()
	all := []Capture{} // an empty list, not null, in JSON
	for _, c := range t.clients {
		if now.Before(c.Until) {
			all = append(all, *c)
		}
	}
	slices.SortFunc(all, func(a, b Capture) int { return b.At.Compare(a.At) })
	return all
}

// Len returns how many clients are remembered, those whose time is over included.
func (t *Traps) Len() int {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return len(t.clients)
}

// Release forgets the clients of an address, or with such a name, and returns how many there were.
func (t *Traps) Release(address string) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	before := len(t.clients)
	maps.DeleteFunc(t.clients, func(_ uint64, c *Capture) bool { return IsOf(c.Address, address) })
	return before - len(t.clients)
}

// shrink makes room for a sixteenth more. Callers hold mu.
func (t *Traps) shrink(now time.Time) {
	maps.DeleteFunc(t.clients, func(_ uint64, c *Capture) bool { return !now.Before(c.Until) })
	keys := slices.SortedFunc(maps.Keys(t.clients), func(a, b uint64) int {
		return cmp.Compare(t.clients[a].At.UnixNano(), t.clients[b].At.UnixNano())
	})
	for _, key := range keys[:max(0, len(keys)-(maxCaught-maxCaught/16))] {
		delete(t.clients, key)
	}
}

// trappedRobot is what a caught client counts as: a robot without a name. The "*" record binds it,
// and nothing else does: it may be a person after all.
var trappedRobot = &crawler.Identity{Class: crawler.Robot}

// capture returns the evidence against a client that counts as a robot, which this very request may
// bring about. It is nil for all others.
func (e *Engine) capture(ctx context.Context, r *Request, v *Verdict) *Capture {
	if v.Who.Class != crawler.Browser && v.Who.Class != crawler.Unstated {
		return nil // it says what it is
	}
	isTrapped := e.isTrapped(ctx, r)
	if !isTrapped && e.Traps.Len() == 0 {
		return nil
	}
	e.Locate(ctx, r)
	q := quarry{r.site(), r.presumedClient(e.ClientPrefix), r.UserAgent[:min(len(r.UserAgent), crawler.MaxLength)]}
	switch {
	case q.client.IsNobody():
		return nil
	case r.EarlyData:
		v.TooEarly = !r.IsForRules() && e.isCaughtEarly(ctx, r, &q, isTrapped)
		return nil
	case !isTrapped:
		return e.Traps.find(&q, r.At)
	}
	c := &Capture{
		At: r.At, Until: r.At.Add(e.TrapFor), Host: kept(r.Host), Path: kept(r.Path),
		Address: strings.Clone(q.client.String()), UserAgent: kept(r.UserAgent),
	}
	v.Caught = e.Traps.add(&q, c)
	return c
}

// kept returns what is kept of a text that a client chose.
func kept(text string) string { return strings.Clone(text[:min(len(text), crawler.MaxLength)]) }

// isTrapped reports whether the request goes into one of the traps: somebody asks for a path
// that the rules keep from all robots, and nothing shows that a person was led there.
func (e *Engine) isTrapped(ctx context.Context, r *Request) bool {
	path := r.Path
	if r.isPeculiar() {
		path = resolve(path, foldSlashes)
	}
	if !e.isTrap(path) || r.isLed() || e.isExempt(ctx, r) {
		return false
	}
	// Who comes there is hardly a person, and waits for the rules as a robot does.
	return !decide(e.policyFor(ctx, r, true).Compiled.Default(), r).Allowed()
}

func (e *Engine) isTrap(path string) bool {
	return slices.ContainsFunc(e.Trap, func(trap string) bool {
		return path == trap || strings.HasSuffix(trap, "/") && strings.HasPrefix(path, trap)
	})
}

// maxDisguised bounds how many User-Agents of disguised robots are remembered.
const maxDisguised = 1024

// disguised are the robots whose User-Agents the owner knows although they do not say that they
// are robots. It is safe for concurrent use. The zero value knows none.
type disguised struct {
	mu     sync.Mutex // guards robots
	robots map[string]*crawler.Identity
}

// isDisguised reports whether the client is one whose User-Agent the owner knows.
func (e *Engine) isDisguised(r *Request) bool { return containsAny(r.UserAgent, e.TreatAsRobot) }

// identify returns the robot with this User-Agent. When there are too many, all are forgotten:
// what is known of one can be computed again.
func (d *disguised) identify(userAgent string) *crawler.Identity {
	d.mu.Lock()
	defer d.mu.Unlock()
	if known := d.robots[userAgent]; known != nil {
		return known
	}
	if d.robots == nil || len(d.robots) >= maxDisguised {
		d.robots = make(map[string]*crawler.Identity)
	}
	robot := crawler.AsRobot(userAgent)
	d.robots[strings.Clone(userAgent)] = &robot
	return &robot
}
