package ipranges

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"strings"
	"testing"
)

var robot = netip.MustParseAddr("192.0.2.1")

// inRange and outOfRange are addresses of the range in most tests, and two beside it.
var (
	inRange    = []string{"192.0.2.0", "192.0.2.255", "::ffff:192.0.2.7"}
	outOfRange = []string{"192.0.1.255", "192.0.3.0", "::192.0.2.7", "2001:db8::"}
)

func checkContains(t *testing.T, r *Set, addrs []string, want bool) {
	t.Helper()
	for _, addr := range addrs {
		if got := r.Contains(netip.MustParseAddr(addr)); got != want {
			t.Errorf("Contains(%s) = %v, want %v", addr, got, want)
		}
	}
}

func TestNewRefusesWhatProvesNothing(t *testing.T) {
	prefixes := func(texts ...string) (all []netip.Prefix) {
		for _, text := range texts {
			all = append(all, netip.MustParsePrefix(text))
		}
		return all
	}
	tests := []struct {
		name     string
		prefixes []netip.Prefix
		want     string
	}{
		{"none", nil, "no address range"},
		{"invalid", append(prefixes("192.0.2.0/24"), netip.Prefix{}), "range 2 of 2 is not valid"},
		{"IPv4 too broad", prefixes("192.0.2.0/24", "16.0.0.0/7"), "16.0.0.0/7 is too broad"},
		{"IPv6 too broad", prefixes("2000::/15"), "2000::/15 is too broad"},
		{"too many", make([]netip.Prefix, maxRanges+1), "more than 100000"},
	}
	for _, test := range tests {
		if r, err := New(test.prefixes); err == nil || r != nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: New = %v, %v, want nil and %q", test.name, r, err, test.want)
		}
	}
	if _, err := New(prefixes("17.0.0.0/8", "2000::/16")); err != nil {
		t.Errorf("New of the broadest that are allowed: %v, want no error", err)
	}
}

func TestNoRangesContainNothing(t *testing.T) {
	full, err := Parse([]byte("192.0.2.0/24\n2001:db8::/32"))
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name   string
		ranges *Set
		addr   netip.Addr
	}{
		{"nil", nil, robot}, {"zero", &Set{}, robot}, {"zero, IPv6", &Set{}, netip.IPv6Loopback()},
		{"invalid address", full, netip.Addr{}},
	}
	for _, test := range tests {
		if test.ranges.Contains(test.addr) {
			t.Errorf("%s: Contains(%v) = true, want false", test.name, test.addr)
		}
	}
	if got := (*Set)(nil).Len(); got != 0 {
		t.Errorf("Len of nil = %d, want 0", got)
	}
	if !full.Contains(netip.MustParseAddr("2001:db8::1%eth0")) {
		t.Error("Contains of an address with a zone = false, want true")
	}
}

// TestContainsAgreesWithItsDefinition compares random sets with the definition, for every
// address of a small world and both of its neighbours, and at the edges of the ranges.
func TestContainsAgreesWithItsDefinition(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	worlds := []struct {
		base netip.Addr
		bits int // of the smallest range that holds the world
	}{
		{netip.MustParseAddr("192.0.2.0"), 26}, {netip.MustParseAddr("255.255.255.192"), 26}, {netip.MustParseAddr("0.0.0.0"), 26},
		{netip.MustParseAddr("2001:db8::"), 122}, {netip.MustParseAddr("2001:db8:0:1::"), 122},
		{netip.MustParseAddr("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffc0"), 122},
	}
	checked, inside := 0, 0
	for _, world := range worlds {
		for range 300 {
			prefixes := randomPrefixes(random, world.base, world.bits)
			r, err := New(prefixes)
			if err != nil {
				t.Fatal(err)
			}
			addr := world.base.Prev()
			for range 66 {
				want := false
				for _, p := range prefixes {
					want = want || p.Contains(addr)
				}
				if got := r.Contains(addr); got != want {
					t.Fatalf("%v contain %v: %v, want %v", prefixes, addr, got, want)
				}
				checked++
				if want {
					inside++
				}
				if addr = addr.Next(); !addr.IsValid() {
					addr = world.base
				}
			}
		}
	}
	if checked < 100_000 || inside < 20_000 {
		t.Errorf("%d addresses checked, %d of them inside, want 100,000 and 20,000", checked, inside)
	}
}

