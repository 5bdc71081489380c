package proof

import (
	_ "embed"
	"strings"
)

//go:embed known.txt
var knownText string

// A Claim is how the operator of a robot says that it can be told from others who use its
// name. If both are given, either proves it; only who fails all that could be asked is an
// impostor. The zero value can be proved by nothing.
type Claim struct {
	// Token is what the robot calls itself, such as "Googlebot". The same token with
	// something added after a hyphen ("Googlebot-Image") is the same claim.
	Token string
	// Suffixes are the domains under which its hosts are named, for DNS.
	Suffixes []string
	// RangeURLs are where its addresses are published, in a form that ParseRanges reads.
	// A robot's addresses are those of all its lists together.
	RangeURLs []string
}

// Known returns the robots whose operators, as of November 2026, say how to verify them, in a
// fixed order, each token once. Nothing is fetched. The caller owns the result.
func Known() []Claim {
	var claims []Claim
	index := map[string]int{}
	for line := range strings.Lines(knownText) {
		fields := strings.Split(line, "|")
		if strings.HasPrefix(line, "#") || len(fields) != 3 {
			continue
		}
		token, values := strings.TrimSpace(fields[0]), strings.Fields(fields[2])
		i, ok := index[token]
		if !ok {
			i = len(claims)
			index[token] = i
			claims = append(claims, Claim{Token: token})
		}
		if strings.TrimSpace(fields[1]) == "dns" {
			claims[i].Suffixes = append(claims[i].Suffixes, values...)
		} else {
			claims[i].RangeURLs = append(claims[i].RangeURLs, values...)
		}
	}
	return claims
}
