package caddymodule

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"go.uber.org/zap"

	"github.com/caddy-robots/caddy-robots/internal/policies"
)

// What the process holds is cut to hosts_memory when Caddy has started: a config that is refused
// forgets nobody's rules.
func TestHostsMemoryCountsFromTheStart(t *testing.T) {
	running, err := appOf(contextWithStorage(t))
	if err != nil {
		t.Fatal(err)
	}
	loader := policies.New(running.policies, policies.Config{Log: zap.NewNop()})
	loader.Start(t.Context())
	loader.LearnServer(policies.Origin{Name: t.Name(), Server: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "# %s\nUser-agent: *\nDisallow: /\n%s", r.Host, strings.Repeat("# text\n", 50_000))
	})})
	for i := range 8 {
		loader.PolicyFor(t.Context(), fmt.Sprintf("host%d.example", i))
	}
	held := running.policies.Held().Bytes

	ctx, cancel := caddy.NewContext(contextWithStorage(t))
	defer cancel()
	next := &App{HostsMemory: 1 << 20}
	if err := next.Provision(ctx); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := next.Cleanup(); err != nil {
			t.Error(err)
		}
	}()
	if got := running.policies.Held().Bytes; held < 2<<20 || got != held {
		t.Errorf("before the start: got %d bytes, want %d, which are more than 2 MiB", got, held)
	}
	if err := next.started.Handle(ctx, caddy.Event{}); err != nil {
		t.Fatal(err)
	}
	if got := running.policies.Held().Bytes; got > 1<<20 {
		t.Errorf("after the start: got %d bytes, want at most 1 MiB", got)
	}
}
