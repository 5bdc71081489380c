package verify

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"
)

func TestOnlyPublicAddressesAreDialled(t *testing.T) {
	for text, want := range map[string]bool{
		"8.8.8.8":                true,
		"1.1.1.1":                true,
		"172.32.0.1":             true,
		"2606:4700::1111":        true,
		"64:ff9b::808:808":       true, // 8.8.8.8 behind NAT64
		"::ffff:8.8.8.8":         true,
		"127.0.0.1":              false,
		"127.8.8.8":              false,
		"0.0.0.0":                false,
		"0.1.2.3":                false,
		"10.0.0.1":               false,
		"172.16.0.1":             false,
		"192.168.1.1":            false,
		"100.64.0.1":             false,
		"169.254.169.254":        false,
		"192.0.0.170":            false,
		"192.0.2.1":              false,
		"198.18.0.1":             false,
		"224.0.0.1":              false,
		"240.0.0.1":              false,
		"255.255.255.255":        false,
		"::":                     false,
		"::1":                    false,
		"::ffff:127.0.0.1":       false,
		"::ffff:169.254.169.254": false,
		"::7f00:1":               false,
		"64:ff9b::7f00:1":        false, // 127.0.0.1 behind NAT64
		"64:ff9b::a9fe:a9fe":     false,
		"64:ff9b:1::1":           false,
		"fe80::1":                false,
		"fc00::1":                false,
		"fd00:ec2::254":          false,
		"fec0::1":                false,
		"ff02::1":                false,
		"2001::1":                false,
		"2001:db8::1":            false,
		"2002:7f00:1::":          false,
	} {
		if got := IsPublic(netip.MustParseAddr(text)); got != want {
			t.Errorf("IsPublic(%s) = %v, want %v", text, got, want)
		}
		address := netip.AddrPortFrom(netip.MustParseAddr(text), 443).String()
		if err := RefusePrivate("tcp", address, nil); (err == nil) != want {
			t.Errorf("RefusePrivate(%s) = %v, want an error: %v", address, err, !want)
		}
	}
	if IsPublic(netip.Addr{}) || RefusePrivate("tcp", "nonsense", nil) == nil {
		t.Error("what is no address passes for a public one")
	}
}

// The default client resolves the name and then refuses where it leads.
func TestDefaultClientRefusesLoopback(t *testing.T) {
	reached := false
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached = true }))
	defer server.Close()
	_, port, _ := strings.Cut(strings.TrimPrefix(server.URL, "http://"), ":")
	for _, origin := range []string{server.URL, "http://localhost:" + port} {
		_, _, err := newDirectoryFetcher(nil, false).fetch(context.Background(), origin)
		if err == nil || !strings.Contains(err.Error(), "its address is not a public one") {
			t.Errorf("fetch(%s) = %v, want a refusal of the address", origin, err)
		}
	}
	if reached {
		t.Error("the server was reached, want no connection")
	}
	if _, _, err := newDirectoryFetcher(nil, true).fetch(context.Background(), server.URL); err == nil || !reached {
		t.Errorf("fetch with private addresses allowed: reached %v, %v, want reached and an error about its text", reached, err)
	}
}

func TestDirectoryAge(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"":                          time.Hour,
		"public":                    time.Hour,
		"max-age=7200":              2 * time.Hour,
		"public, Max-Age=7200":      2 * time.Hour,
		`max-age="7200"`:            2 * time.Hour,
		"max-age=1":                 5 * time.Minute,
		"max-age=0":                 5 * time.Minute,
		"no-store":                  5 * time.Minute,
		"max-age=7200, no-cache":    5 * time.Minute,
		"max-age=604800":            24 * time.Hour,
		"max-age=-1":                time.Hour,
		"max-age=99999999999999999": time.Hour,
		"max-age=x":                 time.Hour,
		"s-maxage=5":                time.Hour,
	} {
		if got := directoryAge(http.Header{"Cache-Control": {text}}); got != want {
			t.Errorf("directoryAge(%q) = %s, want %s", text, got, want)
		}
	}
}

func TestMediaTypeIsCheckedLeniently(t *testing.T) {
	for text, want := range map[string]bool{
		"": true, directoryType: true, "application/json; charset=utf-8": true, "application/jwk-set+json": true,
		"text/plain": true, "application/octet-stream": true,
		"text/html": false, "text/html; charset=utf-8": false, "image/png": false, ";": false,
	} {
		if got := mayHoldKeys(text); got != want {
			t.Errorf("mayHoldKeys(%q) = %v, want %v", text, got, want)
		}
	}
}

// What the other side writes into its certificate must not fill the log.
func TestFetchErrorsAreShort(t *testing.T) {
	client := &http.Client{Transport: roundTrip(func(*http.Request) (*http.Response, error) {
		return nil, errors.New(strings.Repeat("x", 10_000))
	})}
	_, _, err := newDirectoryFetcher(client, false).fetch(context.Background(), "https://agent.example")
	if err == nil || len(err.Error()) > 203 || strings.Contains(err.Error(), "agent.example") {
		t.Errorf("fetch() = %.300v, want at most 203 octets without the address", err)
	}
}
