package caddymodule

import (
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyevents"
)

// The events that this module emits, by Caddy's events app. docs/caddyfile.md lists their data.
const (
	refusedEvent = "robots_refused"
	changedEvent = "robots_policy_changed"
)

// eventsPerSecond is how many refusals are emitted in a second; beyond it, one in oneIn. Those
// who listen run within the request: in a flood they must not slow down the site.
const eventsPerSecond = 100

// events emits what happens to those who listen. It is safe for concurrent use. The zero
// events has nobody who listens.
type events struct {
	app     *caddyevents.App
	ctx     caddy.Context // of the handler, which is whom events come from
	started atomic.Bool   // nobody may begin to listen any more
	thinner thinner
}

// listens tells whether anybody wants to know of an event.
func (e *events) listens(name string) bool {
	return e.started.Load() && e.ctx.Err() == nil && e.app.ShouldEmit(name)
}

// refused tells of a refused request.
func (e *events) refused(r *http.Request, a *asked, j *judgement, now func() time.Time) {
	if !e.listens(refusedEvent) {
		return
	}
	leftOut, ok := e.thinner.pass(now())
	if !ok {
		return
	}
	e.app.Emit(e.ctx, refusedEvent, map[string]any{
		"verdict": j.verdict.String(), "reason": j.reason(),
		"robot": j.who.Name, "class": j.who.Class.String(), "standing": j.proof.standing(),
		"site": hostOf(r), "method": a.method, "uri": a.target, "client_ip": clientAddress(r),
		"record": j.decision.Binding.Token(), "rule": j.rule, "line": j.line,
		"status": j.status(), "retry_after": j.retrySeconds(), "left_out": leftOut,
	})
}

// changed tells of a robots.txt that is another than before, on the sites it is for.
func (e *events) changed(sites []*siteCounts, l *load) {
	if !e.listens(changedEvent) {
		return
	}
	host := l.site.host
	if host == "" {
		names := make([]string, len(sites))
		for i, s := range sites {
			names[i] = s.name
		}
		host = strings.Join(names, " ")
	}
	in, out := changedLines(l.previous.text, l.rules.text)
	e.app.Emit(e.ctx, changedEvent, map[string]any{
		"host": host, "version": l.rules.version, "previous_version": l.previous.version,
		"lines_in": len(in), "lines_out": len(out), "octets": len(l.rules.text),
		"records": len(l.rules.file.Groups), "rules": l.rules.rules(), "diagnostics": len(l.rules.diagnostics),
	})
}

// thinner lets the first events of a second pass, and of the others one in oneIn. It is safe
// for concurrent use. The zero thinner has let nothing pass.
type thinner struct {
	mu      sync.Mutex // guards the fields below
	second  int64
	events  int // in that second
	leftOut int // since the last one that passed
}

// pass tells whether an event passes and, if so, how many did not since the last one that did.
func (t *thinner) pass(now time.Time) (leftOut int, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if second := now.Unix(); second != t.second {
		t.second, t.events = second, 0
	}
	t.events++
	if t.events > eventsPerSecond && (t.events-eventsPerSecond)%oneIn != 0 {
		t.leftOut++
		return 0, false
	}
	leftOut, t.leftOut = t.leftOut, 0
	return leftOut, true
}
