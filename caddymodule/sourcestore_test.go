package caddymodule

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"go.uber.org/zap"
)

const (
	storedNotLoaded = "what this source answered before the restart could not be loaded"
	storedNotRead   = "what this source answered before the restart cannot be read; it is kept aside"
	notStored       = "what a source answered could not be stored; a restart while it is away would not know it"
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
func restarted(t *testing.T, where storage, sources ...Source) *testSite {
	t.Helper()
	ts := newTestSite(t, nil, sources...)
	ts.shared.lastGood = newTable[*document](maxHosts, maxHostText)
	ts.shared.history = newTable[*past](maxHosts, maxHostText)
	ts.kept = newSourceStore(where, ts.loader.log, ts.now)
	return ts
}

func TestTheStoredTextIsTheSameOctetForOctet(t *testing.T) {
	const latin1 = "User-agent: *\nDisallow: /caf\xe9/\x00\r\n"
	list, where := newListServer(t, text(latin1)), memory{}
	restarted(t, where, Source{URL: list.URL}).loadNow()
	list.Close()
	after := restarted(t, where, Source{URL: list.URL})
	after.loadNow()
	if got := after.site.current.Load().text; got != latin1 {
		t.Errorf("text: got %q, want %q", got, latin1)
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
