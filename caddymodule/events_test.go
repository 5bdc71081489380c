package caddymodule

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyevents"

	"github.com/caddy-robots/caddy-robots/internal/policies"
)

func init() { caddy.RegisterModule(listener{}) }

// listener keeps the events that it is told of. In a config it is called robots_test, and all
// of them keep theirs together, in heard.
type listener struct{ kept *keptEvents }

type keptEvents struct {
	mu     sync.Mutex
	events []caddy.Event
}

var heard keptEvents

// CaddyModule implements caddy.Module.
func (listener) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "events.handlers.robots_test", New: func() caddy.Module { return &listener{&heard} }}
}

// UnmarshalCaddyfile implements caddyfile.Unmarshaler.
func (listener) UnmarshalCaddyfile(d *caddyfile.Dispenser) error { d.Next(); return nil }

// Handle implements caddyevents.Handler.
func (l listener) Handle(_ context.Context, e caddy.Event) error {
	l.kept.mu.Lock()
	defer l.kept.mu.Unlock()
	l.kept.events = append(l.kept.events, e)
	return nil
}

func (k *keptEvents) all() []caddy.Event {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Clone(k.events)
}

// listen keeps the events of a handler from here on, and has Caddy started.
func (th *testHandler) listen(t *testing.T, name string) *keptEvents {
	t.Helper()
	kept := new(keptEvents)
	if err := th.app.events.On(name, listener{kept}); err != nil {
		t.Fatal(err)
	}
	th.begin(t)
	return kept
}

