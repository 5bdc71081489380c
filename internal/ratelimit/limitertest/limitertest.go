// Package limitertest holds the tests that every [ratelimit.Limiter] must pass,
// so that stores of different kinds cannot drift apart.
//
// A store's own test calls [Run]:
//
//	func TestMemory(t *testing.T) {
//		limitertest.Run(t, func(t *testing.T) ratelimit.Limiter {
//			return ratelimit.NewMemory(ratelimit.DefaultMaxKeys)
//		})
//	}
//
// No test sleeps: time is moved, as the Limiter's contract allows. All times
// are whole seconds, a moment too early is ten milliseconds, and bans are compared to
// the millisecond, so that a store may count in units of up to that.
package limitertest

import (
	"context"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/internal/ratelimit"
)

// Run tests the limiters that newLimiter makes, each behaviour in a subtest
// of its own with a new limiter. A new limiter must be empty and have room for a
// thousand keys; what it holds open is for newLimiter to close in t.Cleanup.
func Run(t *testing.T, newLimiter func(t *testing.T) ratelimit.Limiter) {
	t.Helper()
	for _, b := range behaviours {
		t.Run(b.name, func(t *testing.T) { b.test(t, newLimiter(t)) })
	}
}

// behaviours are the tests, by the name of their subtest.
var behaviours = []struct {
	name string
	test func(*testing.T, ratelimit.Limiter)
}{
	{"a stranger is admitted", testStranger},
	{"a burst is admitted, and no more", testBurst},
	{"a burst is regained at the pace", testRegained},
	{"retry after is exact", testRetryAfter},
	{"a refusal costs nothing", testRefusalCostsNothing},
	{"a refusal takes the leeway", testRefusalTakesLeeway},
	{"the leeway is not saved up", testLeeway},
	{"a hammering robot gets its pace", testHammering},
	{"sites are separate", testSites},
	{"robots are separate", testRobots},
	{"standings are separate", testStandings},
	{"the parts of a key do not run together", testParts},
	{"the empty key is a key", testEmptyKey},
	{"silence clears the debt", testSilence},
	{"a clock that steps back refuses for one interval", testStepBack},
	{"a relaxed limit holds at once", testRelaxed},
	{"a tightened limit holds at once", testTightened},
	{"no limit admits and remembers nothing", testNoLimit},
	{"concurrent takers share one burst", testConcurrent},
	{"concurrent takers of many keys do not meet", testConcurrentKeys},
	{"a done context refuses nobody", testDoneContext},
	{"what is returned can be drawn again", testReturn},
	{"nothing is returned where nothing was drawn", testReturnOfNothing},
	{"what the group refuses draws on nothing", testGroupRefuses},
	{"what its own budget refuses draws not on the group's", testGroupIsNotCharged},
	{"what the group refuses is an offence", testGroupRefusalIsAnOffence},
	{"offences within the time ban", testOffencesBan},
	{"one offence bans where one is enough", testOneOffenceBans},
	{"one offence too few bans nobody", testTooFewOffences},
	{"offences too far apart ban nobody", testOffencesFarApart},
	{"no ban waits for more offences than the most", testMaxOffences},
	{"a ban refuses until its end", testBanRefuses},
	{"a ban ends", testBanEnds},
	{"the count begins anew after a ban", testCountBeginsAnew},
	{"a clock that steps back lengthens no ban", testBanStepBack},
	{"offences out of order count", testOffencesOutOfOrder},
	{"coming too fast is an offence", testTooFastIsAnOffence},
	{"being admitted is no offence", testAdmittedIsNoOffence},
	{"an offence draws on no budget", testOffenceDrawsOnNoBudget},
	{"the banned draw on no budget", testBannedDrawsOnNoBudget},
	{"the banned lengthen no ban", testBannedLengthensNothing},
	{"a ban keeps its line", testBanKeepsItsLine},
	{"addresses are banned apart", testAddressesBannedApart},
	{"an empty address is a client", testEmptyAddress},
	{"sites are banned apart", testSitesBannedApart},
	{"robots are banned apart", testRobotsBannedApart},
	{"standings are banned apart", testStandingsBannedApart},
	{"the parts of a client do not run together", testClientParts},
	{"no policy bans nobody", testNoPolicy},
	{"concurrent offences bring one ban", testConcurrentOffences},
}

// start is the time at which every test begins. Any would do.
var start = time.Date(2026, time.March, 1, 12, 0, 0, 0, time.UTC)

// early is by how much a robot is too early where a test needs one that is
// only just refused.
const early = 10 * time.Millisecond

// key is the budget of tests that need but one.
var key = ratelimit.Key{Site: "one.example", Robot: "figtree"}

// step is one request and the verdict on it.
type step struct {
	at    time.Duration // since start
	limit ratelimit.Limit
	key   ratelimit.Key
	retry time.Duration // zero: admitted
}

// follow puts the steps to l, one after the other.
func follow(t *testing.T, l ratelimit.Limiter, steps []step) {
	t.Helper()
	for i, s := range steps {
		got, err := l.Take(context.Background(), ratelimit.Request{Key: s.key, Limit: s.limit}, start.Add(s.at))
		if err != nil {
			t.Fatalf("step %d, %v at %v: %v", i, s.key, s.at, err)
		}
		want := ratelimit.Result{RetryAfter: s.retry}
		if got != want {
			t.Fatalf("step %d, %+v for %v at %v: got %+v, want %+v", i, s.limit, s.key, s.at, got, want)
		}
	}
}

// same returns steps of the one key and limit from pairs of when a request
// comes and for how long it is refused.
func same(limit ratelimit.Limit, pairs ...[2]time.Duration) []step {
	steps := make([]step, len(pairs))
	for i, p := range pairs {
		steps[i] = step{p[0], limit, key, p[1]}
	}
	return steps
}
