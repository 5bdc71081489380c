// Package dns checks by forward-confirmed reverse DNS whether an address is a robot's. An
// answer that cannot be had in time makes nobody an impostor.
package dns

import (
	"context"
	"net/netip"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/caddy-robots/caddy-robots/internal/enforce"
)

const (
	defaultPatience = 300 * time.Millisecond
	lookupTimeout   = 5 * time.Second // of a whole look-up, waited for or not
	controlTimeout  = 2 * time.Second // of the look-up that shows whether others are answered
	maxLookups      = 64
	defaultEntries  = 1 << 16
)

// Options says how a Verifier asks. The zero value asks the system's resolver and suits a
// busy site.
type Options struct {
	// Resolver is asked; nil is the system's.
	Resolver Resolver
	// Patience is how long a request waits for an address that is not known yet. 0 is
	// 300 ms; a negative one never waits.
	Patience time.Duration
	// Entries is how many addresses are remembered. 0 or less is 65,536, and more than
	// 1,048,576 are never kept.
	Entries int
	// Now is the clock by which answers grow old; nil is time.Now.
	Now func() time.Time
}

// Verifier checks addresses by forward-confirmed reverse DNS, which Google, Bing, Apple, Yandex,
// Amazon and others name as the way to know their robots: the address has a name under the
// operator's domain, and that name has the address. Whoever owns an address can give it any
// name, so the first half alone proves nothing.
//
// Answers are remembered by address: confirmed names for 24 hours, that there are none for
// an hour, and that the resolver failed for 30 seconds. Memory is bounded, addresses that
// come again stay, and at most 64 look-ups run at once, each for at most 5 seconds. An
// entry takes some 100 bytes and the names, 2 KiB at the very worst.
//
// A Verifier is safe for concurrent use. A nil or zero one answers Unverified.
type Verifier struct {
	resolver Resolver
	patience time.Duration
	now      func() time.Time
	start    time.Time
	cache    cache
	lookups  singleflight.Group         // by address
	slots    chan struct{}              // one for each look-up that runs
	answered atomic.Pointer[netip.Addr] // the last address whose look-up was answered; nil for none
	ctx      context.Context            // of all look-ups; Close ends it
	cancel   context.CancelFunc
}

// New returns a Verifier. Close it when it is no longer needed.
func New(o Options) *Verifier {
	if o.Resolver == nil {
		o.Resolver = NewResolver("")
	}
	if o.Patience == 0 {
		o.Patience = defaultPatience
	}
	if o.Entries <= 0 {
		o.Entries = defaultEntries
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	v := &Verifier{
		resolver: o.Resolver,
		patience: o.Patience,
		now:      o.Now,
		start:    o.Now(),
		cache:    cache{limit: min(o.Entries, maxEntries), index: map[[16]byte]int32{}},
		slots:    make(chan struct{}, maxLookups),
	}
	v.ctx, v.cancel = context.WithCancel(context.Background())
	return v
}

// Close ends the look-ups that are under way and starts no more. What is remembered still
// counts; anything else is Unverified. It may be called more than once.
func (v *Verifier) Close() {
	if v != nil && v.cancel != nil {
		v.cancel()
	}
}

// Len returns how many addresses are remembered, those whose time is over included.
func (v *Verifier) Len() int {
	if v == nil {
		return 0
	}
	v.cache.mu.RLock()
	defer v.cache.mu.RUnlock()
	return len(v.cache.index)
}

// Check reports whether addr belongs to a host under one of the suffixes, such as
// "googlebot.com": Verified if it does, Impostor if it was looked up and does not. It is
// Unverified if nothing is known in time, or the resolver failed, or the address has so many
// names that not all of them were tried. No suffixes, or an invalid address: Unverified.
//
// A name is under a suffix if it is the suffix or ends in it after a dot. Case and a dot at
// either end of the suffix mean nothing. An IPv4-mapped address is its IPv4 address.
//
// Check waits at most as long as the Patience, and never longer than ctx. One look-up serves
// all who wait for an address, and goes on when they have left.
func (v *Verifier) Check(ctx context.Context, addr netip.Addr, suffixes []string) enforce.Standing {
	if v == nil || v.resolver == nil || !addr.IsValid() || len(suffixes) == 0 {
		return enforce.Unverified
	}
	addr = addr.Unmap().WithZone("")
	key := addr.As16()
	o := v.cache.get(key, v.age())
	if o == nil {
		o = v.await(ctx, addr, key)
	}
	if o == nil {
		return enforce.Unverified
	}
	return o.standing(suffixes)
}

// age is the time since v was made, by which entries expire: unlike the time of day it never
// jumps.
func (v *Verifier) age() time.Duration {
	return v.now().Sub(v.start)
}

// await joins the look-up of addr or starts it, and returns the outcome, nil if it did not come
// in time.
func (v *Verifier) await(ctx context.Context, addr netip.Addr, key [16]byte) *outcome {
	done := v.lookups.DoChan(string(key[:]), func() (any, error) { return v.lookUp(addr, key), nil })
	if v.patience < 0 {
		return nil
	}
	timer := time.NewTimer(v.patience)
	defer timer.Stop()
	select {
	case result := <-done:
		return result.Val.(*outcome)
	case <-ctx.Done():
		return nil
	case <-timer.C:
		return nil
	}
}

// lookUp returns the outcome for addr and remembers it; nil if no more look-ups can be started.
func (v *Verifier) lookUp(addr netip.Addr, key [16]byte) *outcome {
	// Check again: a look-up may have finished since.
	if o := v.cache.get(key, v.age()); o != nil {
		return o
	}
	select {
	case v.slots <- struct{}{}:
		defer func() { <-v.slots }()
	default:
		return nil
	}
	if v.ctx.Err() != nil { // closed
		return nil
	}
	ctx, cancel := context.WithTimeout(v.ctx, lookupTimeout)
	defer cancel()
	o := lookUpNames(ctx, v.resolver, addr)
	if o.hasFailed() {
		o = v.failed(addr, key)
	} else {
		v.answered.Store(&addr)
	}
	v.cache.put(key, o, v.age())
	return o
}

// failed returns the outcome of a look-up that failed: what was proved before is kept in mind, and
// where nothing was, whether another address is answered now.
func (v *Verifier) failed(addr netip.Addr, key [16]byte) *outcome {
	if last := v.cache.last(key); last != nil && len(last.names)+len(last.proved) > 0 {
		return &outcome{proved: slices.Concat(last.names, last.proved)}
	}
	other := v.answered.Load()
	if other == nil || *other == addr {
		return failed
	}
	ctx, cancel := context.WithTimeout(v.ctx, controlTimeout)
	defer cancel()
	_, err := v.resolver.LookupAddr(ctx, other.String())
	return &outcome{alone: err == nil || isNotFound(err)}
}

// Doubts reports whether the last look-up of an address failed although another address was
// answered at that time, and nothing was ever proved of it.
func (v *Verifier) Doubts(addr netip.Addr) bool {
	if v == nil || v.resolver == nil || !addr.IsValid() {
		return false
	}
	last := v.cache.last(addr.Unmap().WithZone("").As16())
	return last != nil && last.alone
}

// Knows reports whether the outcome for an address is remembered.
func (v *Verifier) Knows(addr netip.Addr) bool {
	return v == nil || v.resolver == nil || !addr.IsValid() || v.cache.get(addr.Unmap().WithZone("").As16(), v.age()) != nil
}
