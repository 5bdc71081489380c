package caddymodule

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/caddy-robots/caddy-robots/internal/proof/ipranges"
	"github.com/caddy-robots/caddy-robots/internal/ratelimit"
)

// FuzzStored reads, as each of the files that are JSON, what anybody may have put into Caddy's storage.
// Of bans, sources and ranges, it holds four properties:
//
//   - all or nothing: what can be read is taken up, and of anything else nothing is;
//   - set aside: of bans and sources that cannot be read, every octet is kept;
//   - in force: no ban is taken up that is over;
//   - again: what was taken up is stored, and read again as the same.
func FuzzStored(f *testing.F) {
	clock := banClock()
	bans, err := json.Marshal([]banRecord{
		{Site: "site.example", Robot: "figtree", Since: clock.now(), Until: clock.now().Add(time.Hour), Line: 2, Rule: "Disallow: /"},
		{Site: "site.example", Address: "203.0.113.7", Since: clock.now().Add(time.Hour), Until: clock.now().Add(2 * time.Hour)},
		{Robot: "over", Since: clock.now().Add(-time.Hour), Until: clock.now()},
	})
	source, err2 := json.Marshal(keptOf(part{name: "url https://list.example/"}, &document{text: closedAll, etag: `"a"`, since: clock.now()}))
	ranges, err3 := json.Marshal(stored{Text: "192.0.2.0/24\n", ETag: `"b"`, Loaded: clock.now()})
	if err != nil || err2 != nil || err3 != nil {
		f.Fatal(err, err2, err3)
	}
	for _, data := range []string{
		string(bans), string(source), string(ranges), "", "null", "[]", "{}", "[null,{}]", `[{"until":"9999-12-31T23:59:59-23:00"}]`,
		`{"text":"","sha256":"E3B0C44298FC1C149AFBF4C8996FB92427AE41E4649B934CA495991B7852B855"}`, `{"text":"{\"prefixes\":[]}"}`, string(bans[:99]),
	} {
		f.Add([]byte(data))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		checkStoredBans(t, data, clock)
		checkStoredSource(t, data, clock)
		checkStoredRanges(t, data, clock)
	})
}

// loadBans returns the bans that a Caddy takes up that begins with this storage.
func loadBans(where storage, clock *testClock) (*ratelimit.Bans, *keeper) {
	bans := ratelimit.NewMemory(1).Bans()
	k := newBanKeeper(bans, clock.now)
	k.places.add(place{where, zap.NewNop()})
	k.mu.Lock()
	defer k.mu.Unlock()
	k.load()
	return bans, k
}

func checkStoredBans(t *testing.T, data []byte, clock *testClock) {
	t.Helper()
	where := memory{bansKey: data}
	bans, k := loadBans(where, clock)
	list := bans.List(clock.now())
	for _, ban := range list {
		if !clock.now().Before(ban.Until) {
			t.Errorf("in force: %s: got %+v", data, ban)
		}
	}
	var records []banRecord
	readable := json.Unmarshal(data, &records) == nil
	if !readable && len(list) > 0 || len(list) > len(records) {
		t.Errorf("all or nothing: %s: got %d bans of %d", data, len(list), len(records))
	}
	checkAside(t, where, data, readable)
	text, err := k.encode()
	if err != nil {
		t.Fatalf("again: %s: %v", data, err)
	}
	again, _ := loadBans(memory{bansKey: text}, clock)
	if got, want := banRecords(again, clock.now()), banRecords(bans, clock.now()); !reflect.DeepEqual(got, want) {
		t.Errorf("again: %s:\n got %+v\nwant %+v", data, got, want)
	}
}

func checkStoredSource(t *testing.T, data []byte, clock *testClock) {
	t.Helper()
	p := part{name: "url https://list.example/", address: "https://list.example/"}
	load := func(where storage) *document {
		return newSourceStore(where, zap.NewNop(), clock.now).load(t.Context(), p)
	}
	where := memory{p.storageKey(): data}
	doc := load(where)
	var kept keptSource
	readable := json.Unmarshal(data, &kept) == nil && hexSum(kept.Text) == kept.SHA256
	if readable != (doc != nil) || readable && doc.text != string(kept.Text) {
		t.Errorf("all or nothing: %s: got %+v, want it: %t", data, doc, readable)
	}
	checkAside(t, where, data, readable)
	if doc == nil || doc.since.UTC().Year() < 0 || doc.since.UTC().Year() > 9999 { // which JSON has no form for
		return
	}
	where = memory{}
	newSourceStore(where, zap.NewNop(), clock.now).keep(t.Context(), p, doc)
	again := load(where)
	if again == nil || !again.since.Equal(doc.since) {
		t.Fatalf("again: %s: got %+v, want %+v", data, again, doc)
	}
	if again.since = doc.since; *again != *doc {
		t.Errorf("again: %s: got %+v, want %+v", data, again, doc)
	}
}

func checkStoredRanges(t *testing.T, data []byte, clock *testClock) {
	t.Helper()
	where := memory{}
	lists := &rangeLists{storage: where, log: zap.NewNop(), now: clock.now}
	restored := func() *rangeList {
		list := &rangeList{place: "https://list.example/ranges.json"}
		lists.restore(list)
		return list
	}
	where[(&rangeList{place: "https://list.example/ranges.json"}).storageKey()] = data
	list := restored()
	var kept stored
	var want *ipranges.Set
	if json.Unmarshal(data, &kept) == nil {
		want, _ = ipranges.Parse([]byte(kept.Text))
	}
	got := list.current.Load()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("all or nothing: %s: got %v, want %v", data, got, want)
	}
	if got == nil {
		return
	}
	lists.keep(t.Context(), list)
	if again := restored(); again.last != list.last || !reflect.DeepEqual(again.current.Load(), got) {
		t.Errorf("again: %s: got %+v, want %+v", data, again.last, list.last)
	}
}

// checkAside checks that what cannot be read is kept under another name, and nothing else is.
func checkAside(t *testing.T, where memory, data []byte, readable bool) {
	t.Helper()
	aside := 0
	for key, text := range where {
		if strings.Contains(key, ".unreadable-") {
			aside++
			if string(text) != string(data) {
				t.Errorf("set aside: got %q, want %q", text, data)
			}
		}
	}
	if readable != (aside == 0) {
		t.Errorf("set aside: %q: got it %d times", data, aside)
	}
}
