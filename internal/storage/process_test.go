package storage

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/caddy-robots/caddy-robots/internal/compliance"
	"github.com/caddy-robots/caddy-robots/internal/ratelimit"
)

// keptBans are bans as a Caddy keeps them that was just started.
func keptBans(t *testing.T, store Store, clock *testClock) (*ratelimit.Bans, *Keeper, *observer.ObservedLogs) {
	t.Helper()
	core, logs := observer.New(zap.DebugLevel)
	bans := ratelimit.NewMemory(ratelimit.DefaultMaxKeys).Bans()
	k := NewBanKeeper(bans, clock.now)
	k.Keep(store, zap.New(core))
	t.Cleanup(k.Close)
	return bans, k, logs
}

// hourly is a ban of a robot for an hour.
func hourly(robot string, clock *testClock) ratelimit.Ban {
	return ratelimit.Ban{
		Key:     ratelimit.Key{Site: "site.example", Robot: robot, Standing: "unverified"},
		Address: "203.0.113.7", Since: clock.now(), Until: clock.now().Add(time.Hour), Line: 2, Rule: "Disallow: /",
	}
}

func TestBansSurviveARestart(t *testing.T) {
	store, clock := memory{}, newTestClock()
	before, k, _ := keptBans(t, store, clock)
	before.Put(hourly("gptbot", clock))
	k.Close()
	clock.advance(time.Minute)
	after, _, logs := keptBans(t, store, clock)
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
	store, clock := memory{}, newTestClock()
	before, k, _ := keptBans(t, store, clock)
	lifted, over, lasting := hourly("gptbot", clock), hourly("ccbot", clock), hourly("bytespider", clock)
	lasting.Until = clock.now().Add(24 * time.Hour)
	for _, b := range []ratelimit.Ban{lifted, over, lasting} {
		before.Put(b)
	}
	k.save()
	before.Lift(lifted.Key, lifted.Address)
	k.Close()
	clock.advance(2 * time.Hour)
	after, _, _ := keptBans(t, store, clock)
	if got := after.List(clock.now()); len(got) != 1 || got[0].Key.Robot != "bytespider" {
		t.Errorf("bans after a restart: got %+v, want that of bytespider", got)
	}
}

func TestBansThatCannotBeReadAreKeptAside(t *testing.T) {
	store, clock := memory{bansKey: []byte("{not json")}, newTestClock()
	bans, _, logs := keptBans(t, store, clock)
	if n := len(bans.List(clock.now())); n != 0 {
		t.Errorf("bans: got %d, want none", n)
	}
	if got := string(store[bansKey+".unreadable-20261101T120000.000"]); got != "{not json" {
		t.Errorf("kept aside: got %q", got)
	}
	if logs.FilterLevelExact(zap.WarnLevel).Len() != 1 {
		t.Errorf("log: got %v, want one warning", logs.All())
	}
}

func TestTheRevisionOfALedgerIsAnotherWhenSomethingWasNoted(t *testing.T) {
	l := NewLedger(func() string { return LedgerKey })
	empty := l.Revision()
	if got := l.Revision(); got != empty {
		t.Errorf("nothing was noted: got %d, want %d", got, empty)
	}
	for range 3 {
		l.Note(&compliance.Event{Site: "site.example", Robot: "GPTBot", Class: "robot", Time: newTestClock().now()})
	}
	noted := l.Revision()
	if noted == empty || l.Revision() != noted {
		t.Errorf("after three events: got %d, then %d; want another than %d, twice", noted, l.Revision(), empty)
	}
}

// FuzzStoredBans reads, as bans, what anybody may have put into Caddy's storage. It holds four
// properties:
//
//   - all or nothing: what can be read is taken up, and of anything else nothing is;
//   - set aside: of bans that cannot be read, every byte is kept;
//   - in force: no ban is taken up that is over;
//   - again: what was taken up is stored, and read again as the same.
func FuzzStoredBans(f *testing.F) {
	clock := newTestClock()
	bans, err := json.Marshal([]BanRecord{
		{Site: "site.example", Robot: "figtree", Since: clock.now(), Until: clock.now().Add(time.Hour), Line: 2, Rule: "Disallow: /"},
		{Site: "site.example", Address: "203.0.113.7", Since: clock.now().Add(time.Hour), Until: clock.now().Add(2 * time.Hour)},
		{Robot: "over", Since: clock.now().Add(-time.Hour), Until: clock.now()},
	})
	if err != nil {
		f.Fatal(err)
	}
	for _, data := range []string{
		string(bans), "", "null", "[]", "{}", "[null,{}]", `[{"until":"9999-12-31T23:59:59-23:00"}]`, `[{"site":"a:b:","until":"2026-11-01T13:00:00Z"}]`, string(bans[:99]),
	} {
		f.Add([]byte(data))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		store := memory{bansKey: data}
		bans, k := loadBans(store, clock)
		list := bans.List(clock.now())
		for _, ban := range list {
			if !clock.now().Before(ban.Until) {
				t.Errorf("in force: %s: got %+v", data, ban)
			}
		}
		var records []BanRecord
		readable := json.Unmarshal(data, &records) == nil
		if !readable && len(list) > 0 || len(list) > len(records) {
			t.Errorf("all or nothing: %s: got %d bans of %d", data, len(list), len(records))
		}
		aside, ok := store[bansKey+".unreadable-20261101T120000.000"]
		if ok == readable || ok && string(aside) != string(data) {
			t.Errorf("set aside: %q: got %q, want that: %t", data, aside, !readable)
		}
		text, err := k.Encode()
		if err != nil {
			t.Fatalf("again: %s: %v", data, err)
		}
		again, _ := loadBans(memory{bansKey: text}, clock)
		if got, want := BanRecords(again, clock.now()), BanRecords(bans, clock.now()); !reflect.DeepEqual(got, want) {
			t.Errorf("again: %s:\n got %+v\nwant %+v", data, got, want)
		}
	})
}

// loadBans returns the bans that a Caddy takes up that begins with this storage.
func loadBans(store Store, clock *testClock) (*ratelimit.Bans, *Keeper) {
	bans := ratelimit.NewMemory(1).Bans()
	k := NewBanKeeper(bans, clock.now)
	k.targets.Add(target{store, zap.NewNop()})
	k.mu.Lock()
	defer k.mu.Unlock()
	k.load()
	return bans, k
}
