package dns

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strings"
	"sync"
	"time"
)

// A fakeResolver answers from maps, after a delay.
type fakeResolver struct {
	names map[string][]string     // by address
	addrs map[string][]netip.Addr // by name with a final dot
	err   error                   // for addresses without names; nil is "not found"
	delay time.Duration

	mu    sync.Mutex
	asked []string // in order, addresses and names
}

var errNotFound = &net.DNSError{Err: "no such host", IsNotFound: true}

func (f *fakeResolver) LookupAddr(ctx context.Context, addr string) ([]string, error) {
	if err := f.ask(ctx, addr); err != nil {
		return nil, err
	}
	if names := f.names[addr]; len(names) > 0 {
		return names, nil
	}
	if f.err != nil {
		return nil, f.err
	}
	return nil, errNotFound
}

func (f *fakeResolver) LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error) {
	if err := f.ask(ctx, host); err != nil {
		return nil, err
	}
	if addrs := f.addrs[host]; len(addrs) > 0 {
		return addrs, nil
	}
	return nil, errNotFound
}

// ask notes the question and lets time pass, of the kind that synctest makes.
func (f *fakeResolver) ask(ctx context.Context, question string) error {
	f.mu.Lock()
	f.asked = append(f.asked, question)
	f.mu.Unlock()
	if f.delay == 0 {
		return ctx.Err()
	}
	select {
	case <-time.After(f.delay):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (f *fakeResolver) count(question string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := 0
	for _, q := range f.asked {
		if q == question {
			n++
		}
	}
	return n
}

// honest returns a resolver that knows one robot of Google's, at 192.0.2.1.
func honest(delay time.Duration) *fakeResolver {
	return &fakeResolver{
		names: map[string][]string{"192.0.2.1": {"crawl.googlebot.com."}},
		addrs: map[string][]netip.Addr{"crawl.googlebot.com.": {robot}},
		delay: delay,
	}
}

var robot = netip.MustParseAddr("192.0.2.1")

// A halfFailing resolver fails for names that begin with "broken".
type halfFailing struct{ *fakeResolver }

func (h *halfFailing) LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error) {
	if strings.HasPrefix(host, "broken") {
		return nil, errors.New("server misbehaving")
	}
	return h.fakeResolver.LookupNetIP(ctx, network, host)
}
