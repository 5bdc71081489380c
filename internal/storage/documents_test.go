package storage

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
)

const address = "https://user:hush@list.example/"

// restarted returns Documents of a process that has just begun, and their log.
func restarted(kind *Kind, store Store) (*Documents, *observer.ObservedLogs) {
	core, logs := observer.New(zap.DebugLevel)
	return NewDocuments(kind, store, zap.New(core), newTestClock().now), logs
}

// load returns the document of the address, nil if there is none.
func load(ctx context.Context, ds *Documents) (got *Document) {
	ds.Load(ctx, address, "url https://list.example/", func(d Document) error {
		got = &d
		return nil
	})
	return got
}

// listOf is a document with all that a kind stores.
func listOf(kind *Kind, text string) Document {
	at := newTestClock().now()
	d := Document{Address: address, Name: "url https://list.example/", Text: text, ETag: `"v1"`, LastModified: "Sun, 01 Nov 2026 12:00:00 GMT"}
	if kind == Sources {
		d.Since, d.Forbidden = at, true
	} else {
		d.Loaded = at
	}
	return d
}

// The forms are those of the versions before, in both directions.
func TestTheStoredFormsOfDocuments(t *testing.T) {
	for name, c := range map[string]struct {
		kind      *Kind
		key, form string
	}{
		"a source": {
			Sources, "robots/sources/c6e17ec06457b0e5f4ce877f8c2fa9d4.json",
			`{"source":"url https://list.example/","since":"2026-11-01T12:00:00Z","etag":"\"v1\"","last_modified":"Sun, 01 Nov 2026 12:00:00 GMT","forbidden":true,` +
				`"text":"VXNlci1hZ2VudDogKgo=","sha256":"fd89345af6aca5dab85f2aa6a830e270a362b1fa6b5f19607ddd773a081ed651"}`,
		},
		"ranges": {
			Ranges, "robots/ranges/c6e17ec06457b0e5f4ce877f8c2fa9d4.json",
			`{"text":"User-agent: *\n","etag":"\"v1\"","last_modified":"Sun, 01 Nov 2026 12:00:00 GMT","loaded":"2026-11-01T12:00:00Z"}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			store, want := memory{}, listOf(c.kind, "User-agent: *\n")
			ds, _ := restarted(c.kind, store)
			ds.Save(t.Context(), want)
			var got, form map[string]any
			if err := errors.Join(json.Unmarshal(store[c.key], &got), json.Unmarshal([]byte(c.form), &form)); err != nil {
				t.Fatalf("%v in %s", err, store)
			}
			for field, value := range form {
				if got[field] != value {
					t.Errorf("stored %s: got %v, want %v", field, got[field], value)
				}
			}
			if len(got) != len(form) {
				t.Errorf("stored: got %s, want %s", store[c.key], c.form)
			}
			ds, logs := restarted(c.kind, memory{c.key: []byte(c.form)})
			if got := load(t.Context(), ds); got == nil || *got != want {
				t.Errorf("loaded: got %+v, want %+v; log: %v", got, want, logs.All())
			}
		})
	}
}

func TestOnlyChangesAreStored(t *testing.T) {
	store := memory{}
	ds, _ := restarted(Sources, store)
	key := Sources.key(address)
	ds.Save(t.Context(), listOf(Sources, "one"))
	if store[key] == nil {
		t.Fatal("nothing was stored")
	}
	delete(store, key)
	ds.Save(t.Context(), listOf(Sources, "one"))
	if store[key] != nil {
		t.Error("it was stored again without a change")
	}
	ds.Save(t.Context(), listOf(Sources, "two"))
	two := store[key]
	if two == nil {
		t.Fatal("a change was not stored")
	}
	ds, _ = restarted(Sources, store)
	doc := load(t.Context(), ds)
	delete(store, key)
	ds.Save(t.Context(), *doc)
	if store[key] != nil {
		t.Error("it was stored again after a restart without a change")
	}
}

func TestADocumentIsReadOnce(t *testing.T) {
	store := memory{}
	ds, _ := restarted(Sources, store)
	ds.Save(t.Context(), listOf(Sources, "one"))
	ds, _ = restarted(Sources, store)
	if load(t.Context(), ds) == nil || load(t.Context(), ds) != nil {
		t.Error("want it the first time, and not the second")
	}
}

func TestDocumentsThatCannotBeReadAreTold(t *testing.T) {
	for name, c := range map[string]struct {
		kind  *Kind
		data  string
		aside bool
	}{
		"a source that is no JSON":  {Sources, "\x00", true},
		"a source that is another":  {Sources, `{"text":"VXNlci1hZ2VudDogKgo=","sha256":"00"}`, true},
		"ranges that are no JSON":   {Ranges, "\x00", false},
		"ranges that use refuses":   {Ranges, `{"text":"<html>"}`, false},
		"a source that use refuses": {Sources, `{"text":"","sha256":"` + hexSum("") + `"}`, true},
	} {
		t.Run(name, func(t *testing.T) {
			key := c.kind.key(address)
			store := memory{key: []byte(c.data)}
			ds, logs := restarted(c.kind, store)
			refuse := func(Document) error { return errors.New("no list") }
			for range 2 {
				if ds.Load(t.Context(), address, "list", refuse) {
					t.Error("got it, want that there is none")
				}
			}
			if all := logs.All(); len(all) != 1 || all[0].Message != c.kind.notRead || all[0].ContextMap()[c.kind.label] != "list" {
				t.Errorf("log: got %v, want one line %q", all, c.kind.notRead)
			}
			aside, ok := store[key+".unreadable-20261101T120000.000"]
			if ok != c.aside || ok && string(aside) != c.data {
				t.Errorf("set aside: got %q, want that: %t", aside, c.aside)
			}
		})
	}
}

func TestStorageOfDocumentsThatIsOutOfOrderIsToldOnce(t *testing.T) {
	for _, kind := range []*Kind{Sources, Ranges} {
		ds, logs := restarted(kind, brokenStore{fullStore{memory{}}})
		if load(t.Context(), ds) != nil {
			t.Error("loaded: got a document, want none")
		}
		for _, text := range []string{"one", "two", "three"} {
			ds.Save(t.Context(), listOf(kind, text))
		}
		if a, b := logs.FilterMessage(kind.notLoaded).Len(), logs.FilterMessage(kind.notStored).Len(); a != 1 || b != 1 || logs.Len() != 2 {
			t.Errorf("log: got %v, want %q and %q once", logs.All(), kind.notLoaded, kind.notStored)
		}
		ds.store = memory{}
		ds.Save(t.Context(), listOf(kind, "it is mended"))
		ds.store = fullStore{memory{}}
		ds.Save(t.Context(), listOf(kind, "and full again"))
		if got := logs.FilterMessage(kind.notStored).Len(); got != 2 {
			t.Errorf("log after it was mended and full again: got %d lines, want 2", got)
		}
	}
}

func TestStoredDocumentsHoldNoCredentials(t *testing.T) {
	for _, kind := range []*Kind{Sources, Ranges} {
		store := memory{}
		ds, _ := restarted(kind, store)
		d := listOf(kind, "text")
		if kind == Ranges {
			d.Name = address // which is how a list is called
		}
		ds.Save(t.Context(), d)
		for key, data := range store {
			if strings.Contains(key+string(data), "hush") {
				t.Errorf("stored with the password: %s: %s", key, data)
			}
		}
	}
}

func TestWithoutDocumentsNothingIsKept(t *testing.T) {
	var ds *Documents
	ds.Save(t.Context(), listOf(Sources, "text"))
	if load(t.Context(), ds) != nil {
		t.Error("got a document from nil, want none")
	}
}

// FuzzDocuments reads, as a document of each kind, what anybody may have put into Caddy's storage. It
// holds three properties:
//
//   - all or nothing: what can be read is taken up, and of anything else nothing is;
//   - set aside: of a source that cannot be read, every byte is kept;
//   - again: what was taken up is stored, and read again as the same.
func FuzzDocuments(f *testing.F) {
	for _, kind := range []*Kind{Sources, Ranges} {
		data, err := kind.encode(listOf(kind, "User-agent: *\nDisallow: /caf\xe9/\x00\r\n"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
		f.Add(data[:len(data)/2])
	}
	for _, data := range []string{
		"", "null", "[]", "{}", `{"text":"","sha256":"E3B0C44298FC1C149AFBF4C8996FB92427AE41E4649B934CA495991B7852B855"}`,
		`{"text":"{\"prefixes\":[]}"}`, `{"since":"9999-12-31T23:59:59-23:00","text":"","sha256":"` + hexSum("") + `"}`,
	} {
		f.Add([]byte(data))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, kind := range []*Kind{Sources, Ranges} {
			checkStored(t, kind, data)
		}
	})
}

func checkStored(t *testing.T, kind *Kind, data []byte) {
	t.Helper()
	key := kind.key(address)
	store := memory{key: data}
	ds, logs := restarted(kind, store)
	doc := load(t.Context(), ds)
	text, readable := textOf(kind, data)
	if readable != (doc != nil) || readable && doc.Text != text {
		t.Errorf("all or nothing: %s: got %+v, want it: %t", data, doc, readable)
	}
	if !readable && logs.Len() != 1 {
		t.Errorf("all or nothing: %s: got log %v, want one line", data, logs.All())
	}
	aside, ok := store[key+".unreadable-20261101T120000.000"]
	if ok != (!readable && kind == Sources) || ok && !bytes.Equal(aside, data) {
		t.Errorf("set aside: %s: got %q", data, aside)
	}
	if doc == nil || !hasForm(doc.Since) || !hasForm(doc.Loaded) {
		return
	}
	store = memory{}
	ds, _ = restarted(kind, store)
	ds.Save(t.Context(), *doc)
	ds, logs = restarted(kind, store)
	again := load(t.Context(), ds)
	if again == nil {
		t.Fatalf("again: %s: got nothing, want %+v; log: %v", data, doc, logs.All())
	}
	want := *doc
	if kind == Sources {
		want.Loaded = time.Time{}
	} else {
		want.Since, want.SHA256 = time.Time{}, again.SHA256
	}
	if !again.Since.Equal(want.Since) || !again.Loaded.Equal(want.Loaded) {
		t.Errorf("again: %s: got %+v, want %+v", data, again, want)
	}
	if again.Since, again.Loaded = want.Since, want.Loaded; *again != want {
		t.Errorf("again: %s: got %+v, want %+v", data, again, want)
	}
}

// textOf returns the text that is stored, read by hand.
func textOf(kind *Kind, data []byte) (text string, ok bool) {
	var d Document
	if json.Unmarshal(data, &d) != nil {
		return "", false
	}
	if kind == Ranges {
		return d.Text, true
	}
	plain, err := base64.StdEncoding.DecodeString(d.Text)
	return string(plain), err == nil && hexSum(string(plain)) == d.SHA256
}

// hasForm reports whether JSON has a form for the time.
func hasForm(at time.Time) bool {
	_, err := at.UTC().MarshalJSON()
	_, err2 := at.MarshalJSON()
	return err == nil && err2 == nil
}
