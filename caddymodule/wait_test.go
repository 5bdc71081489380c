package caddymodule

import (
	"context"
	"net/http/httptest"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-robots/caddy-robots/internal/ratelimit"
)

// waitingHandler is a handler that holds what comes too early, with the clock of the bubble
// that the test runs in.
func waitingHandler(t *testing.T, robotsTxt string, within time.Duration) *testHandler {
	t.Helper()
	th := newTestHandler(t, robotsTxt, &Handler{TooFast: "wait", MaxWait: caddy.Duration(within)})
	th.Handler.now = time.Now
	return th
}

// held is the answer to a request that may have been held, and for how long.
type held struct {
	code  int
	retry string
	after time.Duration
}

// send sends a request without waiting for its answer, which is there once the bubble is
// idle.
func (th *testHandler) send(ctx context.Context, agent string) *held {
	answer := new(held)
	begin := time.Now()
	go func() {
		rec := httptest.NewRecorder()
		_ = th.ServeHTTP(rec, newRequest("GET", "/", agent).WithContext(contextOf(ctx, agent)), page)
		*answer = held{rec.Code, rec.Header().Get("Retry-After"), time.Since(begin)}
	}()
	synctest.Wait()
	return answer
}

// contextOf is the context of a request whose client leaves when ctx is done.
func contextOf(ctx context.Context, agent string) context.Context {
	joined, cancel := context.WithCancel(newRequest("GET", "/", agent).Context())
	context.AfterFunc(ctx, cancel)
	return joined
}

const tenSeconds = "User-agent: *\nCrawl-delay: 10\n"

func TestARequestThatComesTooEarlyIsHeldUntilItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		th := waitingHandler(t, tenSeconds, 30*time.Second)
		answers := []*held{}
		for range 5 {
			answers = append(answers, th.send(t.Context(), gptBot))
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		for i, want := range []held{
			{200, "", 0}, {200, "", 10 * time.Second}, {200, "", 20 * time.Second}, {200, "", 30 * time.Second},
			{429, "40", 0}, // it would have had to wait for longer than 30 s
		} {
			if *answers[i] != want {
				t.Errorf("request %d: got %+v, want %+v", i+1, *answers[i], want)
			}
		}
	})
}

func TestRetryAfterOfOneThatIsNotHeldIsExact(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		th := waitingHandler(t, tenSeconds, 20*time.Second)
		for range 3 {
			th.send(t.Context(), gptBot)
		}
		time.Sleep(5 * time.Second)
		refused := th.send(t.Context(), gptBot)
		if refused.code != 429 || refused.retry != "25" {
			t.Fatalf("behind two that are held: got %+v, want 429 and 25 s", *refused)
		}
		time.Sleep(25 * time.Second)
		if served := th.send(t.Context(), gptBot); *served != (held{200, "", 0}) {
			t.Errorf("when told: got %+v, want 200 at once", *served)
		}
	})
}

func TestHeldRequestsDelayNobodyElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		th := waitingHandler(t, tenSeconds, 30*time.Second)
		for range 3 {
			th.send(t.Context(), gptBot)
		}
		for _, agent := range []string{ccBot, chrome, curl, ""} {
			if got := th.send(t.Context(), agent); *got != (held{200, "", 0}) {
				t.Errorf("%q: got %+v, want 200 at once", agent, *got)
			}
		}
	})
}

func TestAHeldRequestIsLetGoWhenItsClientLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		th := waitingHandler(t, tenSeconds, 60*time.Second)
		th.Ban = thrice()
		th.engine.Ban, _ = th.Ban.policy()
		ctx, leave := context.WithCancel(t.Context())
		th.send(t.Context(), gptBot)
		for range 4 {
			th.send(ctx, gptBot)
		}
		leave()
		synctest.Wait()
		if n := th.app.queue.Len(); n != 0 {
			t.Errorf("held: got %d, want 0", n)
		}
		got := th.send(t.Context(), gptBot)
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if *got != (held{200, "", 10 * time.Second}) {
			t.Errorf("the next: got %+v, want it held for the one document that was served, and no ban", *got)
		}
	})
}

func TestHeldRequestsAreLetGoWhenTheServerShutsDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		th := waitingHandler(t, tenSeconds, 30*time.Second)
		th.send(t.Context(), gptBot)
		time.Sleep(4 * time.Second)
		waits := th.send(t.Context(), gptBot)
		time.Sleep(2 * time.Second)
		if err := th.Cleanup(); err != nil {
			t.Error(err)
		}
		synctest.Wait()
		if *waits != (held{429, "4", 2 * time.Second}) {
			t.Errorf("got %+v, want 429 with the rest of its wait", *waits)
		}
	})
}

func TestHeldRequestsAreBoundedForEachRobotAndInAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		th := waitingHandler(t, "User-agent: *\nCrawl-delay: 1\n", ratelimit.MaxWait)
		var refused *held
		for range 1 + 16 + 1 {
			refused = th.send(t.Context(), gptBot)
		}
		if *refused != (held{429, "17", 0}) {
			t.Errorf("one robot too many times: got %+v, want 429 at once", *refused)
		}
		if other := th.send(t.Context(), ccBot); *other != (held{200, "", 0}) {
			t.Errorf("another robot: got %+v, want 200", *other)
		}
	})
}

func TestARequestWithABodyIsNotHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		th := waitingHandler(t, tenSeconds, 30*time.Second)
		th.ask("GET", "/", gptBot)
		for _, length := range []int64{5, -1} {
			r := newRequest("POST", "/", gptBot)
			r.ContentLength = length
			if got := th.do(r); got.Code != 429 || got.Header().Get("Retry-After") != "10" {
				t.Errorf("a body of length %d: got %d, Retry-After %q; want 429 at once, 10", length, got.Code, got.Header().Get("Retry-After"))
			}
		}
	})
}

// Whoever is held and served was no faster than told; whoever is refused was.
func TestOnlyWhatIsRefusedCountsTowardsABan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		th := newTestHandler(t, tenSeconds, &Handler{TooFast: "wait", MaxWait: caddy.Duration(10 * time.Second), Ban: thrice()})
		th.Handler.now = time.Now
		for range 2 {
			th.send(t.Context(), gptBot)
		}
		var last *held
		for range 3 {
			last = th.send(t.Context(), gptBot)
		}
		if last.code != 429 {
			t.Fatalf("too early by more than the wait: got %+v, want 429", *last)
		}
		if got := th.send(t.Context(), gptBot); got.code != 403 || got.retry != "3600" {
			t.Errorf("after three refusals: got %+v, want a ban", *got)
		}
	})
}

func TestManyHeldAtOnceAreServedAtThePace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		th := waitingHandler(t, "User-agent: *\nRequest-rate: 2/10s\n", 30*time.Second)
		begin := time.Now()
		var mu sync.Mutex
		var served []time.Duration
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				if th.ask("GET", "/", gptBot).Code == 200 {
					mu.Lock()
					defer mu.Unlock()
					served = append(served, time.Since(begin))
				}
			})
		}
		all.Wait()
		for i, at := range served {
			if want := time.Duration(max(0, i-1)) * 5 * time.Second; at != want {
				t.Errorf("document %d: served after %s, want %s", i+1, at, want)
			}
		}
		if len(served) != 8 {
			t.Errorf("served: got %d, want all 8", len(served))
		}
	})
}
