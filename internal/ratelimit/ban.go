package ratelimit

import (
	"strings"
	"time"
)

// MaxOffences is the most offences that a [BanPolicy] may wait for.
const MaxOffences = 1000

// BanPolicy says when a client is banned: with the last of so many Offences
// Within a time, For another. An offence that long ago or longer does not count
// any more, nor does one from before a ban. A policy whose Offences, Within or For
// is zero or less bans nobody; Offences beyond [MaxOffences] count as that many, and
// For saturates at 36 years. A BanPolicy is a plain value and safe for concurrent use.
type BanPolicy struct {
	Offences int
	Within   time.Duration
	For      time.Duration
}

// bans reports whether the policy, which may be nil, ever bans anybody.
func (p *BanPolicy) bans() bool {
	return p != nil && p.Offences > 0 && p.Within > 0 && p.For > 0
}

// spans returns the parts of the policy as they are reckoned with, the times in
// nanoseconds, and the length of a ban at most maxSpan.
func (p *BanPolicy) spans() (offences int, within, length int64) {
	return min(p.Offences, MaxOffences), int64(p.Within), min(int64(p.For), maxSpan)
}

// Ban is a client that is banned, and why. It is a plain value.
type Ban struct {
	// Key and Address say who: the robot on that site, from that address or, if
	// Address is empty, from everywhere.
	Key     Key
	Address string

	// Since and Until say from when to when. Until is not part of the ban.
	Since, Until time.Time

	// Line and Rule are the line of robots.txt that the last offence was against,
	// its number and its text; 0 and an explanation where no line was.
	Line int
	Rule string
}

// banEntry is a ban as [Bans] keep it. Only its place ever changes.
type banEntry struct {
	client       uint64
	since, until int64 // nanoseconds since 1970
	ban          *Ban
	place        int // among ends
}

// newBanEntry returns a ban ready to be kept, with a copy of its text in one piece, so
// that it keeps nothing of the request alive that it came from.
func newBanEntry(client uint64, ban Ban) *banEntry {
	text := strings.Join([]string{ban.Key.Site, ban.Key.Robot, ban.Key.Standing, ban.Address, ban.Rule}, "")
	for _, part := range []*string{&ban.Key.Site, &ban.Key.Robot, &ban.Key.Standing, &ban.Address, &ban.Rule} {
		*part, text = text[:len(*part)], text[len(*part):]
	}
	ban.Since, ban.Until = writable(ban.Since), writable(ban.Until)
	return &banEntry{client: client, since: clamped(ban.Since), until: clamped(ban.Until), ban: &ban}
}

// writable returns t or, if its year in UTC is none that JSON can hold (RFC 3339), the bound of the
// clock that it is out of.
func writable(t time.Time) time.Time {
	if year := t.UTC().Year(); 0 <= year && year <= 9999 {
		return t
	}
	return time.Unix(0, clamped(t)).In(t.Location())
}

// text returns how many bytes of text go with the ban.
func (h *banEntry) text() int {
	k := &h.ban.Key
	return len(k.Site) + len(k.Robot) + len(k.Standing) + len(h.ban.Address) + len(h.ban.Rule)
}

// at returns h or, if h begins after now, the same ban from now on.
func (h *banEntry) at(now int64) *banEntry {
	if now >= h.since {
		return h
	}
	ban := *h.ban
	ban.Since = time.Unix(0, now).In(ban.Since.Location())
	ban.Until = ban.Since.Add(time.Duration(h.until - h.since))
	return newBanEntry(h.client, ban)
}

// refuse returns the verdict on a request that comes while the ban is in force.
func (h *banEntry) refuse(now int64) Result {
	return Result{RetryAfter: time.Duration(h.until - now), Ban: h.ban}
}

// ends are bans in the order of a heap, the one that ends first on top.
type ends []*banEntry

func (e ends) Len() int           { return len(e) }
func (e ends) Less(i, j int) bool { return e[i].until < e[j].until }

func (e ends) Swap(i, j int) {
	e[i], e[j] = e[j], e[i]
	e[i].place, e[j].place = i, j
}

// Push and Pop are for package heap alone.
func (e *ends) Push(h any) {
	h.(*banEntry).place = len(*e)
	*e = append(*e, h.(*banEntry))
}

func (e *ends) Pop() any {
	last := len(*e) - 1
	h := (*e)[last]
	(*e)[last] = nil
	*e = (*e)[:last]
	return h
}
