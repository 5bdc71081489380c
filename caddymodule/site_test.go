package caddymodule

import (
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
)

const closedSite = "User-agent: *\nDisallow: /closed/\n"

func text(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, body) }
}

func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

// listServer is another server that answers with a robots.txt, which the test changes.
type listServer struct {
	*httptest.Server
	answer atomic.Pointer[http.HandlerFunc]
}

func newListServer(t testing.TB, answer http.HandlerFunc) *listServer {
	t.Helper()
	ls := new(listServer)
	ls.set(answer)
	ls.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { (*ls.answer.Load())(w, r) }))
	t.Cleanup(ls.Close)
	return ls
}

func (ls *listServer) set(answer http.HandlerFunc) { ls.answer.Store(&answer) }
