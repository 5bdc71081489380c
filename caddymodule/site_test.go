package caddymodule

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
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

func TestThePortOfAServer(t *testing.T) {
	for listen, want := range map[string]int{
		":8080": 8080, "127.0.0.1:8080 [::1]:8080": 8080, ":80 :443": 0, ":8000-8001": 0, "": 0, ":0": 0,
		"unix//run/a.sock": noPort, "unix//run/a.sock unix//run/b.sock": noPort, "unix//run/a.sock :8080": 0, ":8080 unix//run/a.sock": 0,
	} {
		if got := portOf(&caddyhttp.Server{Listen: strings.Fields(listen)}); got != want {
			t.Errorf("%q: got %d, want %d", listen, got, want)
		}
	}
}
