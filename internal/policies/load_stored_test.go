package policies

import (
	"context"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"

	"github.com/caddy-robots/caddy-robots/internal/storage"
)

const (
	storedNotLoaded = "the stored answer of this source could not be loaded"
	storedNotRead   = "the stored answer of this source cannot be read; it is set aside"
	notStored       = "the answer of a source could not be stored; after a restart it is unknown until the source answers again"
)

// listServer is a server of a list, which the test changes.
type listServer struct {
	*httptest.Server
	answer     atomic.Pointer[http.HandlerFunc]
	conditions atomic.Pointer[string] // If-None-Match of the last request
}

func newListServer(t *testing.T, answer http.HandlerFunc) *listServer {
	t.Helper()
	ls := new(listServer)
	ls.set(answer)
	ls.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		condition := r.Header.Get("If-None-Match")
		ls.conditions.Store(&condition)
		(*ls.answer.Load())(w, r)
	}))
	t.Cleanup(ls.Close)
	return ls
}

func (ls *listServer) set(answer http.HandlerFunc) { ls.answer.Store(&answer) }

// tagged answers with a text and an ETag, and with 304 to whoever has it.
func tagged(body, etag string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", etag)
		if r.Header.Get("If-None-Match") == etag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		_, _ = io.WriteString(w, body)
	}
}

// restarted returns a site of a process that has just begun, with this storage.
func restarted(t *testing.T, where storage.Store, sources ...Source) *testSite {
	t.Helper()
	caches.Delete(t)
	return newTestSiteWith(t, Config{Storage: where}, nil, sources...)
}

func TestAURLThatIsAwayAfterARestartHoldsAsStored(t *testing.T) {
	list, where := newListServer(t, tagged(closedSite, `"v1"`)), memory{}
	restarted(t, where, Source{URL: list.URL}).loadNow()
	list.set(status(http.StatusInternalServerError))
	after := restarted(t, where, Source{URL: list.URL})
	after.expect(t, "after a restart, with the list away", true)
	after.logged(t, couldNot, 1)
	told := after.log.FilterMessage(couldNot).All()[0].ContextMap()["error"].(string)
	if want := "its text, in force since 2026-11-01T12:00:00Z, holds"; !strings.Contains(told, want) {
		t.Errorf("log: got %q, want it to say %q", told, want)
	}
}

func TestAConditionalRequestWorksAfterARestart(t *testing.T) {
	list, where := newListServer(t, tagged(closedSite, `"v1"`)), memory{}
	restarted(t, where, Source{URL: list.URL}).loadNow()
	after := restarted(t, where, Source{URL: list.URL})
	after.expect(t, "after a restart", true)
	if got := *list.conditions.Load(); got != `"v1"` {
		t.Errorf("If-None-Match: got %q, want %q", got, `"v1"`)
	}
	after.logged(t, couldNot, 0)
}

func TestAURLThatHangsAfterARestartKeepsNobodyWaitingInVain(t *testing.T) {
	where := memory{}
	list := newListServer(t, tagged(closedSite, `"v1"`))
	restarted(t, where, Source{URL: list.URL}).loadNow()
	key := storageKey(list.URL)
	synctest.Test(t, func(t *testing.T) {
		// No socket in the bubble: it would not be durably blocked.
		defer func(client *http.Client) { httpClient = client }(httpClient)
		httpClient = &http.Client{Transport: hanging{}}
		after := restarted(t, memory{key: where[key]}, Source{URL: list.URL})
		rules := after.rules(&http.Request{Host: "site.example"})
		if rules.Compiled.Default().Decide("/closed/").Allowed() {
			t.Error("a request that waited did not get the stored rules")
		}
		synctest.Wait()
	})
}

// hanging is a network that never answers.
type hanging struct{}

