package limitertest

import (
	"context"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/internal/ratelimit"
)

// asked is one request of a test with groups, and the verdict on it.
type asked struct {
	at     time.Duration // since start
	r      ratelimit.Request
	retry  time.Duration
	banned bool // by it or before it
}

// judgeAll puts the requests to l by ratelimit.Judge, one after the other.
func judgeAll(t *testing.T, l ratelimit.Limiter, all ...asked) {
	t.Helper()
	for i, a := range all {
		got, err := ratelimit.Judge(context.Background(), l, a.r, start.Add(a.at))
		if err != nil {
			t.Fatalf("request %d: %v", i, err)
		}
		if got.RetryAfter != a.retry || (got.Ban != nil) != a.banned {
			t.Fatalf("request %d, %+v at %v: got %+v, want to be refused for %v, banned %t", i, a.r, a.at, got, a.retry, a.banned)
		}
	}
}

// of returns a request of a robot, in a group unless that is "".
func of(robot, group string) ratelimit.Request {
	r := ratelimit.Request{Key: ratelimit.Key{Site: "one.example", Robot: robot}, Limit: slow}
	if group != "" {
		r.Group = ratelimit.Key{Site: "one.example", Robot: group}
	}
	return r
}

// back returns what gives back a request of a robot.
func back(robot string) ratelimit.Request {
	r := of(robot, "")
	r.Return = true
	return r
}

func testReturn(t *testing.T, l ratelimit.Limiter) {
	judgeAll(t, l,
		asked{r: of("figtree", "")}, asked{at: 1 * s, r: of("figtree", ""), retry: 9 * s},
		asked{at: 2 * s, r: back("figtree")}, asked{at: 3 * s, r: of("figtree", "")},
		asked{at: 4 * s, r: of("figtree", ""), retry: 9 * s})
}

func testReturnOfNothing(t *testing.T, l ratelimit.Limiter) {
	judgeAll(t, l,
		asked{r: back("figtree")}, asked{r: of("figtree", "")}, asked{at: 1 * s, r: of("figtree", ""), retry: 9 * s},
		asked{at: 50 * s, r: back("figtree")}, asked{at: 50 * s, r: of("figtree", "")},
		asked{at: 51 * s, r: of("figtree", ""), retry: 9 * s})
}

// testGroupRefuses has two robots of one group; what that refuses costs the second one nothing.
func testGroupRefuses(t *testing.T, l ratelimit.Limiter) {
	judgeAll(t, l,
		asked{r: of("figtree", "net")}, asked{at: 3 * s, r: of("plum", "net"), retry: 7 * s},
		asked{at: 3 * s, r: of("plum", "")}, asked{at: 10 * s, r: of("pear", "net")})
}

// testGroupIsNotCharged has one robot in two groups; what its own budget refuses costs the second
// group nothing.
func testGroupIsNotCharged(t *testing.T, l ratelimit.Limiter) {
	judgeAll(t, l,
		asked{r: of("figtree", "net")}, asked{at: 3 * s, r: of("figtree", "other"), retry: 7 * s},
		asked{at: 3 * s, r: of("plum", "other")}, asked{at: 10 * s, r: of("figtree", "net")})
}

func testGroupRefusalIsAnOffence(t *testing.T, l ratelimit.Limiter) {
	plum := of("plum", "net")
	plum.Ban, plum.Address = &ratelimit.BanPolicy{Offences: 2, Within: 60 * s, For: 600 * s}, "192.0.2.1"
	judgeAll(t, l,
		asked{r: of("figtree", "net")}, asked{at: 1 * s, r: plum, retry: 9 * s},
		asked{at: 2 * s, r: plum, retry: 8 * s, banned: true}, asked{at: 12 * s, r: plum, retry: 590 * s, banned: true},
		asked{at: 12 * s, r: of("pear", "net")}) // the banned drew on nothing
}
