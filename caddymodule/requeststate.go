package caddymodule

import (
	"net/http"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-robots/caddy-robots/internal/enforce"
)

// exchange is one request with what was decided about it. It does not outlive the request.
type exchange struct {
	r       *http.Request
	state   requestState
	request enforce.Request
	verdict enforce.Verdict

	// Caddy itself asks, while it answers another request, as httpInclude of templates does with the
	// headers of the client: it is part of that answer, which has been judged.
	internal bool
}

// requestState is what Caddy keeps of one request for all handlers that it meets. The variables
// are looked up once, since that takes a walk through all contexts. The zero value keeps
// nothing.
type requestState struct {
	vars  map[string]any
	marks marks
	saved marks // value last written to vars
}

// allVariables returns the variables of r as Caddy keeps them.
func allVariables(r *http.Request) map[string]any {
	vars, _ := r.Context().Value(caddyhttp.VarsCtxKey).(map[string]any)
	return vars
}

func stateOf(r *http.Request) requestState {
	vars := allVariables(r)
	m, _ := vars[marksKey].(marks)
	return requestState{vars: vars, marks: m, saved: m}
}

// address returns the client's address as Caddy knows it, trusted_proxies honoured.
func (s *requestState) address() string {
	address, _ := s.vars[caddyhttp.ClientIPVarKey].(string)
	return address
}

// clock is what a handler knows the time by. To ask for the time is dear: a tenth of what a request
// of a robot costs, each time.
type clock struct {
	now   func() time.Time
	since func(at time.Time) time.Duration // how long ago that was; for half of what now costs

	isCaddys bool // Caddy's own notes are by this clock
}

// arrival returns when the request came: as Caddy has noted it or, where it has not, now.
func (c *clock) arrival(s *requestState) time.Time {
	if at, ok := s.vars[startKey].(time.Time); ok && c.isCaddys {
		return at
	}
	return c.now()
}

// startKey is the variable in which Caddy notes when a request came, for its placeholders.
const startKey = "start_time"

// Request variables.
const (
	marksKey     = "robots.marks"
	proofKey     = "robots.proof"     // for the crawler matcher
	foundKey     = "robots.found"     // for it too
	signatureKey = "robots.signature" // a signature with a nonce is good for one look only
)

// marks are what handlers tell one another of a request: one that meets two of them, one for
// the site and one for a part of it, is still one request. They say whether the request was
// counted against a pace, and which handler notes it: the last one that judged it, or the first
// that found something against it. One byte, so that a variable holds it without an allocation.
type marks uint8

const (
	countedMark marks = 1 << 7
	claimed           = countedMark - 1 // the last turn: a handler notes the request, whatever others find
)

// turn returns the last turn that was taken. The zero turn is that of a handler which may not
// note the request.
func (m marks) turn() marks { return m &^ countedMark }

func (s *requestState) setTurn(t marks) { s.marks = s.marks&countedMark | t }

// isCounted reports whether the request was counted against a pace.
func (s *requestState) isCounted() bool { return s.marks&countedMark != 0 }

func (s *requestState) setCounted() { s.marks |= countedMark }

// join takes a turn for a handler that has nothing against the request.
func (s *requestState) join() (turn marks) {
	if s.marks.turn() == claimed || s.vars == nil {
		return 0
	}
	s.setTurn(s.marks.turn() + 1)
	return s.marks.turn()
}

// claim reports whether a handler that has something against the request is to note it: no
// other one has claimed it.
func (s *requestState) claim() bool {
	if s.marks.turn() == claimed {
		return false
	}
	s.setTurn(claimed)
	return true
}

// save lets the handlers behind see the marks. It must be called before the request is passed
// on, and no variable may be set later: a proxy may read them in the background until long
// after it has answered.
func (s *requestState) save() {
	if s.marks != s.saved && s.vars != nil {
		s.vars[marksKey], s.saved = s.marks, s.marks
	}
}

// isLast reports whether no handler has judged the request since, so that the one with this
// turn is to note it.
func (s *requestState) isLast(turn marks) bool {
	m, _ := s.vars[marksKey].(marks)
	return turn != 0 && turn == m.turn()
}

// standingValues are the values of the variable for the matcher. They are made once, so that to
// set one costs no allocation.
var standingValues = [...]any{
	enforce.Unverified: enforce.Unverified, enforce.Verified: enforce.Verified, enforce.Impostor: enforce.Impostor,
}

// setProof lets the crawler matcher, and handlers behind this one, know what was found of a
// claim. It reports whether a handler before this one has.
func (s *requestState) setProof(p *enforce.Proof) (known bool) {
	_, known = provedIn(s.vars)
	if s.vars != nil {
		s.vars[proofKey] = standingValues[p.Standing]
	}
	return known
}

// provedIn returns what a robots directive that the request with these variables has passed
// found.
func provedIn(vars map[string]any) (enforce.Standing, bool) {
	standing, ok := vars[proofKey].(enforce.Standing)
	return standing, ok
}

// What was found of a client besides its claim.
const (
	foundTrapped = "trapped"
	foundBanned  = "banned"
)

// setFound lets the crawler matcher know that the client was trapped or is banned.
func (s *requestState) setFound(v *enforce.Verdict) {
	switch {
	case s.vars == nil:
	case v.Capture != nil:
		s.vars[foundKey] = foundTrapped
	case v.Kind == enforce.Banned:
		s.vars[foundKey] = foundBanned
	}
}

// isFound reports whether a robots directive that the request with these variables has passed found
// this of the client: a standing, or one of the words. Who was not checked is unverified.
func isFound(vars map[string]any, what any) bool {
	if standing, ok := what.(enforce.Standing); ok {
		found, _ := provedIn(vars)
		return found == standing
	}
	return vars[foundKey] == what
}
