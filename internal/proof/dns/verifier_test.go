package dns

import (
	"context"
	"net/netip"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/caddy-robots/caddy-robots/internal/enforce"
)

func TestCheckWaitsAsLongAsThePatience(t *testing.T) {
	tests := []struct {
		name              string
		patience, context time.Duration
		want              time.Duration
	}{
		{"default", 0, time.Minute, 300 * time.Millisecond},
		{"set", 2 * time.Second, time.Minute, 2 * time.Second},
		{"never longer than the request", 2 * time.Second, time.Second, time.Second},
		{"negative never waits", -1, time.Minute, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := New(Options{Resolver: honest(time.Hour), Patience: test.patience})
				defer d.Close()
				ctx, cancel := context.WithTimeout(t.Context(), test.context)
				defer cancel()
				start := time.Now()
				if got := d.Check(ctx, robot, google); got != enforce.Unverified {
					t.Errorf("Check = %v, want %v", got, enforce.Unverified)
				}
				if got := time.Since(start); got != test.want {
					t.Errorf("waited %v, want %v", got, test.want)
				}
			})
		})
	}
}

func TestCheckReturnsAsSoonAsItIsKnown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := New(Options{Resolver: honest(50 * time.Millisecond)})
		defer d.Close()
		start := time.Now()
		if got := d.Check(t.Context(), robot, google); got != enforce.Verified {
			t.Errorf("Check = %v, want %v", got, enforce.Verified)
		}
		if got, want := time.Since(start), 100*time.Millisecond; got != want {
			t.Errorf("waited %v, want %v: one question for the name, one for the address", got, want)
		}
	})
}

func TestOneLookUpServesAllWhoWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		resolver := honest(50 * time.Millisecond)
		d := New(Options{Resolver: resolver})
		defer d.Close()
		const waiters = 100
		var verified sync.WaitGroup
		for range waiters {
			verified.Go(func() {
				if got := d.Check(t.Context(), robot, google); got != enforce.Verified {
					t.Errorf("Check = %v, want %v", got, enforce.Verified)
				}
			})
		}
		verified.Wait()
		if got := resolver.count("192.0.2.1"); got != 1 {
			t.Errorf("%d waiters made %d look-ups, want 1", waiters, got)
		}
	})
}

func TestALookUpGoesOnWhenTheWaitersHaveLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		resolver := honest(time.Second)
		d := New(Options{Resolver: resolver})
		defer d.Close()
		if got := d.Check(t.Context(), robot, google); got != enforce.Unverified {
			t.Errorf("Check before the answer = %v, want %v", got, enforce.Unverified)
		}
		time.Sleep(2 * time.Second) // fake time: the look-up ends
		synctest.Wait()
		start := time.Now()
		if got := d.Check(t.Context(), robot, google); got != enforce.Verified || time.Since(start) != 0 {
			t.Errorf("Check after the answer = %v after %v, want %v at once", got, time.Since(start), enforce.Verified)
		}
		if got := resolver.count("192.0.2.1"); got != 1 {
			t.Errorf("%d look-ups, want 1", got)
		}
	})
}

func TestALookUpEndsAfterFiveSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := New(Options{Resolver: honest(time.Hour), Patience: time.Minute})
		defer d.Close()
		start := time.Now()
		if got := d.Check(t.Context(), robot, google); got != enforce.Unverified {
			t.Errorf("Check = %v, want %v", got, enforce.Unverified)
		}
		if got := time.Since(start); got != lookupTimeout {
			t.Errorf("the look-up took %v, want %v", got, lookupTimeout)
		}
	})
}

func TestCloseEndsLookUps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := New(Options{Resolver: honest(time.Hour), Patience: -1})
		d.Check(t.Context(), robot, google)
		start := time.Now()
		d.Close()
		d.Close()
		synctest.Wait() // and the bubble would fail on a goroutine left over
		if got := time.Since(start); got != 0 {
			t.Errorf("look-ups ended %v after Close, want at once", got)
		}
	})
}

