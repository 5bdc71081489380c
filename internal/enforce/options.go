package enforce

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/caddy-robots/caddy-robots/crawler"
	"github.com/caddy-robots/caddy-robots/internal/proof/ipranges"
	"github.com/caddy-robots/caddy-robots/internal/ratelimit"
	"github.com/caddy-robots/caddy-robots/robotsrules"
)

// Options are what the owner of a site asks for. The zero Options refuse what robots.txt
// forbids, and nobody else.
type Options struct {
	Unnamed    Unnamed
	Impostors  Impostors
	Disallowed Action // Refuse, Observe or Pace
	TooFast    Action // Refuse, Observe or Wait
	OffHours   Action // Refuse or Observe
	Observe    bool   // note everything, refuse nothing

	DefaultPace    robotsrules.Rate // where a record states none; the zero Rate is none
	DisallowedPace robotsrules.Rate // at which disallowed pages are served, with Pace

	ClientPrefix ClientPrefix // what counts as one client

	Grace time.Duration        // how long the previous policy still holds for who has not read the new one
	Ban   *ratelimit.BanPolicy // nil: nobody is banned

	Exempt       Exemptions
	Unpaced      Unpaced
	TreatAsRobot []string      // texts of User-Agents
	Signatures   bool          // a client that signs its requests is a robot
	Trap         []string      // paths to which no link leads people
	TrapFor      time.Duration // how long who fetches one counts as a robot
}

// Unnamed says whom the "*" record binds. The zero value is the default.
type Unnamed uint8

// Whom the "*" record binds.
const (
	UnnamedRobots   Unnamed = iota // those that say they are robots, and clients without a User-Agent
	UnnamedClients                 // services, apps and libraries too
	UnnamedEveryone                // browsers too
	UnnamedNobody
)

// Binds reports whether the "*" record binds a client of this class.
func (u Unnamed) Binds(c crawler.Class) bool {
	switch c {
	case crawler.Robot, crawler.Unstated:
		return u != UnnamedNobody
	case crawler.App, crawler.Service:
		return u == UnnamedClients || u == UnnamedEveryone
	default:
		return u == UnnamedEveryone
	}
}

// Action is what is done with a request that was judged against. The zero value is the default.
type Action uint8

// What is done with a request.
const (
	Refuse  Action = iota
	Observe        // it is noted and served
	Pace           // disallowed only: it is served at a rate
	Wait           // too fast only: it is held until its time, if that is soon
)

// Impostors says what is done with a client that claims to be a robot it is not. The zero value
// is the default.
type Impostors uint8

// What is done with an impostor.
const (
	ImpostorsUnnamed Impostors = iota // judged as a robot that no record names
	ImpostorsRefuse
	ImpostorsObserve // noted, and judged as who it says it is
)

// Exemptions are the clients that are left alone. The zero value exempts nobody. It is
// immutable and safe for concurrent use.
type Exemptions struct {
	Ranges []netip.Prefix
	Texts  []string // looked for in the User-Agent, in any case of letters
	Kinds
}

// ParseExemptions reads the values of the exempt option: an address, a CIDR range, the word
// private_ranges, which stands for the ranges in private, the word verified or that of a purpose, in
// small letters, or any other text, which is looked for in the User-Agent.
func ParseExemptions(values, private []string) (e Exemptions, err error) {
	for _, value := range values {
		switch {
		case value == "private_ranges":
			inner, err := ParseExemptions(private, nil)
			if err != nil {
				return inner, err
			}
			e.Ranges = append(e.Ranges, inner.Ranges...)
		case value == strings.ToLower(value) && e.add(value):
		case strings.Trim(value, "0123456789abcdefABCDEF:./") == "" && strings.ContainsAny(value, ".:/"):
			prefix, _ := ipranges.ParseRange(value) // one that is broad exempts as many
			if !prefix.IsValid() {
				return Exemptions{}, fmt.Errorf("exempt: %q is not an address or CIDR range; "+
					"write one such as 192.0.2.0/24, private_ranges, verified, a purpose, or a text of the User-Agent", value)
			}
			e.Ranges = append(e.Ranges, prefix)
		case strings.TrimSpace(value) == "":
			return Exemptions{}, fmt.Errorf("exempt: %q would exempt every client; "+
				"write an address, a CIDR range, private_ranges, verified, a purpose, or a text of the User-Agent", value)
		default:
			e.Texts = append(e.Texts, value)
		}
	}
	return e, nil
}

// isExempt reports whether the client of r is exempt by its address or by its User-Agent. What kind of
// robot it is shows only in its verdict.
func (e *Engine) isExempt(ctx context.Context, r *Request) bool {
	if len(e.Exempt.Ranges) > 0 {
		e.Locate(ctx, r)
		if e.Exempt.coversAddress(r.OwnEvidence()) {
			return true
		}
	}
	return len(e.Exempt.Texts) > 0 && containsAny(r.UserAgent[:min(len(r.UserAgent), crawler.MaxLength)], e.Exempt.Texts)
}

func (e *Exemptions) coversAddress(addr netip.Addr) bool {
	return addr.IsValid() && slices.ContainsFunc(e.Ranges, func(p netip.Prefix) bool { return p.Contains(addr) })
}

// containsAny reports whether one of the texts occurs in s, in any case of letters.
func containsAny(s string, texts []string) bool {
	return slices.ContainsFunc(texts, func(text string) bool { return ContainsFold(s, text) })
}

// ContainsFold reports whether text occurs in s in any case of letters.
func ContainsFold(s, text string) bool {
	for i := 0; i+len(text) <= len(s); i++ {
		if strings.EqualFold(s[i:i+len(text)], text) {
			return true
		}
	}
	return false
}
