package limitertest

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/internal/ratelimit"
)

func testOffencesBan(t *testing.T, l ratelimit.Limiter) {
	judge(t, l, offends(0), offends(10*s), offends(59*s).bans(), passes(59*s).banned(59*s))
}

func testOneOffenceBans(t *testing.T, l ratelimit.Limiter) {
	one := &ratelimit.BanPolicy{Offences: 1, Within: 60 * s, For: 600 * s}
	judge(t, l, offends(0).under(one).bans(), passes(1*s).under(one).banned(0))
}

func testTooFewOffences(t *testing.T, l ratelimit.Limiter) {
	judge(t, l, offends(0), offends(1*s), passes(2*s))
}

// testOffencesFarApart has any two within the time, but no three until the
// last, which no window with a fixed beginning would find.
func testOffencesFarApart(t *testing.T, l ratelimit.Limiter) {
	judge(t, l,
		offends(0), offends(40*s), offends(80*s), offends(120*s), passes(120*s),
		offends(130*s).bans(), passes(131*s).banned(130*s))
}

// testMaxOffences asks for more offences than a policy may wait for.
func testMaxOffences(t *testing.T, l ratelimit.Limiter) {
	never := &ratelimit.BanPolicy{Offences: 1 << 30, Within: 60 * s, For: 600 * s}
	var visits []visit
	for range ratelimit.MaxOffences - 1 {
		visits = append(visits, offends(0).under(never))
	}
	judge(t, l, append(visits, passes(0).under(never), offends(0).under(never).bans())...)
}

func testBanRefuses(t *testing.T, l ratelimit.Limiter) {
	judge(t, l,
		offends(0), offends(0), offends(5*s).bans(),
		passes(6*s).banned(5*s), passes(300*s).banned(5*s), passes(605*s-early).banned(5*s))
}

func testBanEnds(t *testing.T, l ratelimit.Limiter) {
	judge(t, l, offends(0), offends(0), offends(5*s).bans(), passes(605*s), offends(606*s))
}

func testCountBeginsAnew(t *testing.T, l ratelimit.Limiter) {
	brief := &ratelimit.BanPolicy{Offences: 3, Within: 60 * s, For: 10 * s}
	judge(t, l,
		offends(0).under(brief), offends(1*s).under(brief), offends(2*s).under(brief).bans(),
		offends(12*s).under(brief), offends(13*s).under(brief), passes(14*s).under(brief),
		offends(15*s).under(brief).bans())
}

// testBanStepBack has the clock step back by a month, and then run on.
func testBanStepBack(t *testing.T, l ratelimit.Limiter) {
	judge(t, l,
		offends(month), offends(month), offends(month).bans(),
		passes(0).banned(0), passes(600*s-early).banned(0), passes(600*s))
}

// testOffencesOutOfOrder has each offence come just before the last one.
func testOffencesOutOfOrder(t *testing.T, l ratelimit.Limiter) {
	judge(t, l, offends(2*s), offends(1*s), passes(1*s), offends(0).bans(), passes(1*s).banned(0))
}

func testTooFastIsAnOffence(t *testing.T, l ratelimit.Limiter) {
	judge(t, l,
		passes(0).paced(slow, 0),
		passes(1*s).paced(slow, 9*s),
		passes(2*s).paced(slow, 8*s),
		passes(3*s).paced(slow, 7*s).bans(),
		passes(4*s).paced(slow, 0).banned(3*s))
}

func testAdmittedIsNoOffence(t *testing.T, l ratelimit.Limiter) {
	visits := []visit{offends(0), offends(0)}
	for i := range time.Duration(6) {
		visits = append(visits, passes(i*10*s).paced(slow, 0), passes(i*10*s))
	}
	judge(t, l, visits...)
}

func testOffenceDrawsOnNoBudget(t *testing.T, l ratelimit.Limiter) {
	judge(t, l, offends(0).paced(slow, 0), offends(0).under(nil).paced(slow, 0), passes(1*s).paced(slow, 0), passes(2*s).paced(slow, 9*s))
}

// testBannedDrawsOnNoBudget has another client of the same budget come after one
// that is banned.
func testBannedDrawsOnNoBudget(t *testing.T, l ratelimit.Limiter) {
	judge(t, l,
		offends(0), offends(0), offends(0).bans(),
		passes(1*s).paced(slow, 0).banned(0),
		passes(2*s).paced(slow, 0).of(key, "192.0.2.2"))
}

// testBannedLengthensNothing offends three times during the ban, and once after it.
func testBannedLengthensNothing(t *testing.T, l ratelimit.Limiter) {
	judge(t, l,
		offends(0), offends(0), offends(0).bans(),
		offends(597*s).banned(0), offends(598*s).banned(0), offends(599*s).banned(0),
		passes(600*s), offends(601*s), passes(602*s))
}

func testBanKeepsItsLine(t *testing.T, l ratelimit.Limiter) {
	last, after := offends(2*s), passes(3*s)
	last.request.Line, last.request.Rule = 12, "Crawl-delay: 10 # \"é\"\n|:%\x00"
	after = after.banned(2 * s)
	after.want.Ban = last.ban(2 * s)
	judge(t, l, offends(0), offends(1*s), last.bans(), after)
}