func TestARefusalIsAnEvent(t *testing.T) {
	th := newTestHandler(t, "User-agent: GPTBot\nDisallow: /private/\n", &Handler{})
	kept := th.listen(t, refusedEvent)
	th.ask("GET", "/private/a?b=c", gptBot)
	th.ask("GET", "/", gptBot)
	events := kept.all()
	if len(events) != 1 {
		t.Fatalf("got %d events, want 1", len(events))
	}
	want := map[string]any{
		"verdict": "disallowed",
		"robot":   "GPTBot", "class": "robot", "standing": "", "site": "site.example", "method": "GET", "uri": "/private/a?b=c",
		"client_ip": "203.0.113.7", "record": "GPTBot", "rule": "Disallow: /private/", "line": 2,
		"status": 403, "retry_after": int64(0), "left_out": 0,
	}
	got := maps.Clone(events[0].Data)
	if reason, _ := got["reason"].(string); !strings.Contains(reason, "line 2") {
		t.Errorf("reason: got %q, want one that names the line", reason)
	}
	delete(got, "reason")
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestWhatIsOnlyObservedOrExemptIsNoRefusal(t *testing.T) {
	for name, h := range map[string]*Handler{"observed": {Observe: true}, "exempt": {Exempt: []string{"GPTBot"}}} {
		th := newTestHandler(t, closedAll, h)
		kept := th.listen(t, "")
		th.ask("GET", "/", gptBot)
		for _, e := range kept.all() {
			if e.Name() == refusedEvent {
				t.Errorf("%s: got an event, want none", name)
			}
		}
	}
}

func TestAFloodOfRefusalsIsThinnedOut(t *testing.T) {
	th := newTestHandler(t, closedAll, &Handler{})
	kept := th.listen(t, refusedEvent)
	for range perSecond + 3*oneIn {
		th.ask("GET", "/", gptBot)
	}
	th.clock.advance(time.Second)
	th.ask("GET", "/", gptBot)
	var leftOut []any
	for _, e := range kept.all()[perSecond:] {
		leftOut = append(leftOut, e.Data["left_out"])
	}
	if got, want := fmt.Sprint(leftOut), fmt.Sprint([]int{oneIn - 1, oneIn - 1, oneIn - 1, 0}); got != want {
		t.Errorf("left out after the first %d: got %s, want %s", perSecond, got, want)
	}
}

func TestWithoutAListenerNoEventIsMade(t *testing.T) {
	th := newTestHandler(t, closedAll, &Handler{})
	th.begin(t)
	if th.observers.listens(refusedEvent) {
		t.Error("got somebody who listens, want nobody")
	}
	x := &exchange{r: newRequest("GET", "/", gptBot)}
	if got := testing.AllocsPerRun(100, func() { th.observers.emitRefusal(x, nil) }); got != 0 {
		t.Errorf("got %v allocations, want 0", got)
	}
}

func TestAHandlerThatIsGoneEmitsNothing(t *testing.T) {
	th := newTestHandler(t, closedAll, &Handler{})
	ctx, end := context.WithCancel(th.observers.ctx.Context)
	th.observers.ctx.Context = ctx
	kept := th.listen(t, refusedEvent)
	end()
	th.ask("GET", "/", gptBot)
	if got := len(kept.all()); got != 0 {
		t.Errorf("got %d events, want none", got)
	}
}

func TestAChangeOfTheRulesIsAnEvent(t *testing.T) {
	folder := t.TempDir()
	name := write(t, folder, "robots.txt", "User-agent: *\nDisallow: /a\n")
	th := newTestHandler(t, "", &Handler{Sources: []policies.Source{{File: name}}})
	kept := th.listen(t, changedEvent)
	before := th.policies.PolicyFor(t.Context(), "").Rules.Version
	write(t, folder, "robots.txt", "User-agent: *\nDisallow: /b\nDisallow: /c\nnonsense\n")
	th.refresh(t)
	after := th.refresh(t).Policy.Rules.Version
	events := kept.all()
	if len(events) != 1 {
		t.Fatalf("got %d events, want 1 for the change and none for the first load and the third", len(events))
	}
	want := map[string]any{
		"host": "*", "version": after, "previous_version": before, "lines_in": 3, "lines_out": 1,
		"bytes": 49, "records": 1, "rules": 2, "diagnostics": 1,
	}
	if got := events[0].Data; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestEventsInACaddyfile(t *testing.T) {
	const text = `{
	admin off
	persist_config off
	auto_https off
	storage file_system %s
	events {
		on robots_refused robots_test
	}
}
http://site.example:0 {
	bind 127.0.0.1
	robots {
		source text "User-agent: *
Disallow: /"
	}
}
`
	adapted, _, err := caddyconfig.GetAdapter("caddyfile").Adapt(fmt.Appendf(nil, text, t.TempDir()), map[string]any{"filename": "Caddyfile"})
	if err != nil {
		t.Fatal(err)
	}
	if err := caddy.Load(adapted, true); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := caddy.Stop(); err != nil {
			t.Error(err)
		}
	})
	before := len(heard.all())
	h := activeApp().all()[0].handler
	if err := h.ServeHTTP(&discard{header: make(http.Header)}, newRequest("GET", "/page", gptBot), page); err != nil {
		t.Fatal(err)
	}
	events := heard.all()[before:]
	if len(events) != 1 || events[0].Data["uri"] != "/page" {
		t.Fatalf("got %v, want one event for /page", events)
	}
	if origin := events[0].Origin(); origin == nil || origin.CaddyModule().ID != "http.handlers.robots" {
		t.Errorf("origin: got %v, want http.handlers.robots", origin)
	}
	if _, err := json.Marshal(events[0].CloudEvent()); err != nil {
		t.Error(err)
	}
}

// Interface guards
var (
	_ caddyevents.Handler   = listener{}
	_ caddyfile.Unmarshaler = listener{}
)

func TestAHandlerThatComesTooLateForEventsServesAllTheSame(t *testing.T) {
	ctx := contextWithStorage(t)
	app, err := ctx.App("events")
	if err != nil {
		t.Fatal(err)
	}
	if err := app.(caddy.App).Start(); err != nil {
		t.Fatal(err)
	}
	h := &Handler{Sources: []policies.Source{{Text: closedAll}}}
	t.Cleanup(func() {
		if err := h.Cleanup(); err != nil {
			t.Error(err)
		}
	})
	if err := h.Provision(ctx); err != nil {
		t.Fatal(err)
	}
	th := &testHandler{Handler: h}
	if got := th.ask("GET", "/", gptBot).Code; got != http.StatusForbidden {
		t.Errorf("got %d, want 403", got)
	}
}
