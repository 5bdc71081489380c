package ipranges

import (
	"bytes"
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

func TestParseReadsWhatOperatorsPublish(t *testing.T) {
	tests := []struct {
		name, text string
		want       int
	}{
		{"prefixes, as Google and others", `{"creationTime": "2026-11-20T15:00:10.000000",
			"prefixes": [{"ipv6Prefix": "2001:db8:1::/64"}, {"ipv4Prefix": "192.0.2.0/24"}]}`, 2},
		{"prefixes with services, as a cloud", `{"syncToken": "1479494948", "prefixes": [{"ip_prefix": "192.0.2.0/24",
			"region": "GLOBAL", "service": "S3", "network_border_group": "g"}], "ipv6_prefixes": [{"ipv6_prefix": "2001:db8:1::/48"}]}`, 2},
		{"empty members", `{"prefixes": [{"ipv4Prefix": "192.0.2.0/24", "ipv6Prefix": ""}, {"ipv6Prefix": null}]}`, 1},
		{"addresses under ips", `{"ips": [{"ip_address": "192.0.2.0/24", "ip_type": "IPv4"}, {"ip_address": "198.51.100.1"}]}`, 2},
		{"lists named for a family", `{"result": {"ipv4_cidrs": ["192.0.2.0/24"], "ipv6_cidrs": []}, "success": true, "errors": []}`, 1},
		{"a list under a name of its own", `{"WEBHOOKS": ["192.0.2.0/24", "198.51.100.1"]}`, 2},
		{"a list beside others that are something else", `{"description": "ours", "list": ["192.0.2.0/24"],
			"matching_attributes": ["ip-src", "ip-dst"], "version": 20261005, "huge": 1e999}`, 1},
		{"a bare list", `["192.0.2.0/24", "2001:db8:1::1"]`, 2},
		{"a bare list of objects", `[{"ip": "192.0.2.0/24", "name": "GPTBot", "sources": ["https://example.com/gptbot.json"]}]`, 1},
		{"lists in lists", `[[["192.0.2.0/24"]]]`, 1},
		{"byte order mark", "\ufeff" + `["192.0.2.0/24"]`, 1},
		{"lines", "192.0.2.0/24\n2001:db8:1::/48\n198.51.100.1\n", 3},
		{"lines with comments", "# ours\n\n  192.0.2.0/24   # Berlin\r\n#198.51.100.0/24\r\n", 1},
		{"geofeed", "# geofeed, RFC 8805\n192.0.2.0/24,US,US-CA,Menlo Park,\n2001:db8:1::/48,IE,,,\n", 2},
		{"CSV with a header", "IP,Name,Sources\n192.0.2.0/24,GPTBot,https://example.com/\n", 1},
		{"quoted CSV", "\"192.0.2.0/24\",\"US\"\n", 1},
		{"bits after the length", "192.0.2.99/24\n", 1},
		{"IPv4-mapped", "::ffff:192.0.2.0/120", 1},
		{"one inside another, and twice", "192.0.2.0/25\n192.0.2.0/24\n192.0.2.128/25\n192.0.2.0/24\n", 4},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r, err := Parse([]byte(test.text))
			if err != nil {
				t.Fatalf("Parse(%q): %v", test.text, err)
			}
			if got := r.Len(); got != test.want {
				t.Errorf("Parse(%q).Len() = %d, want %d", test.text, got, test.want)
			}
			checkContains(t, r, inRange, true)
			checkContains(t, r, outOfRange, false)
		})
	}
}

func checkContains(t *testing.T, r *Set, addrs []string, want bool) {
	t.Helper()
	for _, addr := range addrs {
		if got := r.Contains(netip.MustParseAddr(addr)); got != want {
			t.Errorf("Contains(%s) = %v, want %v", addr, got, want)
		}
	}
}

