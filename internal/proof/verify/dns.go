package verify

import (
	"context"
	"net"
	"net/netip"
	"strings"
	"sync"
	"time"
)

const (
	dnsPatience = 300 * time.Millisecond
	dnsBound    = 5 * time.Second // of a whole look-up, waited for or not
	dnsInFlight = 64
	dnsEntries  = 1 << 16
)

// A Resolver answers questions of the DNS. It is the part of net.Resolver that is needed,
// whose methods say what the results mean. An implementation must be safe for concurrent
// use and must return soon after its context is done.
type Resolver interface {
	// LookupAddr returns the names that the address claims to have (PTR).
	LookupAddr(ctx context.Context, addr string) (names []string, err error)
	// LookupNetIP returns the addresses of a host; network is "ip4" or "ip6". An error that
	// is a *net.DNSError with IsNotFound set says that there are none; any other says that
	// nothing is known.
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// NewResolver returns a Resolver that asks the DNS server at address and no other, over UDP
// and, for long answers, TCP. The address is a host or "host:port"; the port is 53 if none is
// given. An empty address is the system's own resolver. As with that one, what the machine's
// hosts file says goes before the DNS.
func NewResolver(address string) Resolver {
	if address == "" {
		return net.DefaultResolver
	}
	server := serverAddress(address)
	return &net.Resolver{
		PreferGo: true,
		Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
			var dialer net.Dialer
			return dialer.DialContext(ctx, network, server)
		},
	}
}

// serverAddress adds the port where there is none: to "192.0.2.1", "2001:db8::1" and
// "[2001:db8::1]".
func serverAddress(address string) string {
	if host, port, err := net.SplitHostPort(address); err == nil {
		if port == "" {
			port = "53"
		}
		return net.JoinHostPort(host, port)
	}
	return net.JoinHostPort(strings.Trim(address, "[]"), "53")
}

// DNSOptions says how a DNS verifies. The zero value asks the system's resolver and suits a
// busy site.
type DNSOptions struct {
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

// DNS verifies addresses by forward-confirmed reverse DNS, which Google, Bing, Apple, Yandex,
// Amazon and others name as the way to know their robots: the address has a name under the
// operator's domain, and that name has the address. Whoever owns an address can give it any
// name, so the first half alone proves nothing.
//
// Answers are remembered by address: confirmed names for 24 hours, that there are none for
// an hour, and that the resolver failed for 30 seconds. Memory is bounded, addresses that
// come again stay, and at most 64 look-ups run at once, each for at most 5 seconds. An
// entry takes some 100 octets and the names, 2 KiB at the very worst.
//
// A DNS is safe for concurrent use. A nil or zero one answers Unverified.
type DNS struct {
	resolver Resolver
	patience time.Duration
	now      func() time.Time
	start    time.Time
	cache    dnsCache
	ctx      context.Context // of all look-ups; Close ends it
	cancel   context.CancelFunc

	mu      sync.Mutex // guards pending
	pending map[[16]byte]*dnsLookup
}

// A dnsLookup is under way until done is closed; only then is its outcome read.
type dnsLookup struct {
	done    chan struct{}
	outcome *dnsOutcome
}

// NewDNS returns a DNS. Close it when it is no longer needed.
func NewDNS(o DNSOptions) *DNS {
	if o.Resolver == nil {
		o.Resolver = NewResolver("")
	}
	if o.Patience == 0 {
		o.Patience = dnsPatience
	}
	if o.Entries <= 0 {
		o.Entries = dnsEntries
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	d := &DNS{
		resolver: o.Resolver,
		patience: o.Patience,
		now:      o.Now,
		start:    o.Now(),
		cache:    dnsCache{limit: min(o.Entries, dnsMaxEntries), index: map[[16]byte]int32{}},
		pending:  map[[16]byte]*dnsLookup{},
	}
	d.ctx, d.cancel = context.WithCancel(context.Background())
	return d
}

// Close ends the look-ups that are under way and starts no more. What is remembered still
// counts; anything else is Unverified. It may be called more than once.
func (d *DNS) Close() {
	if d != nil && d.cancel != nil {
		d.cancel()
	}
}

// Len returns how many addresses are remembered, those whose time is over included.
func (d *DNS) Len() int {
	if d == nil {
		return 0
	}
	d.cache.mu.RLock()
	defer d.cache.mu.RUnlock()
	return len(d.cache.index)
}

// Status tells whether addr belongs to a host under one of the suffixes, such as
// "googlebot.com": Verified if it does, Impostor if it was looked up and does not. It is
// Unverified if nothing is known in time, or the resolver failed, or the address has so many
// names that not all of them were tried. No suffixes, or an invalid address: Unverified.
//
// A name is under a suffix if it is the suffix or ends in it after a dot. Case and a dot at
// either end of the suffix mean nothing. An IPv4-mapped address is its IPv4 address.
//
// Status waits at most as long as the Patience, and never longer than ctx. One look-up serves
// all who wait for an address, and goes on when they have left.
func (d *DNS) Status(ctx context.Context, addr netip.Addr, suffixes []string) Status {
	if d == nil || d.resolver == nil || !addr.IsValid() || len(suffixes) == 0 {
		return Unverified
	}
	addr = addr.Unmap().WithZone("")
	key := addr.As16()
	if o := d.cache.get(key, d.age()); o != nil {
		return o.status(suffixes)
	}
	l, o := d.lookup(addr, key)
	if l != nil {
		o = d.wait(ctx, l)
	}
	if o == nil {
		return Unverified
	}
	return o.status(suffixes)
}

// age is the time since d was made, by which entries expire: unlike the time of day it never
// jumps.
func (d *DNS) age() time.Duration {
	return d.now().Sub(d.start)
}

// lookup joins the look-up of addr or starts it. It returns no look-up if the outcome became
// known meanwhile, and neither if no more look-ups can be started.
func (d *DNS) lookup(addr netip.Addr, key [16]byte) (*dnsLookup, *dnsOutcome) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if l := d.pending[key]; l != nil {
		return l, nil
	}
	// The one that ended since the caller looked stored its outcome before it left pending.
	if o := d.cache.get(key, d.age()); o != nil {
		return nil, o
	}
	if len(d.pending) >= dnsInFlight || d.ctx.Err() != nil {
		return nil, nil
	}
	l := &dnsLookup{done: make(chan struct{})}
	d.pending[key] = l
	go d.run(l, addr, key)
	return l, nil
}

func (d *DNS) run(l *dnsLookup, addr netip.Addr, key [16]byte) {
	ctx, cancel := context.WithTimeout(d.ctx, dnsBound)
	defer cancel()
	l.outcome = lookUpNames(ctx, d.resolver, addr)
	d.cache.put(key, l.outcome, d.age())
	d.mu.Lock()
	delete(d.pending, key)
	d.mu.Unlock()
	close(l.done)
}

// wait returns the outcome of l, or nil if it did not come in time.
func (d *DNS) wait(ctx context.Context, l *dnsLookup) *dnsOutcome {
	if d.patience < 0 {
		return nil
	}
	timer := time.NewTimer(d.patience)
	defer timer.Stop()
	select {
	case <-l.done:
		return l.outcome
	case <-ctx.Done():
		return nil
	case <-timer.C:
		return nil
	}
}
