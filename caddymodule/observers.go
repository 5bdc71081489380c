package caddymodule

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/caddy-robots/caddy-robots/internal/compliance"
	"github.com/caddy-robots/caddy-robots/internal/enforce"
	"github.com/caddy-robots/caddy-robots/internal/metrics"
	"github.com/caddy-robots/caddy-robots/internal/policies"
	"github.com/caddy-robots/caddy-robots/internal/proof"
	"github.com/caddy-robots/caddy-robots/internal/ratelimit"
)

// observers are told of each verdict, once: the ledger, the metrics, the log, events and the
// placeholders. They are safe for concurrent use.
type observers struct {
	app            *App
	ctx            caddy.Context // of the handler, which is whom events come from
	log            *zap.Logger   // sampled
	now            func() time.Time
	sites          *siteIndex
	wholeAddresses bool
	wholeQueries   bool

	sampler ratelimit.Sampler // of events
}

// learn notes what a decision brought about besides its verdict: a claim that was checked, a
// client that was caught, a ban.
func (o *observers) learn(x *exchange) {
	v := &x.verdict
	if v.Counted {
		x.state.setCounted()
	}
	if v.Proof.Claimed != "" && v.Version != "" && !x.state.setProof(&v.Proof) {
		o.app.counts.Verification(&v.Proof)
	}
	x.state.setFound(v)
	if c := v.Capture; v.Caught {
		o.log.Info("robot trapped", zap.String("client_ip", c.Address), zap.String("user_agent", c.UserAgent),
			zap.String("host", c.Host), zap.String("path", c.Path), zap.Time("until", c.Until))
	}
	if v.NewBan != nil {
		o.app.counts.NewBans.Add(1)
		o.tellBan(v)
	}
}

// note counts the request and writes it into the ledger, with what it was answered.
func (o *observers) note(x *exchange, a answered) {
	v := &x.verdict
	e := v.Event()
	e.Status, e.Measured, e.Bytes, e.Took = a.status, a.measured, a.bytes, a.took
	e.Path, e.WholeQuery = x.request.Target, o.wholeQueries
	if v.Kind.Disobedient() {
		e.Line, e.Rule = v.Line, v.Cause()
		e.Method, e.Address, e.WholeAddress = x.request.Method, x.state.address(), o.wholeAddresses
	}
	o.app.counts.Request(o.sites.of(x.r, v.Host), v)
	o.app.ledger.Note(&e)
}

// tell makes a verdict known: to the log, one line for each request that was or would have been
// refused; to the access log; to the placeholders; and to who listens for events. It is never
// called for a request that is simply allowed, which must cost next to nothing. It returns what it told.
func (o *observers) tell(x *exchange) *outcome {
	v := &outcome{Verdict: x.verdict} // lives as long as the request, which x need not
	r := x.r
	if repl, ok := r.Context().Value(caddy.ReplacerCtxKey).(*caddy.Replacer); ok {
		repl.Map(v.placeholder)
	}
	if server := o.sites.server; server == nil || server.Logs != nil { // else there is no access log
		if extra, ok := r.Context().Value(caddyhttp.ExtraLogFieldsCtxKey).(*caddyhttp.ExtraLogFields); ok {
			extra.Set(zap.Object("robots", v))
		}
	}
	if v.Kind == enforce.Exempt {
		return v
	}
	if v.Refused {
		o.emitRefusal(x, v)
	}
	message := "robot refused"
	if !v.Refused {
		message = "robot observed, not refused"
	}
	if entry := (logAt{o.log, v.At}).Check(zap.InfoLevel, message); entry != nil {
		entry.Write(zap.Inline(v), zap.String("reason", v.Reason()),
			zap.String("method", x.request.Method), zap.String("host", r.Host), zap.String("uri", x.request.Target),
			zap.String("client_ip", x.state.address()), zap.String("user_agent", x.request.UserAgent))
	}
	return v
}

// logAt logs what happened at a time that is known. A Logger asks for the time, also of what its
// sampler leaves out.
type logAt struct {
	log *zap.Logger
	at  time.Time
}

// Check is Logger.Check.
func (l logAt) Check(level zapcore.Level, message string) *zapcore.CheckedEntry {
	return l.log.Core().Check(zapcore.Entry{Level: level, Time: l.at, LoggerName: l.log.Name(), Message: message}, nil)
}

// tellBan tells the log of a ban that a request has brought about.
func (o *observers) tellBan(v *enforce.Verdict) {
	message := "robot banned"
	if v.Observed {
		message = "robot observed, not banned"
	}
	ban := v.NewBan
	o.log.Info(message, zap.String("robot", v.Who.Name), zap.String("class", v.Who.Class.String()),
		zap.String("host", v.Host), zap.String("address", ban.Address), zap.Time("until", ban.Until),
		zap.Int("line", ban.Line), zap.String("rule", ban.Rule), zap.String("reason", v.Reason()))
}

// noteReading notes that a client has read /robots.txt: that version, and the record in it that
// binds the client.
func (o *observers) noteReading(x *exchange, version, record string, prover *proof.Prover) {
	v := &x.verdict
	e := v.Event()
	e.RobotsTxt = true
	if version != "" {
		e.Version, e.Record = version, record
	}
	if e.Record == "" && enforce.MayBeAPerson(v.Who.Class) {
		return
	}
	o.app.counts.Reading(o.sites.of(x.r, v.Host), v, e.Record)
	if token, ok := prover.ClaimOf(v.Who); ok {
		o.noteReader(e, prover, token, x.request)
		return
	}
	o.app.ledger.Note(&e)
}