func TestParseRefusesWhatCannotBeTrusted(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"nothing", "", "no address range in it"},
		{"only comments", "# soon\n\n", "no address range in it"},
		{"no prefixes", `{"creationTime": "2026-11-20", "prefixes": []}`, "no address range in it"},
		{"numbers and booleans", `[1, true, null, {"ip": 5}]`, "no address range in it"},
		{"HTML", "\n<!DOCTYPE html><html><body>192.0.2.0/24</body></html>", "HTML"},
		{"HTML in the midst", "192.0.2.0/24\n<br>\n", `line 2: "<br>" is not an address range: write an address or a CIDR`},
		{"prose", "See our help page.", `line 1: "See our help page." is not an address range`},
		{"a host name", "# ours\nbot.example.com\n", `line 2: "bot.example.com" is not an address range`},
		{"a bad length", "192.0.2.0/33", `line 1: "192.0.2.0/33" is not`},
		{"a zone", "fe80::1%eth0", `line 1: "fe80::1%eth0" is not`},
		{"a CSV row without a range", "192.0.2.0/24,US\n,US\n", `line 2: "" is not`},
		{"a second CSV header", "192.0.2.0/24,US\nip,country\n", `line 2: "ip" is not`},
		{"all of IPv4", "192.0.2.0/24\n0.0.0.0/0\n", "line 2: 0.0.0.0/0 is too broad"},
		{"all of IPv4 within IPv6", "::/80", "line 1: ::/80 is too broad"},
		{"all of IPv4, mapped", "::ffff:0:0/96", "line 1: 0.0.0.0/0 is too broad"},
		{"all of IPv4, and as much beside it", "::ffff:0:0/95", "line 1: ::ffff:0.0.0.0/95 is too broad"},
		{"half of IPv4, mapped", "::ffff:0.0.0.0/97", "line 1: 0.0.0.0/1 is too broad"},
		{"all of IPv6", `{"prefixes": [{"ipv6Prefix": "::/0"}]}`, "prefixes[0].ipv6Prefix: ::/0 is too broad"},
		{"a JSON list where only the first is a range", `{"list": ["192.0.2.0/24", "soon"]}`, `list[1]: "soon" is not`},
		{"a JSON list whose first is too broad", `{"list": ["0.0.0.0/7"]}`, "list[0]: 0.0.0.0/7 is too broad"},
		{"a JSON list named for ranges", `{"cidrs": ["soon"]}`, `cidrs[0]: "soon" is not`},
		{"a bare JSON list", `["soon"]`, `[0]: "soon" is not`},
		{"a member named for a range", `{"a": [{}, {"ipv4Prefix": "n/a"}]}`, `a[1].ipv4Prefix: "n/a" is not`},
		{"JSON that ends early", `{"prefixes": [{"ipv4Prefix": "192.0.2.0/24"}`, "the JSON ends early, after 44 octets"},
		{"JSON that is not well-formed", `{"prefixes": [192.0.2.0/24]}`, "not well-formed JSON"},
		{"something after the JSON", `["192.0.2.0/24"] ["198.51.100.0/24"]`, "something follows the end of the JSON"},
		{"JSON without a bottom", strings.Repeat("[", 100_000), "nested more than 32 deep"},
		{"a key that is long and strange", `{"` + strings.Repeat("\\n", 999) + `": {"ip": "soon"}}`, `\n"....ip: "soon" is not`},
		{"a path that is long", strings.Repeat(`{"a": [`, 10) + `{"ip": "soon"}`, `...[0].a[0].a[0].ip: "soon" is not`},
		{"a line that is long", strings.Repeat("x", 99_999), `x"... is not an address range`},
		{"too many lines", strings.Repeat("192.0.2.1\n", maxRanges+1), "line 100001: more than 100000 ranges"},
		{"too many in JSON", `["192.0.2.1"` + strings.Repeat(`,"192.0.2.1"`, maxRanges) + `]`, "[100000]: more than 100000 ranges"},
		{"too long", strings.Repeat("# a comment\n", MaxSize/12+1), "8388612 octets are too many"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r, err := Parse([]byte(test.text))
			if err == nil {
				t.Fatalf("Parse(%.80q) = %d ranges, want an error", test.text, r.Len())
			}
			if got := err.Error(); r != nil || !strings.Contains(got, test.want) || len(got) > 400 {
				t.Errorf("Parse(%.80q) = %v, %q, want nil and something like %q, not long", test.text, r, got, test.want)
			}
		})
	}
}

