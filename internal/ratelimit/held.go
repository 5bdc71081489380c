package ratelimit

import (
	"strings"
	"time"
)

// held is a ban as [Bans] keep it. Only its place ever changes.
type held struct {
	client       uint64
	since, until int64 // nanoseconds since 1970
	ban          *Ban
	place        int // among ends
}

// hold returns a ban ready to be kept, with a copy of its text in one piece, so
// that it keeps nothing of the request alive that it came from.
func hold(client uint64, ban Ban) *held {
	text := strings.Join([]string{ban.Key.Site, ban.Key.Robot, ban.Key.Standing, ban.Address, ban.Rule}, "")
	for _, part := range []*string{&ban.Key.Site, &ban.Key.Robot, &ban.Key.Standing, &ban.Address, &ban.Rule} {
		*part, text = text[:len(*part)], text[len(*part):]
	}
	ban.Since, ban.Until = writable(ban.Since), writable(ban.Until)
	return &held{client: client, since: clamped(ban.Since), until: clamped(ban.Until), ban: &ban}
}

// writable returns t or, if its year in UTC is none that JSON can hold (RFC 3339), the bound of the
// clock that it is out of.
func writable(t time.Time) time.Time {
	if year := t.UTC().Year(); 0 <= year && year <= 9999 {
		return t
	}
	return time.Unix(0, clamped(t)).In(t.Location())
}

// text returns how many octets of text go with the ban.
func (h *held) text() int {
	k := &h.ban.Key
	return len(k.Site) + len(k.Robot) + len(k.Standing) + len(h.ban.Address) + len(h.ban.Rule)
}

// at returns h or, if h begins after now, the same ban from now on.
func (h *held) at(now int64) *held {
	if now >= h.since {
		return h
	}
	ban := *h.ban
	ban.Since = time.Unix(0, now).In(ban.Since.Location())
	ban.Until = ban.Since.Add(time.Duration(h.until - h.since))
	return hold(h.client, ban)
}

// refuse returns the verdict on a request that comes while the ban is in force.
func (h *held) refuse(now int64) Result {
	return Result{RetryAfter: time.Duration(h.until - now), Ban: h.ban}
}

// ends are bans in the order of a heap, the one that ends first on top.
type ends []*held

func (e ends) Len() int           { return len(e) }
func (e ends) Less(i, j int) bool { return e[i].until < e[j].until }

func (e ends) Swap(i, j int) {
	e[i], e[j] = e[j], e[i]
	e[i].place, e[j].place = i, j
}

// Push and Pop are for package heap alone.
func (e *ends) Push(h any) {
	h.(*held).place = len(*e)
	*e = append(*e, h.(*held))
}

func (e *ends) Pop() any {
	last := len(*e) - 1
	h := (*e)[last]
	(*e)[last] = nil
	*e = (*e)[:last]
	return h
}
