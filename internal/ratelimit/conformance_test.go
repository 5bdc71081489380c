package ratelimit_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/internal/ratelimit"
	"github.com/caddy-robots/caddy-robots/internal/ratelimit/limitertest"
)

func TestMemoryConforms(t *testing.T) {
	limitertest.Run(t, func(*testing.T) ratelimit.Limiter {
		return ratelimit.NewMemory(ratelimit.DefaultMaxKeys)
	})
}

func ExampleLimit_Take() {
	limit := ratelimit.PerPeriod(2, 20*time.Second)
	noon := time.Date(2026, time.March, 1, 12, 0, 0, 0, time.UTC)

	var state ratelimit.State
	var result ratelimit.Result
	for _, second := range []int{0, 0, 0, 10} {
		state, result = limit.Take(state, noon.Add(time.Duration(second)*time.Second))
		fmt.Println(second, result.Allowed(), result.RetryAfter)
	}
	// Output:
	// 0 true 0s
	// 0 true 0s
	// 0 false 10s
	// 10 true 0s
}

func ExampleMemory_Bans() {
	limiter := ratelimit.NewMemory(ratelimit.DefaultMaxKeys)
	noon := time.Date(2026, time.March, 1, 12, 0, 0, 0, time.UTC)
	request := ratelimit.Request{
		Key:     ratelimit.Key{Site: "www.fict.org", Robot: "unhipbot"},
		Address: "192.0.2.1",
		Ban:     &ratelimit.BanPolicy{Offences: 3, Within: time.Minute, For: time.Hour},
		Offence: true,
		Line:    2,
		Rule:    "Disallow: /",
	}

	for second := range time.Duration(4) {
		result, err := limiter.Take(context.Background(), request, noon.Add(second*time.Second))
		fmt.Println(result.New, result.Banned(), result.RetryAfter, err)
	}
	for _, ban := range limiter.Bans().List(noon.Add(time.Minute)) {
		fmt.Println(ban.Key.Robot, ban.Address, ban.Until.UTC().Format(time.TimeOnly), ban.Rule)
	}
	// Output:
	// false false 0s <nil>
	// false false 0s <nil>
	// true false 0s <nil>
	// false true 59m59s <nil>
	// unhipbot 192.0.2.1 13:00:02 Disallow: /
}

func ExampleMemory() {
	limiter := ratelimit.NewMemory(ratelimit.DefaultMaxKeys)
	noon := time.Date(2026, time.March, 1, 12, 0, 0, 0, time.UTC)
	delay := ratelimit.PerPeriod(1, 10*time.Second) // Crawl-delay: 10

	for _, robot := range []string{"figtree", "unhipbot", "figtree"} {
		key := ratelimit.Key{Site: "www.fict.org", Robot: robot}
		result, err := limiter.Take(context.Background(), ratelimit.Request{Key: key, Limit: delay}, noon)
		fmt.Println(robot, result.Allowed(), result.RetryAfter, err)
	}
	// Output:
	// figtree true 0s <nil>
	// unhipbot true 0s <nil>
	// figtree false 10s <nil>
}
