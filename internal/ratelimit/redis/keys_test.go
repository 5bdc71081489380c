package redis

import (
	"strings"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/internal/ratelimit"
)

// keysOf returns the keys of a request that may be banned.
func keysOf(k ratelimit.Key, address string) [3]string {
	c := newCall(time.Hour)
	defer c.free()
	c.judge(&ratelimit.Request{Key: k, Address: address, Ban: &ratelimit.BanPolicy{}, Line: 7, Rule: "Disallow: /"})
	return c.keys
}

// long is a part of a key that is too long to be kept as it is.
var long = strings.Repeat("very-", 100)

func TestKeys(t *testing.T) {
	for _, test := range []struct {
		key     ratelimit.Key
		address string
		want    [3]string
	}{
		{ratelimit.Key{Site: "one.example:8080", Robot: "figtree", Standing: "verified"}, "192.0.2.1", [3]string{
			"caddy-robots:{one.example:8080/figtree/verified}:pace",
			"caddy-robots:{one.example:8080/figtree/verified}:ban:192.0.2.1",
			"caddy-robots:{one.example:8080/figtree/verified}:offences:192.0.2.1",
		}},
		{ratelimit.Key{}, "", [3]string{
			"caddy-robots:{//}:pace", "caddy-robots:{//}:ban:", "caddy-robots:{//}:offences:",
		}},
		{ratelimit.Key{Site: "a/b", Robot: "{#}%", Standing: "é \x00"}, "2001:db8::1", [3]string{
			"caddy-robots:{a%2Fb/%7B%23%7D%25/%C3%A9%20%00}:pace",
			"caddy-robots:{a%2Fb/%7B%23%7D%25/%C3%A9%20%00}:ban:2001:db8::1",
			"caddy-robots:{a%2Fb/%7B%23%7D%25/%C3%A9%20%00}:offences:2001:db8::1",
		}},
	} {
		if got := keysOf(test.key, test.address); got != test.want {
			t.Errorf("keys of %+v from %q: got %q, want %q", test.key, test.address, got, test.want)
		}
	}
}

func TestLongKeys(t *testing.T) {
	seen := make(map[string]bool)
	for _, end := range []string{"", "a", "b"} {
		for _, key := range keysOf(ratelimit.Key{Site: "one.example", Robot: long + end}, long+end) {
			if len(key) > 200 || !strings.HasPrefix(key, "caddy-robots:{one.example/very-very-") {
				t.Errorf("key of a long name: got %q of %d bytes, want it to begin as the name and to have at most 200", key, len(key))
			}
			if seen[key] {
				t.Errorf("key %q is that of two names", key)
			}
			seen[key] = true
		}
	}
}

// TestLiftMeansTheSameKeys compares the two places that make up a ban's keys.
func TestLiftMeansTheSameKeys(t *testing.T) {
	for _, address := range []string{"", "192.0.2.1", long} {
		k := ratelimit.Key{Site: "one.example", Robot: long, Standing: "x"}
		want := keysOf(k, address)
		if ban, offences := banKeys(k, address); ban != want[1] || offences != want[2] {
			t.Errorf("keys of a ban from %q: got %q and %q, want %q", address, ban, offences, want[1:])
		}
	}
}

// FuzzKeys puts two clients side by side. It holds three properties:
//
//   - apart: budgets and bans are those of one client;
//   - short: no key has more than 200 bytes;
//   - one slot: all keys of a request have the same tag, as a cluster needs it.
func FuzzKeys(f *testing.F) {
	f.Add("one.example", "figtree", "", "192.0.2.1", "one.example/figtree", "", "", "192.0.2.1")
	f.Add("a", "b", "c", "d", "a", "b", "c:pace", "d")
	f.Add(long, "%", "{", "}", long+long, "#", "/", long)
	f.Fuzz(func(t *testing.T, site1, robot1, standing1, address1, site2, robot2, standing2, address2 string) {
		one, two := ratelimit.Key{Site: site1, Robot: robot1, Standing: standing1}, ratelimit.Key{Site: site2, Robot: robot2, Standing: standing2}
		keys1, keys2 := keysOf(one, address1), keysOf(two, address2)
		if same := keys1[0] == keys2[0]; same != (one == two) {
			t.Errorf("apart: %+v and %+v have %q and %q", one, two, keys1[0], keys2[0])
		}
		if same := keys1[1] == keys2[1] || keys1[2] == keys2[2]; same != (one == two && address1 == address2) {
			t.Errorf("apart: %+v from %q and %+v from %q have %q and %q", one, address1, two, address2, keys1, keys2)
		}
		tag := func(key string) string {
			_, rest, _ := strings.Cut(key, "{")
			tag, _, _ := strings.Cut(rest, "}")
			return tag
		}
		for _, key := range keys1 {
			if len(key) > 200 {
				t.Errorf("short: %q has %d", key, len(key))
			}
			if tag(key) == "" || tag(key) != tag(keys1[0]) {
				t.Errorf("one slot: got %q", keys1)
			}
		}
	})
}
