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
