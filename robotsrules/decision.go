package robotsrules

import (
	"slices"
	"strconv"
	"strings"
	"sync"
	"unsafe"
)

// Binding is the record, or the records read as one, that bind a robot. It is
// immutable and safe for concurrent use. A nil Binding allows everything.
type Binding struct {
	token  *Token // the first of its name
	record *record
}

// Token returns the token as written, "*" for the default record and "" for nil.
func (b *Binding) Token() string {
	if b == nil {
		return ""
	}
	return b.token.Value
}

// Line returns the number of the User-agent line with the token, the first one
// when records are read as one, and 0 for nil.
func (b *Binding) Line() int {
	if b == nil {
		return 0
	}
	return b.token.Line
}

// Groups returns the records in file order. The caller must not change them.
func (b *Binding) Groups() []*Group {
	if b == nil {
		return nil
	}
	return b.record.groups()
}

// Pace returns how fast the robot may come, nil when the record does not say.
func (b *Binding) Pace() *Pace {
	if b == nil {
		return nil
	}
	return b.record.besides().pace
}

// Comments returns the values of the record's Comment lines, in file order.
func (b *Binding) Comments() []string {
	var comments []string
	for _, g := range b.Groups() {
		for _, c := range g.Comments() {
			comments = append(comments, c.Value)
		}
	}
	return comments
}

// tokenIn returns the binding's token as g writes it, and its line.
func (b *Binding) tokenIn(g *Group) (string, int) {
	for _, t := range g.Tokens {
		if len(t.Value) == len(b.token.Value) && fold(t.Value) == fold(b.token.Value) {
			return t.Value, t.Line
		}
	}
	return b.token.Value, b.token.Line
}

// Verdict is what a record says about a target. The zero value is Allowed.
type Verdict uint8

// The verdicts.
const (
	Allowed Verdict = iota
	Disallowed
)

// String returns "allowed" or "disallowed".
func (v Verdict) String() string {
	if v == Disallowed {
		return "disallowed"
	}
	return "allowed"
}

// Decision is a verdict with its reason. The zero value allows, as no record
// binds the robot.
type Decision struct {
	Verdict Verdict
	// Binding is the record that binds the robot, nil when none does.
	Binding *Binding
	// Rule is the line that decided, nil when none did.
	Rule *Rule

	robotsTxt bool // the target is /robots.txt
}

// Decide reports whether the robot may fetch target: path and query as they were on
// the request line. The method does not matter (the 1996 draft, section 3.2.2).
// A missing path is /, and a fragment is cut off. /robots.txt, without a query, is always
// allowed.
// It does not allocate, and the time it takes does not grow with the number of
// rules without stars.
func (b *Binding) Decide(target string) Decision {
	if hash := strings.IndexByte(target, '#'); hash >= 0 {
		target = target[:hash]
	}
	if isRobotsTxt(target) {
		return Decision{Binding: b, robotsTxt: true}
	}
	if b == nil {
		return Decision{}
	}
	rooted := target != "" && target[0] == '/'
	if rooted && (b.record.reading == readNoRobots1994 || isCanonical(target)) {
		return b.decide(target)
	}
	return b.decideRewritten(target)
}

// decide takes a target in the form that the record's reading compares.
func (b *Binding) decide(target string) Decision {
	d := Decision{Binding: b, Rule: b.record.find(target)}
	switch {
	case d.Rule == nil && b.record.strict:
		d.Verdict = Disallowed
	case d.Rule != nil && d.Rule.Kind == Disallow && d.Rule != b.record.besides().everything:
		d.Verdict = Disallowed
	}
	return d
}

