package redis_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/internal/ratelimit/redis"
	"github.com/caddy-robots/caddy-robots/internal/ratelimit/redis/redistest"
)

// TestTakeEndsInTime pauses the server, and has 200 requests come at once.
func TestTakeEndsInTime(t *testing.T) {
	for name, start := range map[string]func(testing.TB, ...string) *redistest.Server{
		"plain": redistest.Start, "TLS": redistest.StartTLS,
	} {
		for _, warm := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, connected before: %v", name, warm), func(t *testing.T) {
				server := start(t)
				store := open(t, server.URL(), redis.Options{})
				if warm {
					if err := store.Ping(t.Context()); err != nil {
						t.Fatal(err)
					}
				}
				server.Pause()
				slowest, failed := takeAtOnce(t, store, 200)
				if failed != 200 {
					t.Errorf("failures of 200 requests while the server hangs: got %d, want all", failed)
				}
				if most := 20 * redis.DefaultTimeout; slowest > most {
					t.Errorf("the slowest of 200 requests while the server hangs took %v, want at most %v, and %v on an idle machine", slowest, most, redis.DefaultTimeout)
				}
				t.Logf("the slowest of 200 requests took %v", slowest)
				server.Resume()
				if err := store.Ping(t.Context()); err != nil {
					t.Errorf("Ping after the server goes on: %v", err)
				}
				if _, err := store.Take(t.Context(), paced, time.Time{}); err != nil {
					t.Errorf("Take after the server goes on: %v", err)
				}
			})
		}
	}
}

// takeAtOnce makes so many requests at once. It returns how long the slowest one
// took, and how many failed.
func takeAtOnce(t *testing.T, store *redis.Store, requests int) (slowest time.Duration, failed int) {
	t.Helper()
	var all sync.WaitGroup
	var mu sync.Mutex
	ready := make(chan struct{})
	for range requests {
		all.Go(func() {
			<-ready
			begun := time.Now()
			_, err := store.Take(t.Context(), paced, start)
			took := time.Since(begun)
			mu.Lock()
			defer mu.Unlock()
			slowest = max(slowest, took)
			if err != nil {
				failed++
			}
		})
	}
	close(ready)
	all.Wait()
	return slowest, failed
}

// TestPingOpensAllConnections has what is between the Store and the server let no new
// connection through after a Ping, as if it took longer than a Take may.
func TestPingOpensAllConnections(t *testing.T) {
	server := redistest.Start(t)
	gate := newGate(t, server.Addr())
	store := open(t, "redis://"+gate.addr, redis.Options{Timeout: 2 * s})
	if err := store.Ping(t.Context()); err != nil {
		t.Fatal(err)
	}
	gate.close()
	if _, failed := takeAtOnce(t, store, 200); failed != 0 {
		t.Errorf("failures of 200 requests on the connections of a Ping: got %d, want none", failed)
	}
	if gate.refused() != 0 {
		t.Errorf("connections wanted after a Ping: got %d, want none", gate.refused())
	}
}
