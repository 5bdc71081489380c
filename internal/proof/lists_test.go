package proof

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/caddy-robots/caddy-robots/internal/proof/ipranges"
	"github.com/caddy-robots/caddy-robots/internal/storage"
)

// memory is a storage.Store.
type memory map[string][]byte

func (m memory) Load(_ context.Context, key string) ([]byte, error) {
	if data, ok := m[key]; ok {
		return data, nil
	}
	return nil, fs.ErrNotExist
}

func (m memory) Store(_ context.Context, key string, data []byte) error {
	m[key] = data
	return nil
}

// source is where a test's lists are fetched from. It counts requests.
type source struct {
	text     string
	err      error
	requests int
	last     *storage.Document
}

func (s *source) fetch(_ context.Context, address string, last *storage.Document) (storage.Document, error) {
	if !IsURL(address) {
		text, err := os.ReadFile(address)
		return storage.Document{Text: string(text)}, err
	}
	s.requests++
	s.last = last
	return storage.Document{Text: s.text, ETag: `"1"`}, s.err
}

func testLists(from *source, kept memory) (*Lists, *observer.ObservedLogs) {
	if from == nil {
		from = new(source)
	}
	core, logs := observer.New(zap.DebugLevel)
	documents := storage.NewDocuments(storage.Ranges, kept, zap.New(core), time.Now)
	return &Lists{Fetch: from.fetch, Store: documents, Log: zap.New(core), Now: time.Now}, logs
}

const (
	listURL   = "https://example.com/list.json"
	published = `{"creationTime":"2026-11-01T00:00:00","prefixes":[{"ipv4Prefix":"192.0.2.0/24"},{"ipv6Prefix":"2001:db8::/32"}]}`
)

// expectPublished checks that a list is the published one.
func expectPublished(t *testing.T, when string, l *list) {
	t.Helper()
	ranges := l.current.Load()
	if in, out := ranges.Contains(netip.MustParseAddr("192.0.2.1")), ranges.Contains(netip.MustParseAddr("203.0.113.1")); !in || out {
		t.Errorf("%s: the list contains %t, %t, want only the published ranges", when, in, out)
	}
}

func TestAListIsLoadedDailyAndKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		from, kept := &source{text: published}, memory{}
		lists, _ := testLists(from, kept)
		list := lists.at(listURL)
		if list.current.Load() != nil {
			t.Error("a list that was never loaded contains somebody")
		}
		if lists.at(listURL) != list {
			t.Error("another list for the same address, want the same one")
		}
		lists.loadDue(t.Context())
		expectPublished(t, "loaded", list)
		if len(kept) != 1 || from.last != nil {
			t.Errorf("%d lists are kept, and the condition was %+v; want one and none", len(kept), from.last)
		}
		time.Sleep(listLifetime - time.Second) // of the bubble's clock
		lists.loadDue(t.Context())
		if from.requests != 1 {
			t.Errorf("within a day: %d requests, want 1", from.requests)
		}
		time.Sleep(time.Second)
		lists.loadDue(t.Context())
		if from.requests != 2 || from.last == nil || from.last.ETag != `"1"` {
			t.Errorf("after a day: %d requests with the condition %+v, want 2 and the ETag", from.requests, from.last)
		}
		expectPublished(t, "after a day", list)

		from.err = errors.New("no network")
		time.Sleep(time.Second)
		restarted, logs := testLists(from, kept)
		again := restarted.at(listURL)
		restarted.loadDue(t.Context())
		expectPublished(t, "restarted without network", again)
		if logs.Len() != 0 || from.requests != 2 {
			t.Errorf("restarted: log %v after %d requests, want none and 2", logs.All(), from.requests)
		}
	})
}

func TestAListThatFailsKeepsWhatItWas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		from := &source{text: published}
		lists, logs := testLists(from, memory{})
		list := lists.at(listURL)
		lists.loadDue(t.Context())
		for _, bad := range []source{
			{text: "<!doctype html><h1>Sorry</h1>"}, {text: ""}, {err: errors.New("answered 500")},
			{text: `{"prefixes":[{"ipv4Prefix":"0.0.0.0/0"}]}`}, {text: string(make([]byte, ipranges.MaxSize+1))},
		} {
			from.text, from.err = bad.text, bad.err
			time.Sleep(listLifetime)
			lists.loadDue(t.Context())
			expectPublished(t, bad.text[:min(len(bad.text), 60)], list)
		}
		if got := logs.FilterMessage("robots' addresses could not be loaded; what was loaded before holds").Len(); got != 1 {
			t.Errorf("%d log lines, want 1 for all of it", got)
		}
		from.text, from.err = published, nil
		time.Sleep(listRetry)
		lists.loadDue(t.Context())
		if got := logs.FilterMessage("robots' addresses can be loaded again").Len(); got != 1 {
			t.Errorf("%d log lines when it is back, want 1", got)
		}
	})
}

