package cli

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// admin is an admin endpoint at the socket admin.sock in the folder of a script, as Caddy's is. It
// answers with the files of the folder answers: GET /robots/sites/a?b=c with GET_robots_sites_a?b=c,
// whose first line is the status. Where there is none it answers as a Caddy without this module.
func admin(ts *testscript.TestScript, _ bool, _ []string) {
	listener, err := net.Listen("unix", ts.MkAbs("admin.sock"))
	ts.Check(err)
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := r.Method + strings.ReplaceAll(r.URL.RequestURI(), "/", "_")
		text, err := os.ReadFile(filepath.Join(ts.MkAbs("answers"), name))
		if err != nil {
			http.NotFound(w, r)
			return
		}
		var status int
		first, body, _ := strings.Cut(string(text), "\n")
		if _, err := fmt.Sscan(first, &status); err != nil {
			panic(err)
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	})}
	go func() { _ = server.Serve(listener) }()
	ts.Defer(func() { _ = server.Close() })
}

func TestACaddyThatDoesNotAnswerIsGivenUp(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close() // it accepts nobody
	c := running{address: listener.Addr().String(), patience: time.Millisecond}
	if _, err := c.ask(http.MethodGet, "/robots/status", nil); err == nil || !strings.Contains(err.Error(), "has not answered within 1ms") {
		t.Errorf("got %v, want that it is given up", err)
	}
}

func TestShellsCompleteWhatARunningCaddyKnows(t *testing.T) {
	mux := http.NewServeMux()
	for path, body := range map[string]string{
		"/robots/sites":  `[{"host":"a.example"},{"host":"b.example"}]`,
		"/robots/bans":   `[{"robot":"gptbot","address":"203.0.113.7","site":"a.example"},{"robot":"gptbot","site":"b.example"}]`,
		"/robots/robots": `{"sites":[{"site":"a.example","robots":[{"robot":"GPTBot"},{"robot":"CCBot"}]}]}`,
	} {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(body)) })
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: mux}
	go func() { _ = server.Serve(listener) }()
	defer server.Close()
	for words, want := range map[string][]string{
		"sites ":             {"a.example", "b.example"},
		"refresh ":           {"a.example", "b.example"},
		"lift --robot ":      {"gptbot"},
		"lift --client ":     {"203.0.113.7"},
		"lift --site ":       {"a.example", "b.example"},
		"observe ":           {"off", "on"},
		"report --site ":     {"a.example"},
		"report --robot ":    {"CCBot", "GPTBot"},
		"report --standing ": {"-", "impostor", "unverified", "verified"},
	} {
		command, rest, _ := strings.Cut(words, " ")
		args := append([]string{command, "--address", listener.Addr().String()}, strings.Split(rest, " ")...)
		if got := complete(t, args...); !slices.Equal(slices.Sorted(slices.Values(got)), want) {
			t.Errorf("%s: got %q, want %q", words, got, want)
		}
	}
	server.Close()
	if got := complete(t, "sites", "--address", listener.Addr().String(), ""); len(got) != 0 {
		t.Errorf("without a Caddy: got %q, want nothing", got)
	}
}
