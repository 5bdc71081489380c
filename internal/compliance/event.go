package compliance

import (
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// OtherSites is the site that sums up all sites beyond [Options.MaxSites].
const OtherSites = "*"

// OtherRobots is the class of the row that sums up the robots of a site without a row of their own.
const OtherRobots = "other"

// Trapped is the class of clients that were caught in a trap. They give no name, or one that they
// are not believed.
const Trapped = "trapped"

// What a ledger keeps of texts, in bytes. Longer ones are cut.
const (
	maxSite   = 255
	maxRobot  = 64
	maxShort  = 64 // versions and records
	maxMethod = 16
	maxPath   = 200
	maxRule   = 128
)

// Event is one request that was judged. The zero Event is a request that was allowed, of a
// client that states no name, in 1970.
type Event struct {
	// Time is when the request came. Events should be noted in the order of their times, give or take a
	// day; years before 1970 and after 9999 are taken for those.
	Time time.Time

	// Site is the host whose robots.txt was asked.
	Site string

	// Robot is the client's name as in its User-Agent, empty if it gives none. Class is
	// robot, service, app, unstated, browser or trapped, a client that was caught in a trap; anything else
	// is taken for unstated. Standing is what is known
	// of its claim to be that robot: verified, unverified, impostor, or empty if nothing
	// can be.
	Robot, Class, Standing string

	// Verdict is what was decided, and Refused whether the request was refused for it
	// or only observed.
	Verdict Verdict
	Refused bool

	// RobotsTxt says that the request was for /robots.txt. Such a request counts only as a
	// reading of the rules.
	RobotsTxt bool

	// Version names the text of robots.txt that was in force, by a short hash.
	Version string

	// Record is the User-agent value of the record that binds the client. Line and Rule are
	// the line that decided, its number and its text; 0 and an explanation where no line did, or
	// nothing where the request was allowed.
	Record string
	Line   int
	Rule   string

	// What was asked for, from which address, and what it was answered.
	Method, Path, Address string
	Status                int

	// What it cost to serve the request: the bytes of the answer, without its header, and how long
	// the back end took. Measured says that they are known; a refused request has no cost.
	Measured bool
	Bytes    int64
	Took     time.Duration

	// WholeAddress keeps the Address of a disobedient request as it is. Otherwise only its
	// network is kept, /24 or, of IPv6, /48. WholeQuery keeps the query of the Path, which may
	// hold secrets; otherwise only the "?" before it is kept.
	WholeAddress, WholeQuery bool
}

// unbound reports whether e is a person's browser that nothing binds. It is no robot, and
// not noted.
func (e *Event) unbound() bool {
	return e.Class == "browser" && e.Record == "" && e.Verdict == Allowed
}

// keptPath returns what is kept of the path.
func (e *Event) keptPath() string {
	if i := strings.IndexByte(e.Path, '?'); i >= 0 && !e.WholeQuery {
		return e.Path[:i+1]
	}
	return e.Path
}

// class and standing are the words of an Event as numbers.
type (
	class    uint8
	standing uint8
)

var (
	classWords    = [...]string{"unstated", "robot", "app", "browser", OtherRobots, "service", Trapped}
	standingWords = [...]string{"", "verified", "unverified", "impostor"}
)

// others is the class of a row that is no single robot's. No event has it. The numbers are
// stored, so a new class comes last.
const others class = 4

// key identifies a row.
type key struct {
	site, robot string
	class       class
	standing    standing
}

// set fills k, which is zero, with the key of an event with these words. It fills k
// in place, to avoid a store-forwarding stall.
func (k *key) set(site, robot, classWord, standingWord string) {
	k.site, k.robot = cut(site, maxSite), cut(robot, maxRobot)
	if classWord == "robot" { // as most are
		k.class = 1
	} else if i := slices.Index(classWords[:], classWord); i > 0 && class(i) != others {
		k.class = class(i)
	}
	if standingWord == "" {
		return
	}
	if i := slices.Index(standingWords[:], standingWord); i > 0 {
		k.standing = standing(i)
	}
}

// lastMoment is the last one of the year 9999, in milliseconds since 1970.
const lastMoment = 253402300799999

// moment returns t in milliseconds since 1970, not before 1970 nor after 9999.
func moment(t time.Time) int64 {
	s := t.Unix()
	if s < 0 || s > lastMoment/1000 {
		return min(max(s, 0), 1) * lastMoment
	}
	return s*1000 + int64(t.Nanosecond())/1e6
}

// timeOf is the opposite of moment.
func timeOf(at int64) time.Time { return time.UnixMilli(at).UTC() }

// cut returns at most this many bytes of s, and no part of a character.
func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for i := most; i > most-utf8.UTFMax; i-- {
		if utf8.RuneStart(s[i]) {
			return s[:i]
		}
	}
	return s[:most]
}

// maxCount is the largest count that is kept: the largest that every reader of JSON
// understands exactly.
const maxCount = 1 << 53

// sum returns a+b, at most maxCount.
func sum(a, b uint64) uint64 { return min(a+b, maxCount) }

// sum32 returns a+b, or the largest number if that is larger.
func sum32(a, b uint32) uint32 {
	return uint32(min(uint64(a)+uint64(b), math.MaxUint32))
}
