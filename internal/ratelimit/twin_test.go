package ratelimit

import (
	"slices"
	"testing"
	"time"
)

// twin judges as a person with a log would, slowly: no stretch of the log may
// hold more documents than the burst and one for every interval in it.
type twin struct {
	limit   Limit
	log     []time.Duration // when each document was admitted
	refused bool            // the last request
}

// take judges a request and keeps the log.
func (w *twin) take(now time.Duration) Result {
	wait := w.wait(now)
	if wait > w.limit.Interval { // the clock stepped back
		w.spend(now)
		wait = w.limit.Interval
	}
	leeway := w.limit.Leeway
	if w.refused {
		leeway = 0
	}
	w.refused = wait > leeway
	switch {
	case w.refused:
		return Result{RetryAfter: wait}
	case wait > 0: // forgiven
		w.spend(now)
	default:
		w.log = append(w.log, now)
	}
	return Result{}
}

// wait returns how long it is until one more document would fit.
func (w *twin) wait(now time.Duration) time.Duration {
	var longest time.Duration
	for i, since := range w.log {
		documents := len(w.log) - i + 1
		needed := time.Duration(documents-w.limit.Burst) * w.limit.Interval
		longest = max(longest, needed-(now-since))
	}
	return longest
}

// spend makes the log that of a robot that has fetched a burst just now.
func (w *twin) spend(now time.Duration) {
	w.log = slices.Repeat([]time.Duration{now}, w.limit.Burst)
}

// TestTakeAgreesWithTwin compares the two over every sequence of a few gaps,
// from a step back to a long silence, for limits with and without burst and
// leeway.
func TestTakeAgreesWithTwin(t *testing.T) {
	const length = 6
	gaps := []time.Duration{-7 * s, 0, 1 * s, 3 * s, 4 * s, 5 * s, 11 * s}
	compared := 0
	for _, burst := range []int{1, 2, 3} {
		for _, leeway := range []time.Duration{0, 1 * s, 2 * s} {
			l := Limit{Interval: 5 * s, Burst: burst, Leeway: leeway}
			compared += compare(t, gaps, length, twin{limit: l}, 0, 0)
		}
	}
	const atLeast = 9 * 7 * 7 * 7 * 7 * 7 * 7
	if compared < atLeast {
		t.Errorf("requests compared: got %d, want at least %d", compared, atLeast)
	}
}

// compare tries each gap after the history that led to w and state, and then
// goes deeper. It returns how many requests it compared.
func compare(t *testing.T, gaps []time.Duration, depth int, w twin, state State, now time.Duration) int {
	if depth == 0 {
		return 0
	}
	compared := 0
	for _, gap := range gaps {
		at := now + gap
		slow := twin{w.limit, slices.Clone(w.log), w.refused}
		want := slow.take(at)
		next, got := w.limit.Take(state, start.Add(at))
		if got != want {
			t.Fatalf("%+v, at %v after documents at %v, refused before: %v: got %+v, want %+v", w.limit, at, w.log, w.refused, got, want)
		}
		compared += 1 + compare(t, gaps, depth-1, slow, next, at)
	}
	return compared
}
