package caddymodule

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-robots/caddy-robots/crawler"
	"github.com/caddy-robots/caddy-robots/internal/compliance"
	"github.com/caddy-robots/caddy-robots/internal/enforce"
	"github.com/caddy-robots/caddy-robots/robotsrules"
)

// Verdict is what a request was judged to be: the words of the report, the log and the
// placeholders are the same. The zero value is allowed.
type Verdict = compliance.Verdict

// The verdicts.
const (
	Allowed    = compliance.Allowed
	Disallowed = compliance.Disallowed
	TooFast    = compliance.TooFast
	OffHours   = compliance.OffHours
	Exempt     = compliance.Exempt
	Impostor   = compliance.Impostor
	Banned     = compliance.Banned
)

// judgement is the outcome for one request, with what it takes to explain it. The zero
// value lets the request pass.
type judgement struct {
	verdict    Verdict
	who        *crawler.Identity
	vars       variables // of the request
	proof      proof
	decision   robotsrules.Decision // the record that binds, and the rule, where one decided
	denied     string               // why everything is disallowed, where no line of the file says it
	line       int                  // of the line that decided; 0: none did
	rule       string               // that line, as written; for a pace that no line states, the option that does
	retryAfter time.Duration        // until a request would pass; for too_fast, off_hours and banned
	throttle   string               // for too_fast: the rate at which a disallowed page is served
	until      time.Time            // for banned: when the ban ends
	refused    bool                 // the request is not to be served
	at         time.Time            // when it was judged
	site       string               // the host that was asked, as it came: handlers behind may change it
	version    string               // of the robots.txt that was in force
	before     *before              // what held before the rules changed, while the client may go by it
}

// newJudgement returns the judgement of a request that was not looked at yet.
func newJudgement(r *http.Request, a *asked, who *crawler.Identity) judgement {
	return judgement{who: who, vars: variablesOf(r), site: a.host}
}

// ServeHTTP passes people on, which is most of what it does, and has the others judged.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler) error {
	h.loader.meet(r)
	sent := userAgent(r)
	who := h.shared.crawlers.Identify(sent)
	if who.Class == crawler.Browser && !h.settings.browsersToo {
		return next.ServeHTTP(w, r)
	}
	return h.serveRobot(w, r, next, sent, who)
}

// serveRobot judges a client that may be bound, and passes it on or refuses it.
func (h *Handler) serveRobot(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler, sent string, who *crawler.Identity) error {
	if sent == fetcherName && h.isOwn(r) {
		return next.ServeHTTP(w, r)
	}
	a := askedFor(r)
	j := newJudgement(r, &a, who)
	h.consider(r, &a, sent, &j)
	said := h.announcer(w, r, &a, &j)
	if said == nil {
		return h.answer(w, r, next, &a, &j)
	}
	err := h.answer(said, r, next, &a, &j)
	said.settle() // for who answers an error, and for an answer that is empty
	return err
}

// answer passes the request on or refuses it, and notes which.
func (h *Handler) answer(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler, a *asked, j *judgement) error {
	switch {
	case a.path == robotsPath:
		defer h.reading(r, a, j)()
		if h.settings.serve && h.serveRules(w, r, a.host) {
			return nil
		}
		return next.ServeHTTP(w, r)
	case j.verdict == Allowed:
		return h.serveAllowed(w, r, next, a, j)
	}
	h.tell(r, a, j)
	if !j.refused {
		return h.serveObserved(w, r, next, a, j)
	}
	if j.vars.claim() {
		h.arrives(j)
		h.note(r, a, j, j.status())
	}
	j.vars.leave()
	return h.refuse(w, r, j)
}

// consider judges a request: at a second look where need be, and never for /robots.txt.
func (h *Handler) consider(r *http.Request, a *asked, sent string, j *judgement) {
	if h.settings.secondLook && j.who.Class != crawler.Robot {
		j.who, j.proof = h.lookAgain(r, a, sent, j.who)
	}
	if a.path != robotsPath && h.bindable(j.who) {
		h.judge(r, a, j)
	}
}

// lookAgain returns who a client is that does not call itself a robot: one whose User-Agent
// the owner knows for a robot's, one that was caught in a trap, or one that signs.
func (h *Handler) lookAgain(r *http.Request, a *asked, sent string, who *crawler.Identity) (*crawler.Identity, proof) {
	if slices.ContainsFunc(h.TreatAsRobot, func(text string) bool { return containsFold(sent, text) }) {
		if known, ok := h.robots.get(sent); ok {
			return known, proof{}
		}
		return h.robots.add(strings.Clone(sent), func() *crawler.Identity {
			robot := crawler.AsRobot(sent)
			return &robot
		}), proof{}
	}
	if s := h.prover.signed(r, a); s.status == enforce.Verified {
		return signedRobot(s.host, who), proof{claimed: s.host, status: s.status}
	}
	if len(h.Trap) > 0 && h.caught(r, a, sent) {
		return trappedRobot, proof{}
	}
	return who, proof{}
}

