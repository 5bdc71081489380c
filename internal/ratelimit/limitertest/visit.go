package limitertest

import (
	"context"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/internal/ratelimit"
)

// three is the ban policy of the tests, and address the client of those that need but one.
var three = ratelimit.BanPolicy{Offences: 3, Within: 60 * s, For: 600 * s}

const address = "192.0.2.1"

// visit is one request under a ban policy and the verdict on it.
type visit struct {
	at      time.Duration // since start
	request ratelimit.Request
	want    ratelimit.Result
}

// passes is a request without a limit, which nothing but a ban refuses.
func passes(at time.Duration) visit {
	return visit{at: at, request: ratelimit.Request{
		Key: key, Ban: &three, Address: address, Line: 7, Rule: "Disallow: /private/",
	}}
}

// offends is an offence that does not bring a ban.
func offends(at time.Duration) visit {
	v := passes(at)
	v.request.Offence = true
	return v
}

// under returns v with a policy.
func (v visit) under(p *ratelimit.BanPolicy) visit {
	v.request.Ban = p
	return v
}

// of returns v as a request by another client.
func (v visit) of(k ratelimit.Key, address string) visit {
	v.request.Key, v.request.Address = k, address
	return v
}

// paced returns v with a limit, and for how long that refuses it.
func (v visit) paced(l ratelimit.Limit, retry time.Duration) visit {
	v.request.Limit, v.want.RetryAfter = l, retry
	return v
}

// bans returns v as the request that brings a ban.
func (v visit) bans() visit {
	v.want.Ban, v.want.New = v.ban(v.at), true
	return v
}

// banned returns v as refused for a ban that began at a time.
func (v visit) banned(since time.Duration) visit {
	v.want.Ban = v.ban(since)
	v.want.RetryAfter = since + v.request.Ban.For - v.at
	return v
}

// ban returns the ban that v would bring at a time.
func (v visit) ban(since time.Duration) *ratelimit.Ban {
	r := v.request
	return &ratelimit.Ban{
		Key: r.Key, Address: r.Address, Line: r.Line, Rule: r.Rule,
		Since: start.Add(since), Until: start.Add(since + r.Ban.For),
	}
}

// judge puts the visits to l, one after the other.
func judge(t *testing.T, l ratelimit.Limiter, visits ...visit) {
	t.Helper()
	for i, v := range visits {
		got, err := l.Take(context.Background(), v.request, start.Add(v.at))
		if err != nil {
			t.Fatalf("visit %d, %+v at %v: %v", i, v.request, v.at, err)
		}
		if !sameResult(got, v.want) {
			t.Fatalf("visit %d, %+v at %v: got %+v, ban %+v, want %+v, ban %+v", i, v.request, v.at, got, got.Ban, v.want, v.want.Ban)
		}
	}
}

// sameResult compares results, times to the millisecond.
func sameResult(a, b ratelimit.Result) bool {
	if a.New != b.New || !near(a.RetryAfter-b.RetryAfter) || (a.Ban == nil) != (b.Ban == nil) {
		return false
	}
	return a.Ban == nil || sameBan(*a.Ban, *b.Ban)
}

func sameBan(a, b ratelimit.Ban) bool {
	same := near(a.Since.Sub(b.Since)) && near(a.Until.Sub(b.Until))
	a.Since, a.Until = b.Since, b.Until
	return same && a == b
}

func near(difference time.Duration) bool { return difference.Abs() <= time.Millisecond }
