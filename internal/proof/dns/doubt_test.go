package dns

import (
	"errors"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/caddy-robots/caddy-robots/internal/enforce"
)

// A look-up that fails by itself speaks against the claimant, unless it was proved before; one that
// fails with all others does not.
func TestAFailureIsDoubtedWhileOthersAreAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := honest(0)
		r.err = errors.New("server misbehaving")
		v := New(Options{Resolver: r})
		defer v.Close()
		google, liar := []string{"googlebot.com"}, netip.MustParseAddr("203.0.113.1")
		check := func(what string, addr netip.Addr, want enforce.Standing, doubted bool) {
			t.Helper()
			if got := v.Check(t.Context(), addr, google); got != want || v.Doubts(addr) != doubted {
				t.Errorf("%s: got %v, doubted: %t; want %v, %t", what, got, v.Doubts(addr), want, doubted)
			}
		}
		check("nobody was answered yet", liar, enforce.Unverified, false)
		check("a real one", robot, enforce.Verified, false)
		time.Sleep(31 * time.Second)
		check("others are answered", liar, enforce.Unverified, true)

		delete(r.names, "192.0.2.1")
		time.Sleep(23 * time.Hour)
		check("the last proof holds for a day", robot, enforce.Verified, false)
		time.Sleep(time.Hour)
		check("proved before", robot, enforce.Unverified, false)
		time.Sleep(31 * time.Second)
		check("proved before, failed since", robot, enforce.Unverified, false)
		check("all fail", liar, enforce.Unverified, false)
	})
}