func testAddressesBannedApart(t *testing.T, l ratelimit.Limiter) {
	testBannedApart(t, l, key, "192.0.2.2")
}

// testEmptyAddress bans a robot that answers for all addresses: it is a client like
// any other.
func testEmptyAddress(t *testing.T, l ratelimit.Limiter) {
	testBannedApart(t, l, key, "")
}

func testSitesBannedApart(t *testing.T, l ratelimit.Limiter) {
	testBannedApart(t, l, ratelimit.Key{Site: "two.example", Robot: key.Robot}, address)
}

func testRobotsBannedApart(t *testing.T, l ratelimit.Limiter) {
	testBannedApart(t, l, ratelimit.Key{Site: key.Site, Robot: "unhipbot"}, address)
}

func testStandingsBannedApart(t *testing.T, l ratelimit.Limiter) {
	testBannedApart(t, l, ratelimit.Key{Site: key.Site, Robot: key.Robot, Standing: "verified"}, address)
}

// testBannedApart checks that another client and the usual one share neither
// offences nor bans.
func testBannedApart(t *testing.T, l ratelimit.Limiter, k ratelimit.Key, other string) {
	t.Helper()
	judge(t, l,
		offends(0), offends(1*s).of(k, other), offends(2*s), offends(3*s).of(k, other), passes(4*s), passes(4*s).of(k, other),
		offends(5*s).bans(), passes(6*s).of(k, other), passes(6*s).banned(5*s),
		offends(7*s).of(k, other).bans(), passes(8*s).of(k, other).banned(7*s), passes(8*s).banned(5*s))
}

// testClientParts looks for stores that join the parts of a client.
func testClientParts(t *testing.T, l ratelimit.Limiter) {
	one := &ratelimit.BanPolicy{Offences: 1, Within: 60 * s, For: 600 * s}
	type client struct {
		key     ratelimit.Key
		address string
	}
	banned := client{ratelimit.Key{Site: "parts.example", Robot: "a", Standing: "b"}, "c"}
	visits := []visit{offends(0).under(one).of(banned.key, banned.address).bans()}
	for _, c := range []client{
		{ratelimit.Key{Site: "parts.example", Robot: "a", Standing: "bc"}, ""},
		{ratelimit.Key{Site: "parts.example", Robot: "a"}, "bc"},
		{ratelimit.Key{Site: "parts.example", Robot: "a", Standing: "c"}, "b"},
		{ratelimit.Key{Site: "parts.example", Robot: "a", Standing: "b:c"}, ""},
		{ratelimit.Key{Site: "parts.example", Robot: "a"}, "b:c"},
		{ratelimit.Key{Site: "parts.example", Robot: "a:b"}, "c"},
		{ratelimit.Key{Site: "parts.example", Robot: "a|b"}, "c"},
		{ratelimit.Key{Site: "c", Robot: "a", Standing: "b"}, "parts.example"},
	} {
		visits = append(visits, passes(1*s).under(one).of(c.key, c.address))
	}
	judge(t, l, visits...)
}

// testNoPolicy offends under policies that ban nobody, and then meets a client
// that is banned under another.
func testNoPolicy(t *testing.T, l ratelimit.Limiter) {
	none := []*ratelimit.BanPolicy{
		nil,
		{},
		{Within: 60 * s, For: 600 * s},
		{Offences: 1, For: 600 * s},
		{Offences: 1, Within: 60 * s},
		{Offences: -1, Within: 60 * s, For: 600 * s},
	}
	var visits []visit
	for _, p := range none {
		for range 5 {
			visits = append(visits, offends(0).under(p), passes(0).under(p))
		}
	}
	visits = append(visits, passes(1*s), offends(1*s), offends(1*s), offends(1*s).bans())
	for _, p := range none {
		visits = append(visits, passes(2*s).under(p))
	}
	judge(t, l, visits...)
}

// testConcurrentOffences has all takers offend at the same time.
func testConcurrentOffences(t *testing.T, l ratelimit.Limiter) {
	const each, offences = 25, 7
	r := offends(0).under(&ratelimit.BanPolicy{Offences: offences, Within: 60 * s, For: 600 * s}).request
	var counted, brought, banned atomic.Int64
	together(func(int) {
		for range each {
			result, err := l.Take(context.Background(), r, start)
			switch {
			case err != nil:
				t.Errorf("Take: %v", err)
			case result.New:
				brought.Add(1)
			case result.Banned():
				banned.Add(1)
			default:
				counted.Add(1)
			}
		}
	})
	if got := counted.Load(); got != offences-1 {
		t.Errorf("offences counted before the ban, of %d at once where the %dth bans: got %d", takers*each, offences, got)
	}
	if got := brought.Load(); got != 1 {
		t.Errorf("new bans of %d offences at once: got %d, want 1", takers*each, got)
	}
	if got := banned.Load(); got != takers*each-offences {
		t.Errorf("refusals for the ban of %d offences at once: got %d, want the other %d", takers*each, got, takers*each-offences)
	}
}
