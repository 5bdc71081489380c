package enforce

import (
	"context"
	"strings"
	"sync/atomic"
	"time"

	"github.com/caddy-robots/caddy-robots/crawler"
	"github.com/caddy-robots/caddy-robots/internal/ratelimit"
	"github.com/caddy-robots/caddy-robots/robotsrules"
)

// Engine decides about requests. Its fields are set before the first decision and do not change
// after it; then it is safe for concurrent use.
type Engine struct {
	Options
	Policies Policies
	Origins  Origins // nil: Request.Origin is filled by who fills the request
	Prover   Prover  // nil: no claim is checked
	Limiter  ratelimit.Limiter
	Bans     *ratelimit.Bans // those in force on this node
	Traps    *Traps          // who was caught; needed where Options.Trap is set
	Queue    Queue           // nil: no request is held
	Readers  Readers         // needed where Options.Grace is set

	Observing *atomic.Bool // while it is true, Options.Observe is on; nil: it never is

	disguised disguised // robots by treat_as_robot
}

// Prover checks whether clients are who they say.
type Prover interface {
	// Prove checks what a robot claims: its name against its address and its signature or, where it
	// claims no name that can be checked so, its signature.
	Prove(ctx context.Context, r Request, who *crawler.Identity) Proof

	// Signer checks the signature of a request, if it has one.
	Signer(ctx context.Context, r Request) Proof
}

// Origins knows where requests come from. To find out takes a look at all headers, so that it is
// asked only when that matters.
type Origins interface {
	Locate(ctx context.Context, peer string, header map[string][]string) Origin
}

// Locate finds out where the request came from.
func (e *Engine) Locate(ctx context.Context, r *Request) {
	if !r.located && e.Origins != nil {
		r.Origin = e.Origins.Locate(ctx, r.Peer, r.Header)
	}
	r.located = true
}

// client returns whom traps, bans and budgets of clients without a name go by.
func (e *Engine) client(ctx context.Context, r *Request) Client {
	e.Locate(ctx, r)
	return r.Client(e.ClientPrefix)
}

// Readers knows who has read which robots.txt.
type Readers interface {
	// Fetched returns when a robot last read robots.txt, and the version that it read.
	Fetched(host, robot, class, standing string) (at time.Time, version string)
}

// Decide decides about the request r of a client that is, by its User-Agent, who. A request for the
// rules is always allowed.
func (e *Engine) Decide(ctx context.Context, r *Request, who *crawler.Identity) (v Verdict) {
	who = ByCircumstance(r, who)
	v.Who, v.Host, v.At, v.Counted = who, r.Host, r.At, r.Counted
	if e.LooksTwice() && who.Class != crawler.Robot {
		e.lookAgain(ctx, r, &v)
	}
	if !r.IsForRules() && e.CanBind(v.Who.Class) && !v.TooEarly {
		e.judge(ctx, r, &v)
	}
	return v
}

// LooksTwice reports whether a client that does not call itself a robot may be found to be one.
func (e *Engine) LooksTwice() bool {
	return len(e.Trap) > 0 || len(e.TreatAsRobot) > 0 || e.Signatures
}

// lookAgain finds robots that do not say so: one whose User-Agent the owner knows, one that
// signs, or one that was caught in a trap.
func (e *Engine) lookAgain(ctx context.Context, r *Request, v *Verdict) {
	if e.isDisguised(r) {
		v.Who = e.disguised.identify(r.UserAgent)
		return
	}
	if e.Signatures {
		if p := e.Prover.Signer(ctx, *r); p.IsVerified() {
			v.Who, v.Proof = RobotCalled(p.Claimed), p
			return
		}
	}
	if len(e.Trap) > 0 {
		if v.Capture = e.capture(ctx, r, v); v.Capture != nil {
			v.Who = trappedRobot
		}
	}
}

// RobotCalled is the robot with this token and no other: the client whose request a signer with
// that token has signed, whatever it calls itself. A signature never vouches for another's name.
func RobotCalled(token string) *crawler.Identity {
	return &crawler.Identity{Class: crawler.Robot, Name: token, Key: strings.ToLower(token), Text: token, Products: []string{token}}
}

// asRobot is a client that is no service, whatever it says: it claims to be one that it is not.
func asRobot(who *crawler.Identity) *crawler.Identity {
	if who.Class == crawler.Robot {
		return who
	}
	robot := *who
	robot.Class = crawler.Robot
	return &robot
}

// CanBind reports whether any record of any robots.txt could bind a client of this class.
func (e *Engine) CanBind(c crawler.Class) bool {
	return c == crawler.Robot || c == crawler.App || c == crawler.Service || e.Unnamed.Binds(c)
}

// policyFor returns the policy of the host that is asked for; waits says whether a first load is
// waited for.
func (e *Engine) policyFor(ctx context.Context, r *Request, waits bool) *Policy {
	policy, tell := e.Policies.ForHost(ctx, r.Host, Asker{At: r.At, Waits: waits})
	if tell {
		e.Locate(ctx, r)
		e.Policies.Asked(r.Host, r.Evidence(), r.At)
	}
	return policy
}

// waits reports whether clients of a class wait for a first load: apps, libraries, services and
// people are not to be held up.
func waits(c crawler.Class) bool { return c == crawler.Robot || c == crawler.Unstated }