// Matches reports whether the rule, one of the record's, would decide about target if the
// record had no other: whether its pattern matches as the file's dialect and the record's
// Robot-version read it. Target is as Decide has it. A Noindex line never decides, and no
// rule does about /robots.txt. In the 1994 standard an empty Disallow matches everything.
func (b *Binding) Matches(r *Rule, target string) bool {
	if hash := strings.IndexByte(target, '#'); hash >= 0 {
		target = target[:hash]
	}
	if b == nil || r == nil || r.Kind == Noindex || isRobotsTxt(target) {
		return false
	}
	reading := b.record.reading
	if isOpenToAll(r, reading) {
		return true
	}
	if !counts(r, reading) {
		return false
	}
	p := compilePattern(r.Pattern(), reading)
	return p.Matches(string(b.rewrite(nil, target)))
}

// rewriteBuffers keep what is too long for the stack.
var rewriteBuffers = sync.Pool{New: func() any { return new([]byte) }}

// decideRewritten decides about a target that is not in the right form yet. It
// is a function of its own so that Decide needs no room for the rewritten text.
func (b *Binding) decideRewritten(target string) Decision {
	var buf [1024]byte
	text, long := b.rewritten(buf[:], target)
	d := b.decide(text)
	keepBuffer(long)
	return d
}

// rewritten returns target in the form that is compared: in buf if it has room for it, else
// in a buffer that keepBuffer takes when the text is no longer needed.
func (b *Binding) rewritten(buf []byte, target string) (text string, long *[]byte) {
	if most := 1 + maxGrowth*len(target); most <= len(buf) {
		return view(b.rewrite(buf[:0], target)), nil
	}
	long = rewriteBuffers.Get().(*[]byte)
	*long = b.rewrite((*long)[:0], target)
	return view(*long), long
}

// maxKeptBuffer is how large a buffer may be that waits for its next use.
const maxKeptBuffer = 64 << 10

func keepBuffer(long *[]byte) {
	if long != nil && cap(*long) <= maxKeptBuffer {
		rewriteBuffers.Put(long)
	}
}

// rewrite appends target in the form that is compared: with a path, and in
// canonical text but in the dialect of 1994, which compares what is written.
func (b *Binding) rewrite(dst []byte, target string) []byte {
	if target == "" || target[0] != '/' {
		dst = append(dst, '/')
	}
	if b.record.reading == readNoRobots1994 {
		return append(dst, target...)
	}
	return appendCanonical(dst, target)
}

// view returns b as a string without a copy: a target that has to be rewritten then costs no
// allocation, and a quarter less time. Nothing may change b while the string is used, or keep the
// string if b is used again; a Decision holds no part of its target.
func view(b []byte) string {
	return unsafe.String(unsafe.SliceData(b), len(b))
}

// Allowed reports whether the verdict is Allowed.
func (d Decision) Allowed() bool { return d.Verdict == Allowed }

// String returns the decision and its reason as one sentence, such as
// `disallowed by line 12 "Disallow: /private/" in the record for "GPTBot" (line 10)`.
func (d Decision) String() string {
	switch {
	case d.robotsTxt:
		return "allowed: /robots.txt is always allowed"
	case d.Binding == nil:
		return d.Verdict.String() + ": no record binds this robot"
	case d.Rule != nil:
		return d.Verdict.String() + " by line " + strconv.Itoa(d.Rule.Line) + " " +
			strconv.Quote(d.Rule.Text) + " in " + d.Binding.name(d.Rule)
	case d.Verdict == Disallowed:
		return "disallowed: no Allow line of " + d.Binding.name(nil) +
			" matches, and Robot-version 2.0.0 allows only what they name"
	}
	return "allowed: no line of " + d.Binding.name(nil) + " matches"
}

// name returns what to call the record, with the User-agent line of the group in
// which rule stands.
func (b *Binding) name(rule *Rule) string {
	token, line := b.token.Value, b.token.Line
	for _, g := range b.record.groups() {
		if rule != nil && slices.Contains(g.Rules, rule) {
			token, line = b.tokenIn(g)
		}
	}
	return "the record for " + strconv.Quote(token) + " (line " + strconv.Itoa(line) + ")"
}
