package redis

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/caddy-robots/caddy-robots/internal/ratelimit"
)

// maxRule bounds the text that is kept with a ban, in octets.
const maxRule = 1 << 10

// A ban is kept as text: when it began and when it ends, in microseconds since
// 1970, the number of the line, and the rule, with a space between them. Who is
// banned stands elsewhere.

// appendWhy appends the end of a ban's text.
func appendWhy(b []byte, line int, rule string) []byte {
	b = append(strconv.AppendInt(b, int64(line), 10), ' ')
	return append(b, rule[:min(len(rule), maxRule)]...)
}

// appendBan appends a ban's text.
func appendBan(b []byte, ban *ratelimit.Ban) []byte {
	b = append(strconv.AppendInt(b, ban.Since.UnixMicro(), 10), ' ')
	b = append(strconv.AppendInt(b, ban.Until.UnixMicro(), 10), ' ')
	return appendWhy(b, ban.Line, ban.Rule)
}

// latest bounds what is read as a time, in microseconds either side of 1970.
const latest = 1 << 53

// parseBan reads a ban's text into ban.
func parseBan(text string, ban *ratelimit.Ban) error {
	since, rest, _ := strings.Cut(text, " ")
	until, rest, _ := strings.Cut(rest, " ")
	line, rule, complete := strings.Cut(rest, " ")
	from, err1 := strconv.ParseInt(since, 10, 64)
	to, err2 := strconv.ParseInt(until, 10, 64)
	number, err3 := strconv.Atoi(line)
	if !complete || errors.Join(err1, err2, err3) != nil || from < -latest || to > latest || from >= to {
		return fmt.Errorf("%q is not a ban", text[:min(len(text), 100)])
	}
	ban.Since, ban.Until = time.UnixMicro(from), time.UnixMicro(to)
	ban.Line, ban.Rule = number, rule
	return nil
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