func (hanging) RoundTrip(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

func TestOnlyChangesAreStored(t *testing.T) {
	list, where := newListServer(t, text(closedSite)), &countingStorage{memory: memory{}}
	ts := restarted(t, where, Source{URL: list.URL})
	for range 3 {
		ts.loadNow()
	}
	list.set(status(http.StatusInternalServerError))
	ts.loadNow()
	if where.stored != 1 {
		t.Errorf("stored: got %d times, want once", where.stored)
	}
	list.set(text(openSite))
	ts.loadNow()
	if where.stored != 2 {
		t.Errorf("stored after a change: got %d times, want twice", where.stored)
	}
	again := restarted(t, where, Source{URL: list.URL})
	again.loadNow()
	if where.stored != 2 {
		t.Errorf("stored after a restart without a change: got %d times, want twice", where.stored)
	}
}

func TestTheStoredTextIsTheSameByteForByte(t *testing.T) {
	const latin1 = "User-agent: *\nDisallow: /caf\xe9/\x00\r\n"
	list, where := newListServer(t, text(latin1)), memory{}
	restarted(t, where, Source{URL: list.URL}).loadNow()
	list.Close()
	after := restarted(t, where, Source{URL: list.URL})
	after.loadNow()
	if got := after.site.Policy().Rules.Text; got != latin1 {
		t.Errorf("text: got %q, want %q", got, latin1)
	}
}

func TestBrokenStoredSourcesAreSetAside(t *testing.T) {
	list, where := newListServer(t, text(closedSite)), memory{}
	restarted(t, where, Source{URL: list.URL}).loadNow()
	key := storageKey(list.URL)
	good := string(where[key])
	for name, data := range map[string]string{
		"empty": "", "cut": good[:len(good)/2], "another's": `{"hello":"world"}`, "list": "[]",
		"other text": strings.Replace(good, `"text":"V`, `"text":"W`, 1),
	} {
		t.Run(name, func(t *testing.T) {
			if data == good {
				t.Fatal("it is not broken")
			}
			where := memory{key: []byte(data)}
			after := restarted(t, where, Source{URL: list.URL})
			after.expect(t, "from the list itself", true)
			after.logged(t, storedNotRead, 1)
			if got := string(where[key+".unreadable-20261101T120000.000"]); got != data {
				t.Errorf("set aside: got %q, want %q", got, data)
			}
			if len(where[key]) == 0 || string(where[key]) == data {
				t.Error("what the list answered is not stored anew")
			}
		})
	}
}

func TestBrokenStoredSourcesAreToldOnceWhileTheirListIsAway(t *testing.T) {
	list := newListServer(t, status(http.StatusInternalServerError))
	after := restarted(t, memory{storageKey(list.URL): []byte("{not json")}, Source{URL: list.URL})
	for range 3 {
		after.loadNow()
	}
	after.logged(t, storedNotRead, 1)
}

func TestStorageOfSourcesThatIsOutOfOrderIsToldOnce(t *testing.T) {
	list := newListServer(t, text(closedSite))
	ts := restarted(t, brokenStorage{fullStorage{memory{}}}, Source{URL: list.URL})
	for _, body := range []string{closedSite, openSite, closedSite} {
		list.set(text(body))
		ts.expect(t, "loaded", body == closedSite)
	}
	ts.logged(t, storedNotLoaded, 1)
	ts.logged(t, notStored, 1)
}

func TestURLsThatDifferFromHostToHostAreNotStored(t *testing.T) {
	list, where := newListServer(t, text(closedSite)), memory{}
	ts := restarted(t, where, Source{URL: list.URL + "/" + hostPlaceholder})
	ts.expect(t, "loaded", true)
	if len(where) != 0 {
		t.Errorf("stored: got %d texts, want none", len(where))
	}
}

func TestStoredSourcesHoldNoCredentials(t *testing.T) {
	list, where := newListServer(t, text(closedSite)), memory{}
	address := strings.Replace(list.URL, "http://", "http://user:hush@", 1)
	ts := restarted(t, where, Source{URL: address})
	ts.loadNow()
	list.Close()
	ts.loadNow()
	for key, data := range where {
		if strings.Contains(key+string(data), "hush") {
			t.Errorf("stored with the password: %s: %s", key, data)
		}
	}
	for _, entry := range ts.log.All() {
		for name, value := range entry.ContextMap() {
			if s, ok := value.(string); ok && strings.Contains(s, "hush") {
				t.Errorf("logged with the password: %s: %s", name, s)
			}
		}
	}
	if len(where) == 0 || ts.log.FilterMessage(couldNot).Len() == 0 {
		t.Error("nothing was stored, or nothing logged")
	}
}

// countingStorage counts what is stored.
type countingStorage struct {
	memory
	stored int
}

func (cs *countingStorage) Store(ctx context.Context, key string, value []byte) error {
	cs.stored++
	return cs.memory.Store(ctx, key, value)
}

// storageKey is where the storage has what this address answered.
func storageKey(address string) string {
	where := memory{}
	storage.NewDocuments(storage.Sources, where, zap.NewNop(), time.Now).Save(context.Background(), storage.Document{Address: address})
	return slices.Collect(maps.Keys(where))[0]
}
