package ratelimit

import (
	"context"
	"hash/maphash"
	"math/bits"
	"time"
)

// DefaultMaxKeys is a size for [NewMemory] that suits most servers: a million
// keys. Full, the table takes 16 MiB; it is allocated as it fills.
const DefaultMaxKeys = 1 << 20

const (
	// shardSlots is how many keys a shard holds, or up to twice as many where
	// they do not divide evenly: 16 KiB, small enough to be allocated by the
	// request that needs it.
	shardSlots = 1024

	// largestMaxKeys bounds the table at 16 GiB, so that a slip in a
	// configuration is not an allocation that cannot be made.
	largestMaxKeys = 1 << 30
)

// Memory is a [Limiter] that keeps its states in this process, in a table that
// never grows beyond the size it was made with: 16 bytes a key, without
// pointers for the garbage collector to follow. It never fails and never sweeps;
// a request of a known key neither locks nor allocates. Bans and offences are kept
// apart; see [Bans].
//
// A Memory of the default size takes at most 64 MiB in all: 16 MiB of states and up
// to 40 MiB of bans and offences, the latter only where a [BanPolicy] asks for them
// and a flood comes.
//
// A key has one bucket of eight slots where it can be: of a table that is half
// full, fewer than one key in a hundred finds no room. If its bucket is full,
// a new key takes the place of the one with the earliest arrival time: one
// without debt if there is any, else the one with the least. So a flood of
// made-up names drives out other made-up names first, and a robot that owes a
// long wait last. A robot that is driven out is met as a stranger: it may come
// sooner than told, and is never refused for it. Arrival times that a clock set
// too far ahead has left keep their slots until they are past or their keys return.
//
// Keys are told apart by a 64-bit hash with seeds drawn at random for each Memory, so
// nobody can aim at a key. Two keys with the same hash would share a budget: the
// odds that any two in a full table of a million do are 1 in 30 million.
//
// A Memory is safe for concurrent use and must not be copied. The zero value
// holds nothing and admits everything.
type Memory struct {
	keys    fingerprints
	shards  []shard
	buckets int // in each shard
	bans    Bans
}

// NewMemory returns an empty Memory for at most maxKeys keys, rounded down to
// whole buckets of eight; the least is eight. Zero or less means
// [DefaultMaxKeys]. At first it takes 64 bytes for every 1024 keys; each
// 16 KiB of table is allocated when the first key falls into it.
func NewMemory(maxKeys int) *Memory {
	if maxKeys <= 0 {
		maxKeys = DefaultMaxKeys
	}
	maxKeys = min(max(maxKeys, bucketSlots), largestMaxKeys)
	shards := max(maxKeys/shardSlots, 1)
	m := &Memory{
		keys:    newFingerprints(),
		shards:  make([]shard, shards),
		buckets: maxKeys / shards / bucketSlots,
	}
	m.bans.init(m.keys)
	return m
}

// Take judges one request; see [Limiter]. It never fails, does not look at the
// context and keeps no reference to anything in r.
func (m *Memory) Take(_ context.Context, r Request, now time.Time) (Result, error) {
	switch {
	case len(m.shards) == 0:
		return Result{}, nil
	case r.Return:
		m.giveBack(m.keys.key(r.Key), r.Limit)
		return Result{}, nil
	case r.Ban.bans():
		return m.judge(&r, now), nil
	case r.Offence || r.Limit.Interval <= 0:
		return Result{}, nil
	}
	return m.take(m.keys.key(r.Key), r.Limit, now), nil
}

// Bans returns the clients that are banned. Those of the zero Memory are none, and
// none can be put there.
func (m *Memory) Bans() *Bans { return &m.bans }

// Len returns how many keys are remembered, those without debt included.
// Under concurrent use it is a figure between before and after.
func (m *Memory) Len() int {
	n := 0
	for i := range m.shards {
		n += m.shards[i].len()
	}
	return n
}

// judge judges one request that may be a banned client's or get its client banned.
func (m *Memory) judge(r *Request, now time.Time) Result {
	t, ok := nanoseconds(now)
	if !ok {
		return Result{}
	}
	key := m.keys.key(r.Key)
	if !m.bans.none(t) {
		if h := m.bans.find(m.keys.client(key, r.Address), t); h != nil {
			return h.refuse(t)
		}
	}
	var result Result
	if !r.Offence {
		if r.Limit.Interval <= 0 {
			return Result{}
		}
		if result = m.take(key, r.Limit, now); result.Allowed() {
			return result
		}
	}
	h, isNew := m.bans.offend(m.keys.client(key, r.Address), r, t)
	switch {
	case h == nil:
		return result
	case isNew:
		result.Ban, result.New = h.ban, true
		return result
	}
	return h.refuse(t)
}

// bucket returns where the key with this fingerprint can be. The fingerprint, read as a fraction
// of all fingerprints, picks the shard, and what remains of it the bucket.
func (m *Memory) bucket(fingerprint uint64) (*shard, *bucket) {
	at, rest := bits.Mul64(fingerprint, uint64(len(m.shards)))
	within, _ := bits.Mul64(rest, uint64(m.buckets))
	s := &m.shards[at]
	s.once.Do(func() { s.buckets = make([]bucket, m.buckets) })
	return s, &s.buckets[within]
}

// giveBack gives back what a request of the key with this fingerprint drew, unless the key is
// forgotten.
func (m *Memory) giveBack(fingerprint uint64, l Limit) {
	_, b := m.bucket(fingerprint)
	if at := b.find(fingerprint); at != nil {
		at.giveBack(fingerprint, l)
	}
}

// take judges one request of the key with this fingerprint.
func (m *Memory) take(fingerprint uint64, l Limit, now time.Time) Result {
	s, b := m.bucket(fingerprint)
	for {
		if r, ok := b.take(fingerprint, l, now); ok {
			return r
		}
		if r, ok := s.enter(b, fingerprint, l, now); ok {
			return r
		}
	}
}

var _ Limiter = (*Memory)(nil)

// fingerprints tells keys and clients apart by 64-bit hashes, with seeds drawn at
// random, so that nobody can aim at another's. Each part has a seed of its own,
// so that parts cannot be swapped or run together.
type fingerprints struct {
	site, robot, standing, address maphash.Seed
}

func newFingerprints() fingerprints {
	return fingerprints{maphash.MakeSeed(), maphash.MakeSeed(), maphash.MakeSeed(), maphash.MakeSeed()}
}

// key returns a hash of k that is never zero.
func (f *fingerprints) key(k Key) uint64 {
	h := maphash.String(f.site, k.Site) ^ maphash.String(f.robot, k.Robot)
	if k.Standing != "" {
		h ^= maphash.String(f.standing, k.Standing)
	}
	return max(h, 1)
}

// client returns the hash of a key together with an address, given that of the key.
func (f *fingerprints) client(key uint64, address string) uint64 {
	if address == "" {
		return key
	}
	return key ^ maphash.String(f.address, address)
}
