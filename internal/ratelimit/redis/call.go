package redis

import (
	"context"
	"fmt"
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
	if r.Return {
		c.interval = -c.interval
	}
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

// limited is a context that ends at a given time and can be used again if that has
// not come. It belongs to nobody else's: a visitor who leaves in the middle of a
// decision does not spoil the connection.
type limited struct {
	until time.Time
	over  chan struct{}
	timer *time.Timer // closes over
}

// begin starts the time.
func (l *limited) begin(timeout time.Duration) {
	l.until = time.Now().Add(timeout)
	if l.timer != nil {
		l.timer.Reset(timeout)
		return
	}
	over := make(chan struct{})
	l.over = over
	l.timer = time.AfterFunc(timeout, func() { close(over) })
}

// end stops the time, and reports whether it was not over: the context can then
// begin again.
func (l *limited) end() bool { return l.timer.Stop() }

func (l *limited) Deadline() (time.Time, bool) { return l.until, true }
func (l *limited) Done() <-chan struct{}       { return l.over }
func (l *limited) Value(any) any               { return nil }

func (l *limited) Err() error {
	select {
	case <-l.over:
		return context.DeadlineExceeded
	default:
		return nil
	}
}

// verdict returns what the reply of take.lua says of a request.
func verdict(reply any, r *ratelimit.Request) (ratelimit.Result, error) {
	if wait, ok := reply.(int64); ok {
		return ratelimit.Result{RetryAfter: paced(wait, r.Limit)}, nil
	}
	list, _ := reply.([]any)
	if len(list) < 2 {
		return ratelimit.Result{}, fmt.Errorf("the script's reply %v is no verdict", reply)
	}
	wait, ok1 := list[0].(int64)
	text, ok2 := list[1].(string)
	if !ok1 || !ok2 {
		return ratelimit.Result{}, fmt.Errorf("the script's reply %v is no verdict", reply)
	}
	ban := &ratelimit.Ban{Key: r.Key, Address: r.Address}
	if err := parseBan(text, ban); err != nil {
		return ratelimit.Result{}, fmt.Errorf("%w: %w", ratelimit.ErrKey, err)
	}
	result := ratelimit.Result{Ban: ban, New: len(list) > 2}
	if result.New {
		result.RetryAfter = paced(wait, r.Limit)
	} else {
		result.RetryAfter = span(wait)
	}
	return result, nil
}

// paced returns for how long a request is refused for its pace. Counted in
// microseconds, that may be a fraction longer than the interval.
func paced(wait int64, l ratelimit.Limit) time.Duration {
	return min(span(wait), max(l.Interval, 0))
}

// span returns so many microseconds, at least none and at most longest.
func span(microseconds int64) time.Duration {
	return time.Duration(min(max(microseconds, 0), longest)) * time.Microsecond
}