// judge asks who the client really is, what it was told, and whether it keeps the pace.
func (e *Engine) judge(ctx context.Context, r *Request, v *Verdict) {
	v.Observed = e.Observe || e.Observing != nil && e.Observing.Load() // once, as it may change meanwhile
	policy := e.policyFor(ctx, r, waits(v.Who.Class))
	v.Version = policy.Version
	canClaim := v.Who.Class == crawler.Robot || v.Who.Class == crawler.Service
	if e.Prover != nil && canClaim && v.Proof.Claimed == "" && v.Capture == nil {
		e.Locate(ctx, r)
		v.Proof = e.Prover.Prove(ctx, *r, v.Who)
		switch {
		case v.Proof.Signed && v.Proof.IsVerified():
			v.Who = RobotCalled(v.Proof.Claimed)
		case v.Proof.IsImpostor():
			v.Who = asRobot(v.Who)
		}
	}
	if r.EarlyData && e.hangsOnAddress(ctx, r, policy, v) {
		v.TooEarly = true
		return
	}
	lies := v.Proof.Standing == Impostor && e.Impostors != ImpostorsUnnamed && !e.isExempt(ctx, r)
	if lies && e.Impostors == ImpostorsRefuse {
		if !e.isBanned(ctx, r, v) {
			v.against(Forged, Refuse)
			e.countOffence(ctx, r, v)
		}
		return
	}
	e.decideByRules(ctx, r, policy, v)
	if lies && v.Kind == Allowed {
		v.against(Forged, Observe)
	}
}

// decideByRules judges by what the site's robots.txt told the client.
func (e *Engine) decideByRules(ctx context.Context, r *Request, policy *Policy, v *Verdict) {
	binding := e.Binding(policy.Rules, v)
	unnamed := e.Unnamed.Binds(v.Who.Class)
	if binding == nil && (v.Capture != nil || !(unnamed && (policy.Denied != "" || e.DefaultPace.Documents > 0))) {
		return
	}
	if e.isExempt(ctx, r) || !e.Exempt.isNone() && e.Exempt.covers(v) {
		v.Kind = Exempt
		return
	}
	binding = e.stricter(policy.Rules, binding, r, v)
	v.Decision.Binding = binding
	if e.isBanned(ctx, r, v) {
		return
	}
	var previous *grace
	if e.Grace != 0 {
		previous = e.inGrace(r, policy, v)
	}
	if e.allows(policy.Rules, binding, r, v) || previous != nil && e.allowedBefore(previous, r, v) {
		e.pace(ctx, r, previous, v)
	} else {
		e.disallow(ctx, r, previous, v)
	}
}

// Binding returns the record of rules that binds the client, nil if none does. A browser is
// never looked for among the names: no token of any robots.txt may catch a person. A service,
// an app or a library is bound by a record that names just it. An impostor is a robot that no record names.
func (e *Engine) Binding(rules *Rules, v *Verdict) *robotsrules.Binding {
	var named *robotsrules.Binding
	switch who := v.Who; who.Class {
	case crawler.Robot:
		if v.Proof.Standing != Impostor || e.Impostors != ImpostorsUnnamed {
			named = rules.Find(who)
		}
	case crawler.App, crawler.Service:
		named = rules.Compiled.FindProgram(robotOf(who), who.Handset)
	}
	if named == nil && e.Unnamed.Binds(v.Who.Class) {
		return rules.Compiled.Default()
	}
	return named
}

// allows reports whether the rules, with the record that binds the client, allow what it asked
// for, whatever the pace, and notes what decided against it.
func (e *Engine) allows(rules *Rules, binding *robotsrules.Binding, r *Request, v *Verdict) bool {
	if rules.Denied != "" && v.Capture == nil && e.Unnamed.Binds(v.Who.Class) {
		v.Denied = rules.Denied
		return false
	}
	v.Decision = decide(binding, r)
	if rule := v.Decision.Rule; rule != nil && !v.Decision.Allowed() {
		v.Line, v.Rule = rule.Line, rule.Text
	}
	return v.Decision.Allowed()
}

// decide judges what was asked for in every way a server may read it: it is disallowed if one
// is, unless an Allow spells it as it was asked for.
func decide(binding *robotsrules.Binding, r *Request) robotsrules.Decision {
	target := r.Target
	if r.Path == RobotsTxt && !r.fetches() {
		target += "?" // what takes a POST there is an application, and not the robots.txt that rules always allow
	}
	decision := binding.Decide(target)
	if !decision.Allowed() {
		return decision
	}
	others := r.OtherTargets()
	if len(others) > 0 && r.IsSpelledBy(decision.Rule) {
		return decision
	}
	for _, target := range others {
		if other := binding.Decide(target); !other.Allowed() {
			return other
		}
	}
	return decision
}

// disallow does about a disallowed request what the site does about them.
func (e *Engine) disallow(ctx context.Context, r *Request, previous *grace, v *Verdict) {
	do := e.Disallowed
	v.against(Disallowed, do)
	switch {
	case do == Refuse:
		e.countOffence(ctx, r, v)
	case !v.Observed:
		// It is only noted that it is disallowed: what is served has to keep the pace.
		noted := *v
		v.Kind = Allowed
		e.pace(ctx, r, previous, v)
		if v.Kind == Allowed || !v.Refused {
			noted.Counted, noted.NewBan = v.Counted, v.NewBan
			*v = noted
		}
	}
}

// ByRules says what rules tell the client about what it asks for, whatever its pace and whether
// it is who it says: what a robot that reads robots.txt can know. Of a request that is allowed
// it also names the line that allows it.
func (e *Engine) ByRules(rules *Rules, r *Request, who *crawler.Identity) (v Verdict) {
	who = ByCircumstance(r, who)
	v.Who = who
	if !e.CanBind(who.Class) {
		return v
	}
	binding := e.Binding(rules, &v)
	if r.IsForRules() {
		v.Decision = binding.Decide(RobotsTxt)
		return v
	}
	if !e.allows(rules, binding, r, &v) {
		v.Kind = Disallowed
	}
	if rule := v.Decision.Rule; rule != nil {
		v.Line, v.Rule = rule.Line, rule.Text
	}
	return v
}