// bindable tells whether any record of any robots.txt could bind the client.
func (h *Handler) bindable(who *crawler.Identity) bool {
	return who.Class == crawler.Robot || who.Class == crawler.App || h.settings.unnamed.binds(who.Class)
}

// isOwn tells whether r is a request that this module makes itself, through the server or
// over HTTP. It is never judged: a robots.txt that stands behind a redirect would wait for
// itself. Nor does it stand in the access log, which is about visitors.
func (h *Handler) isOwn(r *http.Request) bool {
	own, _ := r.Context().Value(ownFetchKey{}).(bool)
	if !own && !h.shared.isMark(r.Header.Get(markHeader)) {
		return false
	}
	caddyhttp.SetVar(r.Context(), caddyhttp.LogSkipVar, true)
	return true
}

// judge asks who the client really is, what it was told, and whether it keeps the pace.
func (h *Handler) judge(r *http.Request, a *asked, j *judgement) {
	rules := h.loader.inForce(r, a.host)
	j.version = rules.version
	if h.prover != nil && j.who.Class == crawler.Robot && j.proof.claimed == "" && j.who != trappedRobot {
		j.who, j.proof = h.prover.prove(r, a, j.who)
	}
	h.countProof(j)
	j.proof.remember(j.vars.all)
	lies := j.proof.status == enforce.Impostor && h.settings.impostors != impostorsUnnamed && !h.exempt.covers(r)
	if lies && h.settings.impostors == impostorsRefuse {
		if !h.banned(r, j) {
			h.against(j, Impostor, refuse)
			h.offend(r, j)
		}
		return
	}
	h.told(r, a, rules, j)
	if lies && j.verdict == Allowed {
		h.against(j, Impostor, observe)
	}
}

// told judges by what the site's robots.txt told the client.
func (h *Handler) told(r *http.Request, a *asked, rules *edition, j *judgement) {
	binding := h.binding(rules.ruleset, j)
	unnamed := h.settings.unnamed.binds(j.who.Class)
	denied := rules.denied != "" && unnamed
	paced := h.settings.defaultPace.Documents > 0 && unnamed
	if binding == nil && !denied && !paced {
		return
	}
	if h.exempt.covers(r) {
		j.verdict = Exempt
		return
	}
	j.decision.Binding = binding
	if h.banned(r, j) {
		return
	}
	j.before = h.inGrace(r, rules, j)
	if h.allows(rules.ruleset, binding, a, j) || h.allowedBefore(a, j) {
		h.pace(r, j)
	} else {
		h.disallow(r, j)
	}
}

// allows tells what the rules, with the record that binds the client, say of what was asked
// for, whatever the pace, and notes what decided against it.
func (h *Handler) allows(rules *ruleset, binding *robotsrules.Binding, a *asked, j *judgement) bool {
	if rules.denied != "" && h.settings.unnamed.binds(j.who.Class) {
		j.denied = rules.denied
		return false
	}
	j.decision = decide(binding, a)
	if rule := j.decision.Rule; rule != nil && !j.decision.Allowed() {
		j.line, j.rule = rule.Line, rule.Text
	}
	return j.decision.Allowed()
}

// disallow does about a disallowed request what the site does about them.
func (h *Handler) disallow(r *http.Request, j *judgement) {
	do := h.settings.disallowed
	h.against(j, Disallowed, do)
	switch {
	case do == refuse:
		h.offend(r, j)
	case !h.settings.observe:
		// It is only noted that it is disallowed: what is served has to keep the pace.
		noted := *j
		j.verdict = Allowed
		h.pace(r, j)
		if j.verdict == Allowed || !j.refused {
			*j = noted
		}
	}
}

// binding returns the record that binds the client, nil if none does. A browser is never
// looked for among the names: no token of any robots.txt may catch a person. An app or
// library is bound by a record that names just it.
//
// Nor is an impostor: it is a robot that no record names.
func (h *Handler) binding(rules *ruleset, j *judgement) *robotsrules.Binding {
	var named *robotsrules.Binding
	switch who := j.who; who.Class {
	case crawler.Robot:
		if j.proof.status != enforce.Impostor || h.settings.impostors != impostorsUnnamed {
			named = rules.find(who)
		}
	case crawler.App:
		if len(who.Products) > 0 {
			named = rules.policy.Named(who.Products[0])
		}
	}
	if named == nil && h.settings.unnamed.binds(j.who.Class) {
		return rules.policy.Default()
	}
	return named
}

// decide judges what was asked for in all of its readings: it is disallowed if one is.
func decide(binding *robotsrules.Binding, a *asked) robotsrules.Decision {
	decision := binding.Decide(a.target)
	if !decision.Allowed() {
		return decision
	}
	for _, target := range a.otherReadings() {
		if other := binding.Decide(target); !other.Allowed() {
			return other
		}
	}
	return decision
}

// against notes the verdict and what is done about it.
func (h *Handler) against(j *judgement, v Verdict, do action) {
	j.verdict = v
	j.refused = (do == refuse || do == wait) && !h.settings.observe
}
