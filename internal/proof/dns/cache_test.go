package dns

import (
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/internal/enforce"
)

func TestAnswersAreRememberedForTheirLifetime(t *testing.T) {
	liar := honest(0)
	liar.addrs = nil
	failing := &fakeResolver{err: errors.New("server misbehaving")}
	tests := []struct {
		name     string
		resolver *fakeResolver
		want     enforce.Standing
		lifetime time.Duration
	}{
		{"confirmed", honest(0), enforce.Verified, 24 * time.Hour},
		{"no name", &fakeResolver{}, enforce.Impostor, time.Hour},
		{"no name confirmed", liar, enforce.Impostor, time.Hour},
		{"failed", failing, enforce.Unverified, 30 * time.Second},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			now := time.Unix(1_800_000_000, 0)
			d := New(Options{Resolver: test.resolver, Patience: time.Minute, Now: func() time.Time { return now }})
			defer d.Close()
			steps := []struct {
				pass    time.Duration
				lookUps int
			}{{0, 1}, {0, 1}, {test.lifetime - 1, 1}, {1, 2}, {test.lifetime - 1, 2}}
			for i, step := range steps {
				now = now.Add(step.pass)
				if got := d.Check(t.Context(), robot, google); got != test.want {
					t.Errorf("step %d: Check = %v, want %v", i, got, test.want)
				}
				if got := test.resolver.count("192.0.2.1"); got != step.lookUps {
					t.Errorf("step %d: %d look-ups, want %d", i, got, step.lookUps)
				}
			}
		})
	}
}

func TestStrangersNeverPushOutAnAddressInUse(t *testing.T) {
	const entries = 8
	resolver := honest(0)
	d := New(Options{Resolver: resolver, Patience: time.Minute, Entries: entries})
	defer d.Close()
	stranger := netip.MustParseAddr("2001:db8::")
	for i := range 100 * entries {
		if i%(entries/2) == 0 {
			d.Check(t.Context(), robot, google)
		}
		stranger = stranger.Next()
		d.Check(t.Context(), stranger, google)
		if got := len(d.cache.index); got > entries {
			t.Fatalf("after %d strangers %d addresses are remembered, want at most %d", i+1, got, entries)
		}
	}
	if got := resolver.count("192.0.2.1"); got != 1 {
		t.Errorf("the address in use was looked up %d times, want 1", got)
	}
	if got := resolver.count("2001:db8::1"); got != 1 {
		t.Fatalf("the first stranger was looked up %d times, want 1", got)
	}
	d.Check(t.Context(), netip.MustParseAddr("2001:db8::1"), google)
	if got := resolver.count("2001:db8::1"); got != 2 {
		t.Errorf("the first stranger came again and was looked up %d times, want 2: it had to make room", got)
	}
}

func TestManyAddressesAtOnce(t *testing.T) {
	resolver := &fakeResolver{names: map[string][]string{}, addrs: map[string][]netip.Addr{}}
	var addrs []netip.Addr
	for i := range 32 {
		addr := netip.AddrFrom4([4]byte{192, 0, 2, byte(i)})
		name := fmt.Sprintf("crawl-%d.googlebot.com.", i)
		resolver.names[addr.String()] = []string{name}
		if i%2 == 0 {
			resolver.addrs[name] = []netip.Addr{addr}
		}
		addrs = append(addrs, addr)
	}
	d := New(Options{Resolver: resolver, Patience: time.Minute, Entries: 16})
	defer d.Close()
	var done sync.WaitGroup
	for worker := range 8 {
		done.Go(func() {
			for i := range 500 {
				n := (i*7 + worker) % len(addrs)
				want := []enforce.Standing{enforce.Verified, enforce.Impostor}[n%2]
				if got := d.Check(t.Context(), addrs[n], google); got != want {
					t.Errorf("Check(%v) = %v, want %v", addrs[n], got, want)
				}
			}
		})
	}
	done.Wait()
}

func TestAKnownAddressCostsNoAllocation(t *testing.T) {
	d := New(Options{Resolver: honest(0), Patience: time.Minute})
	defer d.Close()
	if got := d.Check(t.Context(), robot, google); got != enforce.Verified {
		t.Fatalf("Check = %v, want %v", got, enforce.Verified)
	}
	if got := testing.AllocsPerRun(100, func() { d.Check(t.Context(), robot, google) }); got != 0 {
		t.Errorf("%v allocations, want 0", got)
	}
}

func BenchmarkCheckOfAKnownAddress(b *testing.B) {
	d := New(Options{Resolver: &fakeResolver{}, Patience: time.Minute})
	defer d.Close()
	addrs := make([]netip.Addr, 10_000)
	addr := netip.MustParseAddr("2001:db8::")
	for i := range addrs {
		addr = addr.Next()
		addrs[i] = addr
		d.Check(b.Context(), addr, google)
	}
	ctx := b.Context()
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if d.Check(ctx, addrs[i*7919%len(addrs)], google) != enforce.Impostor {
			b.Fatal("not known")
		}
	}
}
