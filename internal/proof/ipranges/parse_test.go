package ipranges

import (
	"bytes"
	"fmt"
	"net/netip"
	"strings"
	"testing"
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
		{"JSON that ends early", `{"prefixes": [{"ipv4Prefix": "192.0.2.0/24"}`, "the JSON ends early, after 44 bytes"},
		{"JSON that is not well-formed", `{"prefixes": [192.0.2.0/24]}`, "not well-formed JSON"},
		{"something after the JSON", `["192.0.2.0/24"] ["198.51.100.0/24"]`, "something follows the end of the JSON"},
		{"JSON without a bottom", strings.Repeat("[", 100_000), "nested more than 32 deep"},
		{"a key that is long and strange", `{"` + strings.Repeat("\\n", 999) + `": {"ip": "soon"}}`, `\n"....ip: "soon" is not`},
		{"a path that is long", strings.Repeat(`{"a": [`, 10) + `{"ip": "soon"}`, `...[0].a[0].a[0].ip: "soon" is not`},
		{"a line that is long", strings.Repeat("x", 99_999), `x"... is not an address range`},
		{"too many lines", strings.Repeat("192.0.2.1\n", maxRanges+1), "line 100001: more than 100000 ranges"},
		{"too many in JSON", `["192.0.2.1"` + strings.Repeat(`,"192.0.2.1"`, maxRanges) + `]`, "[100000]: more than 100000 ranges"},
		{"too long", strings.Repeat("# a comment\n", MaxSize/12+1), "8388612 bytes are too many"},
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
