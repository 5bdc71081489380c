package robotsrules

import (
	"fmt"
	"slices"
)

// Dialect is the standard that reads a robots.txt. The zero value is RFC9309.
type Dialect uint8

// The dialects.
const (
	// RFC9309 is the standard of 2022, which today's crawlers follow.
	RFC9309 Dialect = iota
	// Draft1996 is Koster's Internet-Draft of 1996.
	Draft1996
	// NoRobots1994 is the 1994 standard, a consensus of the robots mailing list.
	NoRobots1994
)

var dialectNames = [...]string{"rfc9309", "draft1996", "norobots1994"}

// ParseDialect returns the dialect called name. The names are "rfc9309",
// "draft1996" and "norobots1994", in lower case; any other is an error.
func ParseDialect(name string) (Dialect, error) {
	if i := slices.Index(dialectNames[:], name); i >= 0 {
		return Dialect(i), nil
	}
	return RFC9309, fmt.Errorf("dialect: %w", UnknownWord(name, "rfc9309, draft1996 or norobots1994"))
}

// String returns the name that ParseDialect reads.
func (d Dialect) String() string {
	if int(d) < len(dialectNames) {
		return dialectNames[d]
	}
	return fmt.Sprintf("Dialect(%d)", uint8(d))
}

// Match says when a token of the file matches a robot. The zero value is
// MatchSubstring.
type Match uint8

// The ways to match.
const (
	// MatchSubstring looks for the token anywhere in the User-Agent, as the
	// 1996 draft and the 1994 standard ask.
	MatchSubstring Match = iota
	// MatchToken compares the token with each product token that the robot
	// sends, as RFC 9309, section 2.2.1, asks.
	MatchToken
)

var matchNames = [...]string{"substring", "token"}

// ParseMatch returns the way to match called name: "substring" or "token", in
// lower case; any other is an error.
func ParseMatch(name string) (Match, error) {
	if i := slices.Index(matchNames[:], name); i >= 0 {
		return Match(i), nil
	}
	return MatchSubstring, fmt.Errorf("match: %w", UnknownWord(name, "substring or token"))
}

// String returns the name that ParseMatch reads.
func (m Match) String() string {
	if int(m) < len(matchNames) {
		return matchNames[m]
	}
	return fmt.Sprintf("Match(%d)", uint8(m))
}
