package redis

import (
	"strconv"
	"sync"
	"time"

	"github.com/caddy-robots/caddy-robots/internal/ratelimit"
)

// call is one decision under way: the time that it may take, as a context, and
// what the script is told. Calls are used again, and their arguments point to
// where the values stand, so that a decision allocates little.
type call struct {
	limited
	text []byte // scratch

	keys                              [3]string // pace, ban, offences
	now, why                          string
	interval, slack, leeway           int64 // microseconds
	offence, offences, within, length int64

	forPace, forBan []any // all arguments, as take.lua lists them
	args            []any // those of the two that are meant
}

var calls = sync.Pool{New: func() any {
	c := new(call)
	c.forPace = []any{evalSHA, take.hash, "1", &c.keys[0],
		&c.now, &c.interval, &c.slack, &c.leeway}
	c.forBan = []any{evalSHA, take.hash, "3", &c.keys[0], &c.keys[1], &c.keys[2],
		&c.now, &c.interval, &c.slack, &c.leeway, &c.offence, &c.offences, &c.within, &c.length, &c.why}
	return c
}}

// newCall returns a call that may take so long from now on.
func newCall(timeout time.Duration) *call {
	c := calls.Get().(*call)
	c.begin(timeout)
	return c
}

// free gives the call up, to be used again unless its time is over.
func (c *call) free() {
	if c.end() {
		c.keys, c.now, c.why = [3]string{}, "", ""
		calls.Put(c)
	}
}

// tell has the script go by the caller's clock. It returns false for a time before 1824 or
// after 2115, as [ratelimit.Limit.Take] does.
func (c *call) tell(now time.Time) bool {
	const most = 1 << 62 / int64(time.Second)
	if s := now.Unix(); s <= -most || s >= most {
		return false
	}
	c.now = strconv.FormatInt(now.UnixMicro(), 10)
	return true
}

// pace asks for the verdict on the pace of a request.
func (c *call) pace(r *ratelimit.Request) {
	c.limit(r.Limit)
	c.text = append(appendStem(c.text[:0], &r.Key), paceSuffix...)
	c.keys[0] = string(c.text)
	c.args = c.forPace
}

// judge asks for the verdict on the pace of a request and on who makes it.
func (c *call) judge(r *ratelimit.Request) {
	c.limit(r.Limit)
	c.offence = 0
	if r.Offence {
		c.offence = 1
	}
	c.offences = int64(min(r.Ban.Offences, ratelimit.MaxOffences))
	c.within, c.length = microseconds(r.Ban.Within), microseconds(r.Ban.For)

	// One string holds all that is made up here.
	var ends [len(c.keys)]int
	b := c.text[:0]
	for i, suffix := range [...]string{paceSuffix, banSuffix, offencesSuffix} {
		b = append(appendStem(b, &r.Key), suffix...)
		if i > 0 {
			b = appendAddress(b, r.Address)
		}
		ends[i] = len(b)
	}
	b = appendWhy(b, r.Line, r.Rule)
	text, from := string(b), 0
	for i, end := range ends {
		c.keys[i] = text[from:end]
		from = end
	}
	c.why = text[from:]
	c.text, c.args = b, c.forBan
}

// limit sets the pace. Spans saturate as those of a [ratelimit.Limit] do.
func (c *call) limit(l ratelimit.Limit) {
	c.interval, c.slack, c.leeway = 0, 0, 0
	if l.Interval <= 0 {
		return
	}
	c.interval = microseconds(l.Interval)
	c.slack = longest
	if ahead := int64(max(l.Burst, 1) - 1); ahead <= longest/c.interval {
		c.slack = ahead * c.interval
	}
	if l.Leeway > 0 {
		c.leeway = min(l.Leeway.Microseconds(), longest)
	}
}

// longest bounds each span of time, in microseconds: about 36 years. With clock
// readings of at most 146 years either side of 1970, no sum of them in a script is
// beyond 2^53, up to which its numbers are exact.
const longest = 1 << 60 / int64(time.Microsecond)

// microseconds returns d in microseconds, rounded down to at least one and at
// most longest.
func microseconds(d time.Duration) int64 {
	return min(max(d.Microseconds(), 1), longest)
}

// bans reports whether a policy ever bans anybody.
func bans(p *ratelimit.BanPolicy) bool {
	return p != nil && p.Offences > 0 && p.Within > 0 && p.For > 0
}