// noteReader notes a reading by a client that claims to be a robot which can be checked. It
// waits for nothing: who reads the rules is served at once.
func (o *observers) noteReader(e compliance.Event, prover *proof.Prover, token string, r enforce.Request) {
	note := func(standing enforce.Standing) {
		e.Standing = standing.String()
		o.app.ledger.Note(&e)
	}
	standing, pending := prover.CheckAtOnce(token, r)
	if pending {
		select {
		case o.app.readers <- struct{}{}:
			go func() {
				defer func() { <-o.app.readers }()
				note(prover.Check(context.Background(), token, r))
			}()
			return
		default: // there are too many; it stays unverified
		}
	}
	note(standing)
}

// statusOf is the HTTP status of a refusal.
func statusOf(v *enforce.Verdict) int {
	if v.Kind == enforce.TooFast || v.Kind == enforce.OffHours {
		return http.StatusTooManyRequests
	}
	return http.StatusForbidden
}

// outcome is a verdict as placeholders, logs and Caddy's error handling show it, and what of its
// answer lives as long as the request: in one allocation.
type outcome struct {
	enforce.Verdict
	values [6]string // of the headers of a refusal
}

// Error says in one sentence who was refused and why.
func (v *outcome) Error() string { return v.Name() + ": " + v.Reason() }

const placeholderPrefix = "http.robots."

// placeholder answers for {http.robots.*}.
func (v *outcome) placeholder(key string) (any, bool) {
	name, ours := strings.CutPrefix(key, placeholderPrefix)
	if !ours {
		return nil, false
	}
	switch name {
	case "verdict":
		return v.Kind.String(), true
	case "outcome":
		return v.Kind.Outcome(v.Refused), true
	case "robot":
		return v.Who.Name, true
	case "class":
		return v.Who.Class.String(), true
	case "verified":
		return v.Proof.Word(), true
	case "record":
		return v.Decision.Binding.Token(), true
	case "rule":
		return v.Rule, true
	case "line":
		return v.Line, true
	case "retry_after":
		return v.RetrySeconds(), true
	}
	return nil, false
}

// MarshalLogObject implements zapcore.ObjectMarshaler: the same facts, under the same names, as
// the placeholders.
func (v *outcome) MarshalLogObject(enc zapcore.ObjectEncoder) error {
	enc.AddString("verdict", v.Kind.String())
	enc.AddString("outcome", v.Kind.Outcome(v.Refused))
	enc.AddString("robot", v.Who.Name)
	enc.AddString("class", v.Who.Class.String())
	if v.Capture != nil {
		enc.AddString("trap", v.Capture.Path)
	}
	if v.Proof.Claimed != "" {
		enc.AddString("claimed", v.Proof.Claimed)
		enc.AddString("verified", v.Proof.Word())
	}
	if binding := v.Decision.Binding; binding != nil {
		enc.AddString("record", binding.Token())
		enc.AddInt("record_line", binding.Line())
	}
	if v.Rule != "" {
		enc.AddString("rule", v.Rule)
	}
	if v.Line > 0 {
		enc.AddInt("line", v.Line)
	}
	if v.RetryAfter > 0 {
		enc.AddInt64("retry_after", v.RetrySeconds())
	}
	return nil
}

// The events that this module emits, by Caddy's events app. docs/caddyfile.md lists their data.
const (
	refusedEvent = "robots_refused"
	changedEvent = "robots_policy_changed"
)

// listens reports whether anybody wants to know of an event. Before Caddy has started, somebody
// may begin to listen at any time.
func (o *observers) listens(name string) bool {
	return o.app.started.over.Load() && o.ctx.Err() == nil && o.app.events.ShouldEmit(name)
}

// emitRefusal emits the event of a refused request, if anybody listens.
func (o *observers) emitRefusal(x *exchange, v *outcome) {
	if !o.listens(refusedEvent) {
		return
	}
	leftOut, ok := o.sampler.Pass(o.now(), perSecond, oneIn)
	if !ok {
		return
	}
	o.app.events.Emit(o.ctx, refusedEvent, map[string]any{
		"verdict": v.Kind.String(), "reason": v.Reason(),
		"robot": v.Who.Name, "class": v.Who.Class.String(), "standing": v.Proof.Word(),
		"site": x.request.Host, "method": x.request.Method, "uri": x.request.Target, "client_ip": x.state.address(),
		"record": v.Decision.Binding.Token(), "rule": v.Rule, "line": v.Line,
		"status": statusOf(&v.Verdict), "retry_after": v.RetrySeconds(), "left_out": leftOut,
	})
}

// loaded makes the end of a load of robots.txt known to metrics and events, as soon as Caddy has
// started.
func (o *observers) loaded(l *policies.Load) {
	o.app.started.then(func() {
		sites := o.sites.forHost(l.Host)
		for _, site := range sites {
			site.Load(l.Result())
		}
		if l.IsChange() && o.listens(changedEvent) {
			o.emitChange(l, sites)
		}
	})
}

// emitChange emits the event that another robots.txt is in force than before, with the sites that
// it is for.
func (o *observers) emitChange(l *policies.Load, sites []*metrics.Site) {
	host := l.Host
	if host == "" {
		names := make([]string, len(sites))
		for i, s := range sites {
			names[i] = s.Name
		}
		host = strings.Join(names, " ")
	}
	in, out := l.ChangedLines()
	o.app.events.Emit(o.ctx, changedEvent, map[string]any{
		"host": host, "version": l.Rules.Version, "previous_version": l.Previous.Version,
		"lines_in": len(in), "lines_out": len(out), "bytes": len(l.Rules.Text),
		"records": len(l.Rules.File.Groups), "rules": l.Rules.RuleCount(), "diagnostics": len(l.Rules.Diagnostics),
	})
}
