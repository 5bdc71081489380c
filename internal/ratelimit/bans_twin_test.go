package ratelimit

import (
	"context"
	"slices"
	"testing"
	"time"
)

// banTwin judges as a person would who keeps a log of offences and crosses out those that
// are too long ago.
type banTwin struct {
	policy   BanPolicy
	offences []time.Duration
	banned   bool          // at any time
	since    time.Duration // of the last ban
}

// ask judges a request.
func (w *banTwin) ask(now time.Duration, offence bool) Result {
	w.since = min(w.since, now) // the clock stepped back
	if end := w.since + w.policy.For; w.banned && now < end {
		return Result{RetryAfter: end - now, Ban: w.ban()}
	}
	if !offence {
		return Result{}
	}
	for i := range w.offences {
		w.offences[i] = min(w.offences[i], now) // the clock stepped back
	}
	w.offences = slices.DeleteFunc(append(w.offences, now), func(at time.Duration) bool { return now-at >= w.policy.Within })
	if len(w.offences) < w.policy.Offences {
		return Result{}
	}
	w.offences, w.banned, w.since = nil, true, now
	return Result{Ban: w.ban(), New: true}
}

func (w *banTwin) ban() *Ban {
	return &Ban{Key: figtree, Since: start.Add(w.since), Until: start.Add(w.since + w.policy.For)}
}

// sequenceLength is enough for a ban, its end and a second one.
const sequenceLength = 5

// visit is one request: how long after the one before, and whether it is an offence.
type visit struct {
	gap     time.Duration
	offence bool
}

// TestBansAgreeWithTwin compares the two over every sequence of a few gaps, from a
// step back to a silence longer than the ban, with and without offences.
func TestBansAgreeWithTwin(t *testing.T) {
	var visits []visit
	for _, gap := range []time.Duration{-4 * s, 0, 2 * s, 3 * s, 7 * s} {
		visits = append(visits, visit{gap, true}, visit{gap, false})
	}
	m := NewMemory(1)
	compared := 0
	for _, offences := range []int{1, 2, 3} {
		for _, within := range []time.Duration{3 * s, 5 * s} {
			for _, length := range []time.Duration{2 * s, 5 * s} {
				p := BanPolicy{Offences: offences, Within: within, For: length}
				for _, offence := range []bool{true, false} {
					compared += compareBans(t, m, p, visits, []visit{{0, offence}})
				}
			}
		}
	}
	const atLeast = 3 * 2 * 2 * 20_000 * sequenceLength
	if compared < atLeast {
		t.Errorf("requests compared: got %d, want at least %d", compared, atLeast)
	}
}

// compareBans tries every visit after the given ones, and replays each sequence
// that is long enough. It returns how many requests it compared.
func compareBans(t *testing.T, m *Memory, p BanPolicy, visits, sequence []visit) int {
	t.Helper()
	if len(sequence) == sequenceLength {
		replay(t, m, p, sequence)
		return sequenceLength
	}
	compared := 0
	for _, v := range visits {
		compared += compareBans(t, m, p, visits, append(sequence, v))
	}
	return compared
}

// replay puts one sequence to both, and lifts what it has brought about.
func replay(t *testing.T, m *Memory, p BanPolicy, sequence []visit) {
	t.Helper()
	twin := banTwin{policy: p}
	var now time.Duration
	for i, v := range sequence {
		now += v.gap
		want := twin.ask(now, v.offence)
		got, _ := m.Take(context.Background(), Request{Key: figtree, Ban: &p, Offence: v.offence}, start.Add(now))
		same := got.RetryAfter == want.RetryAfter && got.New == want.New && (got.Ban == nil) == (want.Ban == nil)
		if !same || got.Ban != nil && !sameBan(*got.Ban, *want.Ban) {
			t.Fatalf("%+v, request %d of %v: got %+v, ban %+v, want %+v, ban %+v", p, i, sequence, got, got.Ban, want, want.Ban)
		}
	}
	m.Bans().Lift(figtree, "")
}
