package caddymodule

import (
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-robots/caddy-robots/crawler"
	"github.com/caddy-robots/caddy-robots/internal/compliance"
)

const (
	// ledgerKey is where the ledger is in Caddy's storage. Behind it stands which Caddy's,
	// since several may have one storage.
	ledgerKey = "robots/ledger"

	// saveLedgerEvery is how often the ledger is stored: with the time that this takes, a
	// Caddy that is killed loses less than a minute.
	saveLedgerEvery = 30 * time.Second
)

// ledger is what this process knows of what robots did. It outlives a config reload and, in
// Caddy's storage, a restart. It is safe for concurrent use.
type ledger struct {
	*compliance.Ledger
	*keeper

	changed atomic.Bool // since somebody last asked for its revision

	asking sync.Mutex // guards asked
	asked  uint64     // how often it had changed by then
}

func newLedger() *ledger {
	l := &ledger{Ledger: compliance.NewLedger(compliance.Options{})}
	l.keeper = &keeper{
		what: "the figures of the report", loses: "a restart would forget them",
		key: ledgerPlace, every: saveLedgerEvery,
		revision: l.revision, now: time.Now,
		encode: func() ([]byte, error) { return l.Marshal(), nil },
		decode: l.Unmarshal,
	}
	return l
}

// ledgerPlace is the key of this Caddy's ledger.
func ledgerPlace() string {
	id, err := caddy.InstanceID()
	if err != nil {
		return ledgerKey + "/this" // it has nowhere to keep its name: then it is the only one
	}
	return ledgerKey + "/" + id.String()
}

// revision returns a number that is another one when something was noted since.
func (l *ledger) revision() uint64 {
	l.asking.Lock()
	defer l.asking.Unlock()
	if l.changed.Swap(false) {
		l.asked++
	}
	return l.asked
}

// note notes an event. To set a flag that is set already would take its cache line from the
// other cores, for nothing.
func (l *ledger) note(e *compliance.Event) {
	l.Note(e)
	if !l.changed.Load() {
		l.changed.Store(true)
	}
}

// isNoted tells whether what the client does is noted: an app or a browser that nothing binds
// is no robot.
func (j *judgement) isNoted() bool {
	return j.decision.Binding != nil || j.verdict != Allowed || !mayBeAPerson(j.who.Class)
}

// mayBeAPerson tells whether a client is one that no record binds unless it names it, or the
// site says so.
func mayBeAPerson(c crawler.Class) bool { return c == crawler.App || c == crawler.Browser }

// serveAllowed passes on a request that is allowed, and notes it when that is over, unless
// another handler has judged it meanwhile.
func (h *Handler) serveAllowed(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler, a *asked, j *judgement) error {
	var mine turn
	if j.isNoted() {
		h.arrives(j)
		mine = j.vars.join()
	}
	j.vars.leave()
	if mine != 0 {
		defer func() {
			if j.vars.isLast(mine) {
				h.note(r, a, j, 0)
			}
		}()
	}
	return next.ServeHTTP(w, r)
}

// arrives keeps when the request came, if that is not known yet.
func (h *Handler) arrives(j *judgement) {
	if j.at.IsZero() {
		j.at = h.now()
	}
}

// event is what a ledger is told of a judgement, but for what was asked for and what decided.
func (j *judgement) event() compliance.Event {
	return compliance.Event{
		Time: j.at, Site: j.site, Robot: j.who.Name, Class: j.who.Class.String(), Standing: j.proof.standing(),
		Verdict: j.verdict, Refused: j.refused, Version: j.version, Record: j.decision.Binding.Token(),
	}
}

// note writes a request into the ledger.
func (h *Handler) note(r *http.Request, a *asked, j *judgement, status int) {
	e := j.event()
	if j.verdict.Disobedient() {
		e.Line, e.Rule = j.line, j.cause()
		e.Method, e.Path, e.Status, e.Address = a.method, a.target, status, clientAddress(r)
		e.WholeAddress = h.WholeAddresses
	}
	h.count(r, e.Site, j)
	h.shared.ledger.note(&e)
}

// serveObserved serves a request that is only observed, and notes what it was answered.
func (h *Handler) serveObserved(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler, a *asked, j *judgement) (err error) {
	mine := j.vars.claim()
	j.vars.leave()
	if !mine {
		return next.ServeHTTP(w, r)
	}
	h.arrives(j)
	rec := caddyhttp.NewResponseRecorder(w, nil, nil)
	defer func() {
		status := rec.Status()
		var handlerError caddyhttp.HandlerError
		if status == 0 && errors.As(err, &handlerError) {
			status = handlerError.StatusCode
		}
		h.note(r, a, j, status)
	}()
	return next.ServeHTTP(rec, r)
}
