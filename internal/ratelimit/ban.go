package ratelimit

import "time"

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