func TestAListOfAClockThatWasAheadIsLoadedAnew(t *testing.T) {
	for name, doc := range map[string]storage.Document{
		"no list":         {Text: "<html>", Loaded: time.Now().Add(-time.Hour)},
		"from the future": {Text: published, Loaded: time.Now().Add(time.Hour)},
		"old":             {Text: published, Loaded: time.Now().Add(-listLifetime)},
	} {
		from, kept := &source{text: published}, memory{}
		doc.Address = listURL
		storage.NewDocuments(storage.Ranges, kept, zap.NewNop(), time.Now).Save(t.Context(), doc)
		lists, logs := testLists(from, kept)
		list := lists.at(listURL)
		if got := list.current.Load() != nil; got != (doc.Text == published) || got != (logs.Len() == 0) {
			t.Errorf("%s: restored %v, want what can be read; log %v", name, got, logs.All())
		}
		lists.loadDue(t.Context())
		expectPublished(t, name, list)
		if from.requests != 1 {
			t.Errorf("%s: %d requests, want 1", name, from.requests)
		}
	}
}

func TestAFileIsReadAtOnce(t *testing.T) {
	name := filepath.Join(t.TempDir(), "list.json")
	if err := os.WriteFile(name, []byte(published), 0o600); err != nil {
		t.Fatal(err)
	}
	kept := memory{}
	lists, _ := testLists(nil, kept)
	expectPublished(t, "a file", lists.at(name))
	if len(kept) != 0 {
		t.Errorf("%d lists are kept, want none: it is a file already", len(kept))
	}
}

// storedAt returns the key under which the list of an address is kept.
func storedAt(tb testing.TB, address string) string {
	tb.Helper()
	kept := memory{}
	lists, _ := testLists(nil, kept)
	lists.Store.Save(tb.Context(), storage.Document{Address: address, Text: published})
	for key := range kept {
		return key
	}
	tb.Fatal("nothing was stored")
	return ""
}

// FuzzStoredRanges reads, as what a list gave, what anybody may have put into Caddy's storage. It
// holds two properties:
//
//   - all or nothing: what can be read is taken up, and of anything else nothing is;
//   - again: what was taken up is stored, and read again as the same.
func FuzzStoredRanges(f *testing.F) {
	const address = "https://list.example/ranges.json"
	key := storedAt(f, address)
	kept, err := json.Marshal(storage.Document{Text: "192.0.2.0/24\n", ETag: `"b"`, Loaded: time.Unix(1e9, 0).UTC()})
	if err != nil {
		f.Fatal(err)
	}
	for _, data := range []string{string(kept), "", "null", "[]", "{}", "[null,{}]", `{"text":"{\"prefixes\":[]}"}`, string(kept[:len(kept)/2])} {
		f.Add([]byte(data))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		lists, _ := testLists(nil, memory{key: data})
		list := lists.at(address)
		var stored storage.Document
		var want *ipranges.Set
		if json.Unmarshal(data, &stored) == nil {
			want, _ = ipranges.Parse([]byte(stored.Text))
		}
		got := list.current.Load()
		if !reflect.DeepEqual(got, want) {
			t.Errorf("all or nothing: %s: got %v, want %v", data, got, want)
		}
		if got == nil {
			return
		}
		where := memory{}
		before, _ := testLists(nil, where)
		before.Store.Save(t.Context(), list.last)
		if where[key] == nil {
			return // JSON has no form for its time
		}
		after, _ := testLists(nil, where)
		again := after.at(address)
		if again.last.Text != list.last.Text || again.last.ETag != list.last.ETag || again.last.LastModified != list.last.LastModified ||
			!again.last.Loaded.Equal(list.last.Loaded) || !reflect.DeepEqual(again.current.Load(), got) {
			t.Errorf("again: %s: got %+v, want %+v", data, again.last, list.last)
		}
	})
}
