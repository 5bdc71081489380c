package ipranges

import (
	"net/netip"
	"testing"
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
		"168.63.129.16":          false, // Azure's own
		"168.63.129.17":          true,
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

func TestHostsThatMayBePublic(t *testing.T) {
	for host, want := range map[string]bool{
		"example.com": true, "www.example.co.uk.": true, "8.8.8.8": true, "2606:4700::1111": true, "xn--fiq.example": true,
		"internal.example.com": true, "local.example": true, "10.example": true,
		"": false, ".": false, ".com": false, "localhost": false, "LOCALHOST.": false, "a.localhost": false, "redis": false,
		"printer.local": false, "metadata.google.internal": false, "nas.home.arpa": false, "wiki.corp": false,
		"127.0.0.1": false, "127.0.0.1.": false, "10.0.0.1": false, "::1": false, "::ffff:10.0.0.1": false, "fe80::1%eth0": false,
		"127.1": false, "2130706433": false, "0x7f.1": false, "0x7f000001": false, "0177.0.0.1": false, "8.8.0x808": false,
	} {
		if got := IsPublicHost(host); got != want {
			t.Errorf("IsPublicHost(%q) = %t, want %t", host, got, want)
		}
	}
}
