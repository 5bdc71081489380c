package caddymodule

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/caddy-robots/caddy-robots/internal/ratelimit"
)

// keptBans are bans as a Caddy keeps them that was just started.
func keptBans(t *testing.T, where storage, clock *testClock) (*ratelimit.Bans, *keeper, *observer.ObservedLogs) {
	t.Helper()
	core, logs := observer.New(zap.DebugLevel)
	bans := ratelimit.NewMemory(ratelimit.DefaultMaxKeys).Bans()
	k := newBanKeeper(bans, clock.now)
	k.keep(where, zap.New(core))
	t.Cleanup(k.close)
	return bans, k, logs
}

func banClock() *testClock { return newTestClock(time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)) }

// hourly is a ban of a robot for an hour.
func hourly(robot string, clock *testClock) ratelimit.Ban {
	return ratelimit.Ban{
		Key:     ratelimit.Key{Site: "site.example", Robot: robot, Standing: "unverified"},
		Address: "203.0.113.7", Since: clock.now(), Until: clock.now().Add(time.Hour), Line: 2, Rule: "Disallow: /",
	}
}

func TestBansSurviveARestart(t *testing.T) {
	where, clock := memory{}, banClock()
	before, k, _ := keptBans(t, where, clock)
	before.Put(hourly("gptbot", clock))
	k.close()
	clock.advance(time.Minute)
	after, _, logs := keptBans(t, where, clock)
	got := after.List(clock.now())
	if len(got) != 1 {
		t.Fatalf("bans after a restart: got %d, want 1; log: %v", len(got), logs.All())
	}
	want := before.List(clock.now())[0]
	if !got[0].Since.Equal(want.Since) || !got[0].Until.Equal(want.Until) || got[0].Key != want.Key || got[0].Address != want.Address || got[0].Rule != want.Rule || got[0].Line != want.Line {
		t.Errorf("ban after a restart: got %+v, want %+v", got[0], want)
	}
}

func TestABanThatWasLiftedOrIsOverIsNotBackAfterARestart(t *testing.T) {
	where, clock := memory{}, banClock()
	before, k, _ := keptBans(t, where, clock)
	lifted, over, lasting := hourly("gptbot", clock), hourly("ccbot", clock), hourly("bytespider", clock)
	lasting.Until = clock.now().Add(24 * time.Hour)
	for _, b := range []ratelimit.Ban{lifted, over, lasting} {
		before.Put(b)
	}
	k.save()
	before.Lift(lifted.Key, lifted.Address)
	k.close()
	clock.advance(2 * time.Hour)
	after, _, _ := keptBans(t, where, clock)
	if got := after.List(clock.now()); len(got) != 1 || got[0].Key.Robot != "bytespider" {
		t.Errorf("bans after a restart: got %+v, want that of bytespider", got)
	}
}

func TestBansThatCannotBeReadAreKeptAside(t *testing.T) {
	where, clock := memory{bansKey: []byte("{not json")}, banClock()
	bans, _, logs := keptBans(t, where, clock)
	if n := len(bans.List(clock.now())); n != 0 {
		t.Errorf("bans: got %d, want none", n)
	}
	if got := string(where[bansKey+".unreadable-20261101T120000.000"]); got != "{not json" {
		t.Errorf("kept aside: got %q", got)
	}
	if logs.FilterLevelExact(zap.WarnLevel).Len() != 1 {
		t.Errorf("log: got %v, want one warning", logs.All())
	}
}

// brokenStorage is Caddy's storage when its disk is out of order.
type brokenStorage struct{ storage }

func (brokenStorage) Load(context.Context, string) ([]byte, error) {
	return nil, errors.New("input/output error")
}

// fullStorage is Caddy's storage when its disk is full.
type fullStorage struct{ storage }

func (fullStorage) Store(context.Context, string, []byte) error {
	return errors.New("no space left on device")
}
