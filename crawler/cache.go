package crawler

import (
	"hash/maphash"
	"math/bits"
	"strings"
	"sync"
	"sync/atomic"
)

const (
	ways       = 4 // slots of a bucket, which together fill one cache line
	maxEntries = 1 << 20
)

// browser and unstated are what a Cache answers for all browsers and for all clients that
// state nothing: one entry each, so that a flood of made-up browsers takes no memory
// beyond the table.
var (
	browser  = &entry{identity: Identity{Class: Browser}}
	unstated = &entry{identity: Identity{Class: Unstated}}
)

// A Cache remembers the Identities of recent User-Agents. It is bounded, and one Cache serves all
// sites. The zero value remembers nothing and identifies every time. A Cache is safe for concurrent
// use: reading takes no lock, and a request never waits for another to write. (If an Identity
// cannot be stored at once, the next request stores it.) A Cache must not be copied after first
// use.
type Cache struct {
	seed    maphash.Seed
	buckets []bucket
	shift   uint // how far a hash is shifted to give a bucket's index

	mu   sync.Mutex // guards writing to the buckets, and turn
	turn uint       // which slot of a bucket is the next to be replaced
}

// A bucket holds User-Agents whose hashes share their highest bits. One that comes a
// second time is in use; at most three of the four are, and only the others are replaced
// by newcomers, so that User-Agents that are sent once never push out those in use.
type bucket [ways]slot

// A slot holds one User-Agent. Its fingerprint is the hash of the User-Agent, but for the
// lowest two bits, which say whether it is in use and whether it is a browser; 0 is an
// empty slot.
//
// For a browser the fingerprint is all there is: if two User-Agents had the same one (odds
// of 2^-62 for a pair), that could only let a robot through. For anyone else, entry
// holds the text, which must be equal too, so that no person is ever taken for a
// robot. It also makes it harmless to read a slot while it is written.
type slot struct {
	fingerprint atomic.Uint64
	entry       atomic.Pointer[entry]
}

type entry struct {
	userAgent string
	identity  Identity
}

const (
	browserBit uint64 = 1 << iota
	usedBit
	flagBits = browserBit | usedBit
)

// NewCache returns a Cache for that many User-Agents, rounded up to the next power
// of two, at most 1,048,576; with none or fewer it remembers nothing.
//
// A browser costs 16 bytes. A robot or app costs its User-Agent, up to twice, and
// the names in it: some 300 bytes for an honest one, never more than 3 KiB. So a
// Cache of 4,096 entries takes 64 KiB, under 1.5 MiB if all are honest robots, and
// at the very worst, in a flood of long and hostile ones, 12 MiB.
func NewCache(entries int) *Cache {
	if entries <= 0 {
		return &Cache{}
	}
	buckets := (min(entries, maxEntries) + ways - 1) / ways
	log := uint(bits.Len(uint(buckets - 1)))
	return &Cache{
		seed:    maphash.MakeSeed(),
		buckets: make([]bucket, 1<<log),
		shift:   64 - log,
	}
}

// Identify says who sends this User-Agent, as the function Identify does. The result is
// shared and must not be changed. A User-Agent that is remembered costs no
// allocation.
func (c *Cache) Identify(userAgent string) *Identity {
	if userAgent == "" {
		return &unstated.identity
	}
	if len(userAgent) > MaxLength {
		userAgent = userAgent[:MaxLength]
	}
	if len(c.buckets) == 0 {
		return &newEntry(userAgent, 0).identity
	}
	hash := maphash.String(c.seed, userAgent)
	b := &c.buckets[hash>>c.shift]
	s, id := b.find(hash, userAgent)
	switch {
	case s == nil:
		e := newEntry(userAgent, hash)
		c.insert(b, hash, e)
		return &e.identity
	case s.fingerprint.Load()&usedBit == 0:
		c.use(b, s, hash)
	}
	return id
}

// Len returns how many User-Agents are remembered.
func (c *Cache) Len() int {
	n := 0
	for i := range c.buckets {
		for k := range c.buckets[i] {
			if c.buckets[i][k].fingerprint.Load() != 0 {
				n++
			}
		}
	}
	return n
}

// find returns the slot and the Identity of userAgent, or nil.
func (b *bucket) find(hash uint64, userAgent string) (*slot, *Identity) {
	for i := range b {
		s := &b[i]
		switch s.fingerprint.Load() &^ usedBit {
		case hash&^flagBits | browserBit:
			return s, &browser.identity
		case hash &^ flagBits:
			if e := s.entry.Load(); e != nil && e.userAgent == userAgent {
				return s, &e.identity
			}
		}
	}
	return nil, nil
}

// newEntry identifies userAgent. For all but browsers it keeps a copy, since the
// text may be a part of something larger that belongs to the request.
func newEntry(userAgent string, hash uint64) *entry {
	class, found := classOf(userAgent)
	if class == Browser {
		return browser
	}
	userAgent = strings.Clone(userAgent)
	var buffer [MaxLength]byte
	a := read(userAgent, buffer[:])
	a.found = found
	e := &entry{userAgent, a.identity(class, mayBeService)}
	e.identity.Hash = hash
	return e
}

// insert puts a newcomer in place of one that is not in use.
func (c *Cache) insert(b *bucket, hash uint64, e *entry) {
	if !c.mu.TryLock() {
		return
	}
	defer c.mu.Unlock()
	c.turn++
	s := b.room(c.turn)
	// The entry is stored first: with the old fingerprint it does not match, because its
	// text is another one.
	if e == browser {
		s.entry.Store(nil)
		s.fingerprint.Store(hash&^flagBits | browserBit)
	} else {
		s.entry.Store(e)
		s.fingerprint.Store(hash &^ flagBits)
	}
}

// room returns an empty slot, or else the first from turn on that is not in use.
func (b *bucket) room(turn uint) *slot {
	for i := range b {
		if b[i].fingerprint.Load() == 0 {
			return &b[i]
		}
	}
	for i := range uint(ways) {
		if s := &b[(turn+i)%ways]; s.fingerprint.Load()&usedBit == 0 {
			return s
		}
	}
	return &b[turn%ways] // not reached: use leaves one that is not in use
}

// use marks slot s of b as in use. If all are, it unmarks another one, each in its turn,
// which then has to come again to count as in use.
func (c *Cache) use(b *bucket, s *slot, hash uint64) {
	if !c.mu.TryLock() {
		return
	}
	defer c.mu.Unlock()
	fingerprint := s.fingerprint.Load()
	if fingerprint&^flagBits != hash&^flagBits {
		return // another User-Agent has the slot by now
	}
	s.fingerprint.Store(fingerprint | usedBit)
	for i := range b {
		if b[i].fingerprint.Load()&usedBit == 0 {
			return
		}
	}
	c.turn++
	other := &b[c.turn%ways]
	if other == s {
		c.turn++
		other = &b[c.turn%ways]
	}
	other.fingerprint.Store(other.fingerprint.Load() &^ usedBit)
}
