package dns

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/internal/enforce"
)

func TestASuffixMatchesAtALabel(t *testing.T) {
	tests := []struct {
		name, suffix string
		want         bool
	}{
		{"crawl-1.googlebot.com", "googlebot.com", true},
		{"a.geo.googlebot.com", "googlebot.com", true},
		{"googlebot.com", "googlebot.com", true},
		{"crawl-1.googlebot.com", "GoogleBot.COM", true},
		{"crawl-1.googlebot.com", "googlebot.com.", true},
		{"crawl-1.googlebot.com", ".googlebot.com", true},
		{"evilgooglebot.com", "googlebot.com", false},
		{"googlebot.com.evil.org", "googlebot.com", false},
		{"bot.com", "googlebot.com", false},
		{"", "googlebot.com", false},
		{"crawl-1.googlebot.com", "", false},
		{"", "", false},
		{"crawl-1.googlebot.com", ".", false},
		{"yandex.com", "yande\u212a.com", false},
		{"kagi.com", "\u212aagi.com", false},
	}
	for _, test := range tests {
		if got := isUnder(test.name, test.suffix); got != test.want {
			t.Errorf("isUnder(%q, %q) = %v, want %v", test.name, test.suffix, got, test.want)
		}
	}
}

func TestNamesComeInAnyCase(t *testing.T) {
	resolver := &fakeResolver{
		names: map[string][]string{"192.0.2.1": {"Crawl.GoogleBot.com"}},
		addrs: map[string][]netip.Addr{"crawl.googlebot.com.": {robot}},
	}
	d := New(Options{Resolver: resolver, Patience: time.Minute})
	defer d.Close()
	if got := d.Check(t.Context(), robot, google); got != enforce.Verified {
		t.Errorf("Check = %v, want %v; the resolver was asked %q", got, enforce.Verified, resolver.asked)
	}
}

func TestNamesThatNoHostCanHaveAreNotLookedUp(t *testing.T) {
	for _, name := range []string{"", ".", "a b.googlebot.com", "\x00.googlebot.com", "\u212a.googlebot.com",
		strings.Repeat("a.", 121) + "googlebot.com"} {
		resolver := &fakeResolver{names: map[string][]string{"192.0.2.1": {name}}}
		d := New(Options{Resolver: resolver, Patience: time.Minute})
		if got := d.Check(t.Context(), robot, google); got != enforce.Impostor {
			t.Errorf("Check with the name %q = %v, want %v", name, got, enforce.Impostor)
		}
		if got := len(resolver.asked); got != 1 {
			t.Errorf("with the name %q the resolver was asked %q, want only for the name", name, resolver.asked)
		}
		d.Close()
	}
}

func TestAFailureBesideAConfirmedNameNeverMakesAnImpostor(t *testing.T) {
	resolver := &halfFailing{honest(0)}
	resolver.names["192.0.2.1"] = []string{"host.example.", "broken.googlebot.com."}
	resolver.addrs["host.example."] = []netip.Addr{robot}
	d := New(Options{Resolver: resolver, Patience: time.Minute})
	defer d.Close()
	if got := d.Check(t.Context(), robot, google); got != enforce.Unverified {
		t.Errorf("Check for the name that could not be looked up = %v, want %v", got, enforce.Unverified)
	}
	if got := d.Check(t.Context(), robot, []string{"host.example"}); got != enforce.Verified {
		t.Errorf("Check for the confirmed name = %v, want %v", got, enforce.Verified)
	}
}