func randomPrefixes(random *rand.Rand, base netip.Addr, bits int) []netip.Prefix {
	var prefixes []netip.Prefix
	for range 1 + random.IntN(6) {
		raw := base.AsSlice()
		raw[len(raw)-1] += byte(random.IntN(64))
		addr, _ := netip.AddrFromSlice(raw)
		prefixes = append(prefixes, netip.PrefixFrom(addr, bits+random.IntN(base.BitLen()-bits+1)))
	}
	return prefixes
}

func TestContainsAgreesWithItsDefinitionForBroadRanges(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	checked := 0
	for range 3000 {
		var raw [16]byte
		for i := range raw {
			raw[i] = byte(random.IntN(256))
		}
		p := netip.PrefixFrom(netip.AddrFrom16(raw), shortestIPv6+random.IntN(129-shortestIPv6))
		r, err := New([]netip.Prefix{p})
		if err != nil {
			t.Fatal(err)
		}
		for bit := range 128 { // an address that differs in one bit
			other := raw
			other[bit/8] ^= 0x80 >> (bit % 8)
			addr := netip.AddrFrom16(other)
			if got, want := r.Contains(addr), p.Contains(addr); got != want {
				t.Fatalf("%v contains %v: %v, want %v", p, addr, got, want)
			}
			checked++
		}
	}
	if checked < 300_000 {
		t.Errorf("%d addresses checked, want 300,000", checked)
	}
}

func TestContainsCostsNoAllocation(t *testing.T) {
	r := manyRanges(t, 1000)
	for _, addr := range []netip.Addr{robot, netip.MustParseAddr("2001:db8::1")} {
		if got := testing.AllocsPerRun(100, func() { r.Contains(addr) }); got != 0 {
			t.Errorf("Contains(%v): %v allocations, want 0", addr, got)
		}
	}
}

// manyRanges returns n ranges that lie apart, half of each family.
func manyRanges(tb testing.TB, n int) *Set {
	tb.Helper()
	var prefixes []netip.Prefix
	for i := range n / 2 {
		prefixes = append(prefixes,
			netip.PrefixFrom(netip.AddrFrom4([4]byte{16, byte(i >> 8), byte(i), 0}), 28),
			netip.PrefixFrom(netip.AddrFrom16([16]byte{0x20, 1, 0xd, 0xb8, byte(i >> 8), byte(i)}), 64))
	}
	r, err := New(prefixes)
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

func BenchmarkContains(b *testing.B) {
	for _, n := range []int{100, 10_000} {
		r := manyRanges(b, n)
		for _, family := range []string{"IPv4", "IPv6"} {
			addrs := someAddresses(family == "IPv6", n/2)
			b.Run(fmt.Sprintf("%s/%d", family, n), func(b *testing.B) {
				b.ReportAllocs()
				inside := 0
				for i := 0; b.Loop(); i++ {
					if r.Contains(addrs[i&(len(addrs)-1)]) {
						inside++
					}
				}
				if inside == 0 || inside == b.N && b.N > 100 {
					b.Fatalf("%d of %d addresses are inside, want some", inside, b.N)
				}
			})
		}
	}
}

// someAddresses are in and out of n of manyRanges, in no order that a processor could learn.
func someAddresses(ipv6 bool, n int) []netip.Addr {
	random := rand.New(rand.NewPCG(5, 6))
	addrs := make([]netip.Addr, 1<<14) // a power of two
	for i := range addrs {
		at, end := random.IntN(n), byte(random.IntN(32))
		addrs[i] = netip.AddrFrom4([4]byte{16, byte(at >> 8), byte(at), end})
		if ipv6 {
			addrs[i] = netip.AddrFrom16([16]byte{0x20, 1, 0xd, 0xb8, byte(at >> 8), byte(at), 0, end & 1})
		}
	}
	return addrs
}
