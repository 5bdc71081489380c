package enforce

import (
	"cmp"
	"fmt"
	"math"
	"time"

	"github.com/caddy-robots/caddy-robots/crawler"
	"github.com/caddy-robots/caddy-robots/internal/compliance"
	"github.com/caddy-robots/caddy-robots/internal/ratelimit"
	"github.com/caddy-robots/caddy-robots/robotsrules"
)

// Kind is what a request was judged to be: the words of the report, the log and the
// placeholders are the same. The zero value is Allowed.
type Kind = compliance.Verdict

// The kinds of verdict.
const (
	Allowed    = compliance.Allowed
	Disallowed = compliance.Disallowed
	TooFast    = compliance.TooFast
	OffHours   = compliance.OffHours
	Exempt     = compliance.Exempt
	Banned     = compliance.Banned
	Forged     = compliance.Impostor // an impostor; Impostor is its standing
)

// Verdict is what was decided about one request, and why. The zero value lets the request pass.
type Verdict struct {
	Kind    Kind
	Refused bool // the request is not to be served

	Who        *crawler.Identity
	Proof      Proof
	Decision   robotsrules.Decision // the record that binds, and the rule, where one decided
	Denied     string               // why everything is disallowed, where no line of the file says it
	Line       int                  // of the line that decided; 0: none did
	Rule       string               // that line, as written; for a pace that no line states, the option that does
	RetryAfter time.Duration        // until a request would pass; for TooFast, OffHours and Banned
	Throttle   string               // for TooFast: the rate at which a disallowed page is served
	Until      time.Time            // for Banned: when the ban ends

	At      time.Time // when the request came
	Host    string    // that was asked
	Version string    // of the robots.txt that was in force; "" where none was looked at
	Counted bool      // the request was counted against a pace, now or before

	NewBan  *ratelimit.Ban // that this request has brought about
	Trapped *Capture       // of a client that this request has caught
}

// Proof is what is known of a client's claim. The zero value is that of a client that claims
// nothing which can be checked.
type Proof struct {
	Claimed  string // the token, or the host that signs; "" for nothing
	Signed   bool   // Claimed is the host that signs
	Standing Standing
	Reason   string // why a claim is false
}

// Word returns the standing as a word that keeps claimants of one name apart; "" for a client
// that claims nothing.
func (p *Proof) Word() string {
	if p.Claimed == "" {
		return ""
	}
	return p.Standing.String()
}

// IsVerified reports whether the client has proved what it claims.
func (p *Proof) IsVerified() bool { return p.Claimed != "" && p.Standing == Verified }

// IsImpostor reports whether the client claims what is false.
func (p *Proof) IsImpostor() bool { return p.Claimed != "" && p.Standing == Impostor }

// against notes a verdict and what is done about it.
func (v *Verdict) against(o *Options, kind Kind, do Action) {
	v.Kind = kind
	v.Refused = (do == Refuse || do == Wait) && !o.Observe
}

// Name names the client for a person.
func (v *Verdict) Name() string {
	if v.Who.Name != "" {
		return v.Who.Name
	}
	if v.Who == trappedRobot {
		return "a robot that fetched a page no person is led to"
	}
	return v.Who.Class.String() + " client"
}

// Reason says in one sentence what decided.
func (v *Verdict) Reason() string {
	switch {
	case v.Kind == Banned:
		return fmt.Sprintf("banned until %s: disobeyed again and again, last %s", v.Until.UTC().Format(time.RFC3339), v.lastOffence())
	case v.Kind == Forged:
		return "impostor: " + v.Proof.Reason
	case v.Kind == TooFast && v.Throttle != "":
		return fmt.Sprintf("too fast: %s, and such pages are served at %q", cmp.Or(v.Denied, v.Decision.String()), v.Throttle)
	case v.Denied != "":
		return "disallowed: " + v.Denied
	case v.Kind == TooFast && v.Line == 0:
		return fmt.Sprintf("too fast: %q, as robots.txt states no pace", v.Rule)
	case v.Kind == TooFast:
		return fmt.Sprintf("too fast: line %d %q in the record for %q", v.Line, v.Rule, v.Decision.Binding.Token())
	case v.Kind == OffHours:
		return fmt.Sprintf("off hours: line %d %q in the record for %q", v.Line, v.Rule, v.Decision.Binding.Token())
	default:
		return v.Decision.String()
	}
}

// Cause is the line that decided, as written, or a sentence where no line did.
func (v *Verdict) Cause() string {
	if v.Rule != "" {
		return v.Rule
	}
	return v.Reason()
}

// lastOffence says what a ban goes back to.
func (v *Verdict) lastOffence() string {
	if v.Line > 0 {
		return fmt.Sprintf("line %d %q", v.Line, v.Rule)
	}
	return v.Rule
}

// RetrySeconds is RetryAfter in whole seconds, rounded up: a robot that waits as told must not
// come too early.
func (v *Verdict) RetrySeconds() int64 { return int64(math.Ceil(v.RetryAfter.Seconds())) }

// MayBeAPerson reports whether a client of this class is one that no record binds unless it
// names it, or the site says so.
func MayBeAPerson(c crawler.Class) bool { return c == crawler.App || c == crawler.Browser }

// IsNoted reports whether the request belongs into the ledger: an app or a browser that nothing
// binds is no robot.
func (v *Verdict) IsNoted() bool {
	return v.Decision.Binding != nil || v.Kind != Allowed || !MayBeAPerson(v.Who.Class)
}