func TestAfterCloseOnlyWhatIsRememberedCounts(t *testing.T) {
	resolver := honest(0)
	d := New(Options{Resolver: resolver, Patience: time.Minute})
	d.Check(t.Context(), robot, google)
	d.Close()
	for addr, want := range map[string]enforce.Standing{"192.0.2.1": enforce.Verified, "192.0.2.2": enforce.Unverified} {
		if got := d.Check(t.Context(), netip.MustParseAddr(addr), google); got != want {
			t.Errorf("Check(%s) after Close = %v, want %v", addr, got, want)
		}
	}
	if got := resolver.count("192.0.2.2"); got != 0 {
		t.Errorf("%d look-ups after Close, want none", got)
	}
}

func TestAtMost64LookUpsRunAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		resolver := &fakeResolver{delay: time.Hour}
		d := New(Options{Resolver: resolver, Patience: time.Second})
		defer d.Close()
		const most = 64
		addr := netip.MustParseAddr("2001:db8::")
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		for range most {
			addr = addr.Next()
			d.Check(ctx, addr, google)
		}
		synctest.Wait() // until they run
		start, addr := time.Now(), addr.Next()
		if got := d.Check(t.Context(), addr, google); got != enforce.Unverified || time.Since(start) != 0 {
			t.Errorf("Check beyond %d look-ups = %v after %v, want %v at once", most, got, time.Since(start), enforce.Unverified)
		}
		synctest.Wait()
		if got := len(resolver.asked); got != most {
			t.Errorf("%d look-ups run, want %d", got, most)
		}
	})
}

func TestAnIPv4MappedAddressIsItsIPv4Address(t *testing.T) {
	resolver := honest(0)
	resolver.addrs["crawl.googlebot.com."] = []netip.Addr{netip.MustParseAddr("::ffff:192.0.2.1")}
	d := New(Options{Resolver: resolver, Patience: time.Minute})
	defer d.Close()
	for _, addr := range []string{"::ffff:192.0.2.1", "192.0.2.1"} {
		if got := d.Check(t.Context(), netip.MustParseAddr(addr), google); got != enforce.Verified {
			t.Errorf("Check(%s) = %v, want %v", addr, got, enforce.Verified)
		}
	}
	if got := resolver.count("192.0.2.1"); got != 1 {
		t.Errorf("%d look-ups, want 1", got)
	}
}

func TestWithoutAQuestionNothingIsLookedUp(t *testing.T) {
	resolver := honest(0)
	d := New(Options{Resolver: resolver, Patience: time.Minute})
	defer d.Close()
	tests := []struct {
		name     string
		dns      *Verifier
		addr     netip.Addr
		suffixes []string
	}{
		{"nil", nil, robot, google},
		{"zero", &Verifier{}, robot, google},
		{"invalid address", d, netip.Addr{}, google},
		{"no suffixes", d, robot, nil},
	}
	for _, test := range tests {
		if got := test.dns.Check(t.Context(), test.addr, test.suffixes); got != enforce.Unverified {
			t.Errorf("%s: Check = %v, want %v", test.name, got, enforce.Unverified)
		}
	}
	if len(resolver.asked) != 0 {
		t.Errorf("the resolver was asked %q, want nothing", resolver.asked)
	}
	(*Verifier)(nil).Close()
	(&Verifier{}).Close()
}

func TestLenIsHowManyAddressesAreRemembered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := New(Options{Resolver: honest(time.Millisecond)})
		defer d.Close()
		for range 2 {
			d.Check(t.Context(), robot, google)
		}
		if got := d.Len(); got != 1 {
			t.Errorf("got %d, want 1", got)
		}
	})
	if got := (*Verifier)(nil).Len(); got != 0 {
		t.Errorf("nil: got %d, want 0", got)
	}
}
