package redis_test

import (
	"context"
	"errors"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/caddy-robots/caddy-robots/internal/ratelimit"
	"github.com/caddy-robots/caddy-robots/internal/ratelimit/redis"
	"github.com/caddy-robots/caddy-robots/internal/ratelimit/redis/redistest"
)

// offence brings a ban of an hour.
func offence(k ratelimit.Key, address string) ratelimit.Request {
	return ratelimit.Request{
		Key: k, Address: address, Offence: true, Line: 7, Rule: "Disallow: /private/ # \"é\" |\x00",
		Ban: &ratelimit.BanPolicy{Offences: 1, Within: s, For: time.Hour},
	}
}

// follow watches the Store until the test is over, and returns what it tells.
func follow(t *testing.T, store *redis.Store) <-chan ratelimit.BanEvent {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	events, ended := make(chan ratelimit.BanEvent, 100), make(chan error)
	go func() { ended <- store.Watch(ctx, func(e ratelimit.BanEvent) { events <- e }) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("Watch after its context is done: got %v, want that error", err)
		}
	})
	return events
}

// next returns the next event.
func next(t *testing.T, events <-chan ratelimit.BanEvent) ratelimit.BanEvent {
	t.Helper()
	select {
	case e := <-events:
		return e
	case <-time.After(20 * s):
		t.Fatal("no event in 20 s")
		return ratelimit.BanEvent{}
	}
}

// TestWatchCatchesUpAndFollows has events before the watch begins, and after.
func TestWatchCatchesUpAndFollows(t *testing.T) {
	server := redistest.Start(t)
	store, other := open(t, server.URL(), patient), open(t, server.URL(), patient)
	unhipbot := ratelimit.Key{Site: "two.example", Robot: "unhipbot", Standing: "verified"}
	first := must(t, store, offence(figtree, "192.0.2.1"), start)
	second := must(t, store, offence(unhipbot, ""), start)

	events := follow(t, other)
	for _, want := range []*ratelimit.Ban{first.Ban, second.Ban} {
		if got := next(t, events); got.Lifted || !sameBan(got.Ban, *want) {
			t.Errorf("an event of before: got %+v, want the ban %+v", got, *want)
		}
	}
	third := must(t, store, offence(figtree, "192.0.2.2"), start)
	if got := next(t, events); got.Lifted || !sameBan(got.Ban, *third.Ban) {
		t.Errorf("a new event: got %+v, want the ban %+v", got, *third.Ban)
	}
	if err := store.Lift(t.Context(), *first.Ban); err != nil {
		t.Fatal(err)
	}
	if got := next(t, events); !got.Lifted || got.Ban.Key != figtree || got.Ban.Address != "192.0.2.1" {
		t.Errorf("the last event: got %+v, want the ban of %+v from 192.0.2.1 lifted", got, figtree)
	}
}

// TestWatchIgnoresWhatIsNotOurs has entries in the stream that no Store wrote.
func TestWatchIgnoresWhatIsNotOurs(t *testing.T) {
	server := redistest.Start(t)
	store, c := open(t, server.URL(), patient), client(t, server)
	for _, fields := range []map[string]any{
		{"x": "y"},
		{"site": "", "robot": "", "standing": "", "address": "", "ban": "garbage"},
		{"site": "", "robot": "", "standing": "", "address": ""},
	} {
		if err := c.XAdd(t.Context(), &goredis.XAddArgs{Stream: "caddy-robots:bans", Values: fields}).Err(); err != nil {
			t.Fatal(err)
		}
	}
	events := follow(t, store)
	want := must(t, store, offence(figtree, ""), start)
	if got := next(t, events); !sameBan(got.Ban, *want.Ban) {
		t.Errorf("the first event told of: got %+v, want %+v", got, *want.Ban)
	}
}

func TestWatchEndsWithTheServer(t *testing.T) {
	server := redistest.Start(t)
	store := open(t, server.URL(), patient)
	ended := make(chan error)
	told := make(chan bool)
	must(t, store, offence(figtree, ""), start)
	go func() { ended <- store.Watch(t.Context(), func(ratelimit.BanEvent) { close(told) }) }()
	<-told
	server.Kill()
	select {
	case err := <-ended:
		if err == nil {
			t.Error("Watch of a server that is gone: want an error")
		}
	case <-time.After(20 * s):
		t.Error("Watch of a server that is gone goes on")
	}
}

// TestStreamExpires bounds what a ban leaves behind.
func TestStreamExpires(t *testing.T) {
	server := redistest.Start(t)
	store, c := open(t, server.URL(), patient), client(t, server)
	must(t, store, offence(figtree, ""), start)
	brief := offence(figtree, "192.0.2.1")
	brief.Ban.For = time.Minute
	must(t, store, brief, start)
	got := c.PTTL(t.Context(), "caddy-robots:bans").Val()
	if got <= time.Hour || got > time.Hour+time.Minute {
		t.Errorf("the stream, after a ban of an hour and one of a minute, expires in: got %v, want a little more than an hour", got)
	}
}

func TestStreamIsBounded(t *testing.T) {
	server := redistest.Start(t)
	store, c := open(t, server.URL(), patient), client(t, server)
	for range 11_000 {
		c.XAdd(t.Context(), &goredis.XAddArgs{Stream: "caddy-robots:bans", Values: []string{"x", "y"}})
	}
	must(t, store, offence(figtree, ""), start)
	if got := c.XLen(t.Context(), "caddy-robots:bans").Val(); got > 10_200 {
		t.Errorf("events after 11000: got %d, want about 10000", got)
	}
}

func TestLift(t *testing.T) {
	store := open(t, redistest.Start(t).URL(), patient)
	twice := offence(figtree, "192.0.2.1")
	twice.Ban.Offences = 2
	must(t, store, twice, start)
	if got := must(t, store, twice, start); !got.New {
		t.Fatalf("the second of two offences: got %+v, want a new ban", got)
	}
	if got := must(t, store, twice, start); !got.Banned() {
		t.Fatalf("a request of a banned client: got %+v, want it refused for the ban", got)
	}
	if err := store.Lift(t.Context(), ratelimit.Ban{Key: figtree, Address: "192.0.2.1"}); err != nil {
		t.Fatal(err)
	}
	if got := must(t, store, twice, start); got.Ban != nil {
		t.Errorf("the first offence after a lift: got %+v, want no ban", got)
	}
}

func TestLiftForgetsOffences(t *testing.T) {
	store := open(t, redistest.Start(t).URL(), patient)
	twice := offence(figtree, "")
	twice.Ban.Offences = 2
	must(t, store, twice, start)
	if err := store.Lift(t.Context(), ratelimit.Ban{Key: figtree}); err != nil {
		t.Fatal(err)
	}
	if got := must(t, store, twice, start); got.New {
		t.Errorf("the second of two offences, with a lift between them: got %+v, want no ban", got)
	}
}
