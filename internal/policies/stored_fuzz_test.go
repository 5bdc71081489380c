package policies

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
)

// FuzzStoredSource reads what anybody may have put into Caddy's storage as what a source answered. It holds
// three properties:
//
//   - all or nothing: what can be read is taken up, and of anything else nothing is;
//   - set aside: of what cannot be read, every byte is kept;
//   - again: what was taken up is stored, and read again as the same.
func FuzzStoredSource(f *testing.F) {
	src, now := Source{URL: "https://list.example/"}, time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	storeIn := func(where Storage) *documentStore {
		return newDocumentStore(Config{Sources: []Source{src}, Storage: where, Log: zap.NewNop(), Now: func() time.Time { return now }})
	}
	key, seed := storageKey(src.URL), memory{}
	storeIn(seed).keep(f.Context(), src, &Document{Text: closedSite, ETag: `"a"`, Since: now})
	for _, data := range []string{
		string(seed[key]), "", "null", "[]", "{}", "[null,{}]",
		`{"text":"","sha256":"E3B0C44298FC1C149AFBF4C8996FB92427AE41E4649B934CA495991B7852B855"}`, `{"text":"{\"prefixes\":[]}"}`, string(seed[key][:99]),
	} {
		f.Add([]byte(data))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		where := memory{key: data}
		doc := storeIn(where).load(t.Context(), src)
		var kept storedDocument
		readable := json.Unmarshal(data, &kept) == nil && hexSum(kept.Text) == kept.SHA256
		if readable != (doc != nil) || readable && doc.Text != string(kept.Text) {
			t.Errorf("all or nothing: %s: got %+v, want it: %t", data, doc, readable)
		}
		checkAside(t, where, data, readable)
		if doc == nil || doc.Since.UTC().Year() < 0 || doc.Since.UTC().Year() > 9999 { // which JSON has no form for
			return
		}
		where = memory{}
		storeIn(where).keep(t.Context(), src, doc)
		again := storeIn(where).load(t.Context(), src)
		if again == nil || !again.Since.Equal(doc.Since) {
			t.Fatalf("again: %s: got %+v, want %+v", data, again, doc)
		}
		if again.Since = doc.Since; *again != *doc {
			t.Errorf("again: %s: got %+v, want %+v", data, again, doc)
		}
	})
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
