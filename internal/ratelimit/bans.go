package ratelimit

import (
	"cmp"
	"container/heap"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// maxBans is how many bans are held at once, and maxBanText how many bytes of
	// text go with them.
	maxBans    = 1 << 16
	maxBanText = 8 << 20
)

// Bans are the clients that a [Memory] holds for banned, and the offences of those
// that may be next. Clients are told apart by a 64-bit hash, as keys are.
//
// At most 65,536 bans are held, with at most 8 MiB of text between them. If
// there is no room for a new one, the one that ends first makes it; those that are
// over end first. Of offences, the last 1,048,576 at most are remembered, of at most
// 65,536 clients; the client whose last one is longest ago makes room. All of it takes at
// most 40 MiB.
//
// No ban goes on for longer than its own length counted from now. One that
// begins after now, because the clock stepped back or another node's is ahead, is
// made to begin now. Likewise an offence after now counts as one of now.
//
// While no ban is in force, to say so takes one atomic load. Bans are safe for
// concurrent use. The zero value holds nothing.
type Bans struct {
	clients fingerprints
	entries map[uint64]*banEntry // by client; guarded by mu
	changes atomic.Uint64
	last    atomic.Int64 // no ban ends later
	_       [64]byte     // keeps the lock off the cache line that every request reads

	mu       sync.RWMutex // guards entries and what follows
	ends     ends
	text     int // bytes
	offences offences
}

// init makes the zero Bans ready for use.
func (b *Bans) init(clients fingerprints) {
	b.clients = clients
	b.entries = make(map[uint64]*banEntry)
	b.last.Store(math.MinInt64)
	b.offences = newOffences()
}

// Find returns the ban that is in force against a client. It does not allocate.
func (b *Bans) Find(k Key, address string, now time.Time) (ban Ban, ok bool) {
	if h := b.look(k, address, now); h != nil {
		return *h.ban, true
	}
	return ban, false
}

// look returns the ban that is in force against a client, or nil.
func (b *Bans) look(k Key, address string, now time.Time) *banEntry {
	t, ok := nanoseconds(now)
	if !ok || b.entries == nil || b.none(t) {
		return nil
	}
	return b.find(b.clients.client(b.clients.key(k), address), t)
}

// None reports that nobody is banned. It costs next to nothing; false may be true
// of bans that were lifted.
func (b *Bans) None(now time.Time) bool {
	t, ok := nanoseconds(now)
	return !ok || b.entries == nil || b.none(t)
}

// Put adds a ban from elsewhere. If its client is banned already, the ban that
// ends later holds. The Ban's strings are copied.
func (b *Bans) Put(ban Ban) {
	if b.entries == nil {
		return
	}
	h := newBanEntry(b.clients.client(b.clients.key(ban.Key), ban.Address), ban)
	b.mu.Lock()
	defer b.mu.Unlock()
	if old := b.entries[h.client]; h.since < h.until && (old == nil || old.until < h.until) {
		b.offences.forget(h.client)
		b.add(h)
	}
}

// Lift ends a ban and forgets the offences of its client. It reports whether
// there was a ban, which may have been over.
func (b *Bans) Lift(k Key, address string) bool {
	if b.entries == nil {
		return false
	}
	client := b.clients.client(b.clients.key(k), address)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.offences.forget(client)
	h := b.entries[client]
	if h == nil {
		return false
	}
	b.remove(h)
	if len(b.ends) == 0 {
		b.last.Store(math.MinInt64)
	}
	return true
}

// List returns the bans that are in force, the newest first.
func (b *Bans) List(now time.Time) []Ban {
	t, ok := nanoseconds(now)
	if !ok {
		return nil
	}
	var list []Ban
	b.mu.RLock()
	for _, h := range b.entries {
		if t < h.until {
			list = append(list, *h.at(t).ban)
		}
	}
	b.mu.RUnlock()
	slices.SortFunc(list, func(a, b Ban) int {
		return cmp.Or(b.Since.Compare(a.Since), cmp.Compare(a.Key.Site, b.Key.Site),
			cmp.Compare(a.Key.Robot, b.Key.Robot), cmp.Compare(a.Address, b.Address))
	})
	return list
}

// Len returns how many bans are in force.
func (b *Bans) Len(now time.Time) int {
	t, ok := nanoseconds(now)
	if !ok || b.none(t) {
		return 0
	}
	n := 0
	b.mu.RLock()
	defer b.mu.RUnlock()
	for _, h := range b.entries {
		if t < h.until {
			n++
		}
	}
	return n
}

// Revision returns a number that changes whenever a ban is added, changed or
// removed, but not when one merely ends: a keeper who has saved the List of one
// revision need not save it again.
func (b *Bans) Revision() uint64 { return b.changes.Load() }

// none reports that no ban is in force, and false if that takes a closer look.
func (b *Bans) none(now int64) bool { return now >= b.last.Load() }

// find returns the ban that is in force against a client, or nil.
func (b *Bans) find(client uint64, now int64) *banEntry {
	b.mu.RLock()
	h := b.entries[client]
	b.mu.RUnlock()
	if h == nil || now >= h.until {
		return nil
	}
	if now >= h.since {
		return h
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.inForce(client, now)
}

// offend counts an offence of a client and returns the ban that it brings about,
// if any, or the one that has come about since the client was looked for.
func (b *Bans) offend(client uint64, r *Request, now int64) (h *banEntry, isNew bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if h := b.inForce(client, now); h != nil {
		return h, false
	}
	most, within, length := r.Ban.spans()
	if b.offences.add(client, now, within) < most {
		return nil, false
	}
	h = newBanEntry(client, Ban{
		Key: r.Key, Address: r.Address,
		Since: time.Unix(0, now), Until: time.Unix(0, now+length),
		Line: r.Line, Rule: r.Rule,
	})
	b.offences.forget(client)
	b.add(h)
	return h, true
}

// inForce returns the ban that is in force against a client, or nil. Callers hold mu.
func (b *Bans) inForce(client uint64, now int64) *banEntry {
	h := b.entries[client]
	if h == nil || now >= h.until {
		return nil
	}
	if moved := h.at(now); moved != h {
		b.add(moved)
		return moved
	}
	return h
}

// add puts h in the place of the ban that its client has, if any, or else of the one
// that ends first if there is no room. Callers hold mu.
func (b *Bans) add(h *banEntry) {
	if old := b.entries[h.client]; old != nil {
		b.remove(old)
	}
	for len(b.ends) > 0 && (len(b.ends) >= maxBans || b.text+h.text() > maxBanText) {
		b.remove(b.ends[0])
	}
	b.entries[h.client] = h
	heap.Push(&b.ends, h)
	b.text += h.text()
	b.last.Store(max(b.last.Load(), h.until))
	b.changes.Add(1)
}

// remove forgets h. Callers hold mu.
func (b *Bans) remove(h *banEntry) {
	delete(b.entries, h.client)
	heap.Remove(&b.ends, h.place)
	b.text -= h.text()
	b.changes.Add(1)
}
