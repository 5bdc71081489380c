package limitertest

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/caddy-robots/caddy-robots/internal/ratelimit"
)

// takers is how many goroutines ask at once.
const takers = 8

// testConcurrent has all takers ask for the same key at the same time.
func testConcurrent(t *testing.T, l ratelimit.Limiter) {
	const burst, each = 50, 25
	limit := ratelimit.Limit{Interval: 10 * s, Burst: burst}
	var admitted, asked atomic.Int64
	together(func(int) {
		for range each {
			r, err := l.Take(context.Background(), ratelimit.Request{Key: key, Limit: limit}, start)
			if err != nil {
				t.Errorf("Take: %v", err)
			}
			if r.Allowed() {
				admitted.Add(1)
			}
			asked.Add(1)
		}
	})
	if got, want := asked.Load(), int64(takers*each); got != want {
		t.Fatalf("requests made: got %d, want %d", got, want)
	}
	if got := admitted.Load(); got != burst {
		t.Errorf("admitted of %d at once with a burst of %d: got %d", takers*each, burst, got)
	}
}

// testConcurrentKeys has each taker ask for keys of its own.
func testConcurrentKeys(t *testing.T, l ratelimit.Limiter) {
	const each = 25
	var admitted [takers]int
	together(func(taker int) {
		for i := range each {
			k := ratelimit.Key{Site: "many.example", Robot: fmt.Sprintf("taker%d-%d", taker, i)}
			for range 2 {
				r, err := l.Take(context.Background(), ratelimit.Request{Key: k, Limit: slow}, start)
				if err != nil {
					t.Errorf("Take: %v", err)
				}
				if r.Allowed() {
					admitted[taker]++
				}
			}
		}
	})
	for taker, got := range admitted {
		if got != each {
			t.Errorf("taker %d, admitted of two requests for each of %d keys: got %d, want %d", taker, each, got, each)
		}
	}
}

// together runs f once per taker, all at the same time, and waits for them.
func together(f func(taker int)) {
	var wg sync.WaitGroup
	ready := make(chan struct{})
	for taker := range takers {
		wg.Go(func() {
			<-ready
			f(taker)
		})
	}
	close(ready)
	wg.Wait()
}

// testDoneContext allows an error or a verdict, but neither a refusal of a
// stranger nor a refusal that goes with an error.
func testDoneContext(t *testing.T, l ratelimit.Limiter) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	first, _ := l.Take(ctx, ratelimit.Request{Key: key, Limit: slow}, start)
	if !first.Allowed() {
		t.Errorf("a stranger, context done: got %+v, want it admitted", first)
	}
	second, err := l.Take(ctx, ratelimit.Request{Key: key, Limit: slow}, start)
	if err != nil && !second.Allowed() {
		t.Errorf("with error %q: got %+v, want it admitted", err, second)
	}
}