func TestParseTakesAsManyAsAreAllowed(t *testing.T) {
	r, err := Parse([]byte(strings.Repeat("192.0.2.1\n", maxRanges)))
	if err != nil || r.Len() != maxRanges {
		t.Errorf("Parse of %d lines: %d, %v, want no error", maxRanges, r.Len(), err)
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
		octets := base.AsSlice()
		octets[len(octets)-1] += byte(random.IntN(64))
		addr, _ := netip.AddrFromSlice(octets)
		prefixes = append(prefixes, netip.PrefixFrom(addr, bits+random.IntN(base.BitLen()-bits+1)))
	}
	return prefixes
}

func TestContainsAgreesWithItsDefinitionForBroadRanges(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	checked := 0
	for range 3000 {
		var octets [16]byte
		for i := range octets {
			octets[i] = byte(random.IntN(256))
		}
		p := netip.PrefixFrom(netip.AddrFrom16(octets), shortestIPv6+random.IntN(129-shortestIPv6))
		r, err := New([]netip.Prefix{p})
		if err != nil {
			t.Fatal(err)
		}
		for bit := range 128 { // an address that differs in one bit
			other := octets
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

func BenchmarkParse(b *testing.B) {
	var text bytes.Buffer
	text.WriteString(`{"prefixes": [{"ipv4Prefix": "192.0.2.0/24"}`)
	for i := range 10_000 {
		fmt.Fprintf(&text, `, {"ipv4Prefix": "16.%d.%d.0/28"}`, i>>8, i&255)
	}
	text.WriteString("]}")
	b.SetBytes(int64(text.Len()))
	for b.Loop() {
		if _, err := Parse(text.Bytes()); err != nil {
			b.Fatal(err)
		}
	}
}

// FuzzParseRanges reads anything as a list of addresses. It holds four properties:
//
//   - one of two: there are ranges or an error, whose text is one line of at most 4 KiB;
//   - bounded: there are at least one and at most maxRanges of them;
//   - held: the set contains the first address of each range;
//   - line end: one more at the end changes nothing.
func FuzzParseRanges(f *testing.F) {
	for _, seed := range []string{
		`{"prefixes": [{"ipv4Prefix": "192.0.2.0/24"}, {"ipv6Prefix": "2001:db8::/32"}]}`,
		`{"list": ["192.0.2.0/24"], "kinds": ["ip-src"]}`, `[[["192.0.2.1"]], {"ip": ""}, 1e999, null]`,
		"192.0.2.0/24 # ours\r\n2001:db8::1\n", "ip,where\n192.0.2.0/24,US\n", "0.0.0.0/0", "::ffff:192.0.2.0/120", "<html>", "[", "",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := Parse(text)
		if (r == nil) != (err != nil) {
			t.Fatalf("one of two: Parse(%q) = %v, %v", text, r, err)
		}
		if err != nil {
			if message := err.Error(); len(message) > 4096 || strings.ContainsAny(message, "\n\r\x00") {
				t.Errorf("one of two: Parse(%q): the message %q is long or has more than one line", text, message)
			}
			return
		}
		if r.Len() < 1 || r.Len() > maxRanges {
			t.Errorf("bounded: Parse(%q).Len() = %d, want 1 to %d", text, r.Len(), maxRanges)
		}
		checkEdges(t, r)
		again, err := Parse(append(text, '\n'))
		if err != nil || again.Len() != r.Len() {
			t.Errorf("line end: Parse(%q): %d ranges, %v, want %d", text, again.Len(), err, r.Len())
		}
	})
}

// checkEdges checks that a set contains the first address of each of its ranges.
func checkEdges(t *testing.T, s *Set) {
	t.Helper()
	for p := range s.table.All() {
		if !s.Contains(p.Addr()) || !s.Contains(netip.AddrFrom16(p.Addr().As16())) {
			t.Fatalf("held: %v is listed, and its first address is not in the set", p)
		}
	}
}
