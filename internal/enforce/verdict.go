package enforce

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
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
	Kind     Kind
	Refused  bool // the request is not to be served
	Observed bool // nothing is refused: the site, or who runs the server, only observes

	TooEarly bool // early data, and the verdict hangs on the address: it is to be sent again (425)

	Who        *crawler.Identity
	Proof      Proof
	Decision   robotsrules.Decision // the record that binds, and the rule, where one decided
	Denied     string               // why everything is disallowed, where no line of the file says it
	Line       int                  // of the line that decided; 0: none did
	Rule       string               // that line, as written; for a pace that no line states, the option that does
	RetryAfter time.Duration        // until a request would pass; for TooFast, OffHours and Banned
	Throttle   string               // for TooFast: the rate at which a disallowed page is served
	Shared     bool                 // for TooFast: by the budget that all unknown names of its network share
	Until      time.Time            // for Banned: when the ban ends

	At      time.Time // when the request came
	Host    string    // that was asked
	Version string    // of the robots.txt that was in force; "" where none was looked at
	Counted bool      // the request was counted against a pace, now or before

	NewBan  *ratelimit.Ban // that this request has brought about
	Capture *Capture       // why a client that was caught in a trap counts as a robot; nil for all others
	Caught  bool           // by this very request
}

// Proof is what is known of a client's claim. The zero value is that of a client that claims
// nothing which can be checked.
type Proof struct {
	Claimed  string // the token; "" for nothing
	Signed   bool   // by a signature
	Standing Standing
	Doubted  bool   // it is not shown either way, and speaks against the client: it has no more than a robot without a name
	Reason   string // why a claim is not verified
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
func (v *Verdict) against(kind Kind, do Action) {
	v.Kind = kind
	v.Refused = (do == Refuse || do == Wait) && !v.Observed
}

// Name names the client for a person.
func (v *Verdict) Name() string {
	if v.Who.Name != "" {
		return v.Who.Name
	}
	if v.Capture != nil {
		return "a client caught in a trap"
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
// names it, or the site says so: it may be a person's, or do what a person asked for.
func MayBeAPerson(c crawler.Class) bool {
	return c == crawler.App || c == crawler.Browser || c == crawler.Service
}

// IsNoted reports whether the request belongs into the ledger: a service, an app or a browser that nothing
// binds is no robot.
func (v *Verdict) IsNoted() bool {
	return v.Decision.Binding != nil || v.Kind != Allowed || !MayBeAPerson(v.Who.Class)
}

// Event returns what the ledger notes of every request: who came, and what was decided. What was asked for is
// for the caller to add and, where the request was against the rules, the line that it broke.
func (v *Verdict) Event() compliance.Event {
	class := v.Who.Class.String()
	if v.Capture != nil {
		class = compliance.Trapped
	}
	e := compliance.Event{
		Time: v.At, Site: v.Host, Robot: v.Who.Name, Class: class, Standing: v.Proof.Word(),
		Verdict: v.Kind, Refused: v.Refused, Version: v.Version, Record: v.Decision.Binding.Token(),
	}
	if rule := v.Decision.Rule; rule != nil {
		e.Line, e.Rule = rule.Line, rule.Text
	}
	return e
}

// KnownRobot returns what the catalogue knows of the robots of a name, which anybody can claim.
func KnownRobot(name string) compliance.Known {
	c, _ := crawler.Named(name)
	return compliance.Known{Operator: c.Operator, Purpose: string(c.Purpose), ReadsNoDelay: c.CrawlDelay == crawler.No}
}

// Explain appends the text of a refusal that is sent now, for the person behind the robot.
func (v *Verdict) Explain(dst []byte, now time.Time) []byte {
	b := page(dst)
	robot := v.Name()
	switch v.Kind {
	case Disallowed:
		b.write("The robots.txt of this site does not allow ", robot, " to fetch this page.\n\n")
	case TooFast:
		b.write(robot, " comes faster than the robots.txt of this site allows.\n\n")
	case Forged:
		b.write(robot, " is not who it says it is.\n\n")
	case Banned:
		b.write(robot, " disobeyed the robots.txt of this site again and again, and is refused for a time.\n\n")
	case OffHours:
		b.write("The robots.txt of this site asks ", robot, " to come at other hours.\n\n")
	}
	b.line("Taken for:", robot, " (", v.Who.Class.String(), ")")
	if v.Proof.Reason != "" {
		b.line("Which:", v.Proof.Reason)
	}
	if c := v.Capture; c != nil {
		b.line("Which:", "fetched ", strconv.Quote(c.Path), ", where no link leads people, from this address with this User-Agent on ",
			c.At.UTC().Format(httpTime), "; it counts as a robot until ", c.Until.UTC().Format(httpTime))
	}
	if v.Denied != "" {
		b.line("Because:", v.Denied)
	}
	if binding := v.Decision.Binding; binding != nil {
		b.label("Record:")
		b.write("User-agent: ", binding.Token(), " (line ")
		b.number(int64(binding.Line()))
		b.write(")\n")
	}
	switch {
	case v.Line > 0:
		from := len(b)
		b.write("Line ")
		b.number(int64(v.Line))
		b.write(":")
		b.align(from)
		b.write(v.Rule, "\n")
	case v.Rule != "":
		b.line("Because:", v.Rule)
	case v.Denied == "" && v.Kind != Forged:
		b.line("Because:", v.Decision.String())
	}
	if v.Throttle != "" {
		b.line("Pace:", v.Throttle)
	}
	if v.Shared {
		b.line("Budget:", "shared by all names from your network that neither robots.txt nor the list of known crawlers has")
	}
	if v.RetryAfter > 0 {
		at := now.Add(time.Duration(v.RetrySeconds()) * time.Second)
		b.label("Come back:")
		b.write("in ")
		b.number(v.RetrySeconds())
		b.write(" seconds, at ")
		b = append(at.UTC().AppendFormat(b, httpTime), '\n')
	}
	for _, comment := range v.Decision.Binding.Comments() {
		b.line("Comment:", comment)
	}
	b.line("Rules:", RobotsTxt)
	return b
}

// httpTime is how HTTP writes a time in GMT (RFC 9110, section 5.6.7).
const httpTime = "Mon, 02 Jan 2006 15:04:05 GMT"

// page is a text in the making.
type page []byte

func (b *page) write(parts ...string) {
	text := *b
	for _, part := range parts {
		text = append(text, part...)
	}
	*b = text
}

func (b *page) number(n int64) { *b = strconv.AppendInt(*b, n, 10) }

// line writes a label and its text, aligned.
func (b *page) line(label string, parts ...string) {
	b.label(label)
	b.write(parts...)
	*b = append(*b, '\n')
}

// label writes a label, aligned.
func (b *page) label(name string) {
	from := len(*b)
	b.write(name)
	b.align(from)
}

// align fills up the label that begins at from.
func (b *page) align(from int) {
	const column = "            "
	*b = append(*b, column[min(len(*b)-from, len(column)-1):]...)
}
