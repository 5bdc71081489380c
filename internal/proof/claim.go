package proof

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/caddy-robots/caddy-robots/crawler"
	"github.com/caddy-robots/caddy-robots/internal/proof/ipranges"
	"github.com/caddy-robots/caddy-robots/internal/proof/webbotauth"
)

// Claim says how one robot is verified. Where there are several methods, any proves it,
// and only who fails all is an impostor.
type Claim struct {
	// The robot's token: it is claimed by robots in whose User-Agent it occurs. Required, no
	// default.
	Token string `json:"token"`

	// Domains of the robot's hosts: its address resolves to a name under one of them, and
	// that name back to the address. Default: none.
	DNS []string `json:"dns,omitempty"`

	// The robot's addresses: CIDR ranges, paths of files, or http and https URLs of lists in
	// the JSON form that crawlers publish or with one range in a line. Lists are looked at
	// again every day and kept in Caddy's storage. Default: none.
	Ranges []string `json:"ranges,omitempty"`

	// As whom the robot signs its requests (Web Bot Auth): hosts whose key directory is at the
	// well-known path, such as bots.example.com, or the https URLs of its keys. Nobody else's are
	// fetched. Whoever signs so is this robot, whatever its User-Agent says. Default: none.
	Signers []string `json:"signers,omitempty"`
}

// Check returns an error that says what is wrong with the claim and what to write.
func (c Claim) Check() error {
	switch {
	case len(strings.TrimSpace(c.Token)) < 3:
		return errors.New("the robot's token is too short to be claimed; write its name, such as Googlebot")
	case c.Token != strings.TrimSpace(c.Token) || strings.ContainsAny(c.Token, "/*#\r\n"):
		return errors.New("a token is a name alone, without version, star or blanks around it; write one such as Googlebot")
	case len(c.DNS)+len(c.Ranges)+len(c.Signers) == 0:
		return errors.New("write how: dns with the domains of its hosts, ranges with its addresses, or signature with the hosts of its keys")
	}
	for _, suffix := range c.DNS {
		if !strings.Contains(strings.Trim(suffix, "."), ".") || strings.ContainsAny(suffix, "/:* ") {
			return fmt.Errorf("%q is not a domain that could be the robot's alone; write one such as googlebot.com", suffix)
		}
	}
	if _, err := inline(c.Ranges); err != nil {
		return err
	}
	return c.addSigners(webbotauth.Signers{})
}

func (c Claim) addSigners(signers webbotauth.Signers) error {
	for _, signer := range c.Signers {
		if err := signers.Add(signer, c.Token, true); err != nil {
			return err
		}
	}
	return nil
}

// Signers returns whose signatures count: the owner's own and, where asked, those of the
// [crawler.Catalogue]. An error names one that stands under two tokens.
func Signers(own []Claim, known bool) (webbotauth.Signers, error) {
	signers := make(webbotauth.Signers)
	for _, c := range own {
		if err := c.addSigners(signers); err != nil {
			return nil, err
		}
	}
	if !known {
		return signers, nil
	}
	for _, c := range crawler.Catalogue() {
		for _, signer := range c.Signers {
			if err := signers.Add(signer, c.Tokens[0], false); err != nil {
				return nil, err
			}
		}
	}
	return signers, nil
}

// inline returns the ranges that are written out among the values of a claim, nil for none.
func inline(values []string) (*ipranges.Set, error) {
	var prefixes []netip.Prefix
	for _, value := range values {
		if isAddress(value) {
			continue
		}
		prefix, _ := ipranges.ParseRange(value) // New refuses what is too broad
		if !prefix.IsValid() {
			return nil, fmt.Errorf("%q is not a CIDR range; write one such as 192.0.2.0/24, a path or a URL", value)
		}
		prefixes = append(prefixes, prefix)
	}
	if len(prefixes) == 0 {
		return nil, nil
	}
	return ipranges.New(prefixes)
}

// isAddress reports whether a value is the path or URL of a list, and not a range that is written out.
func isAddress(value string) bool {
	return IsURL(value) || strings.Trim(value, "0123456789abcdefABCDEF:./") != "" || strings.HasPrefix(value, "/") || strings.HasPrefix(value, "./")
}

// Merge returns what robots can claim: the owner's own claims, then the others of which the
// owner said nothing. Claims on one token, in any case of letters, are one. What an address cannot
// show is left out.
func Merge(own, others []Claim) []Claim {
	var all []Claim
	index := func(token string) int {
		return slices.IndexFunc(all, func(c Claim) bool { return strings.EqualFold(c.Token, token) })
	}
	for _, c := range own {
		if len(c.DNS)+len(c.Ranges) == 0 {
			continue
		}
		i := index(c.Token)
		if i < 0 {
			i, all = len(all), append(all, Claim{Token: c.Token})
		}
		all[i].DNS = append(all[i].DNS, c.DNS...)
		all[i].Ranges = append(all[i].Ranges, c.Ranges...)
	}
	for _, c := range others {
		if index(c.Token) < 0 {
			all = append(all, c)
		}
	}
	return all
}

// Known returns the robots of the [crawler.Catalogue] whose operators say how to verify them, in
// its order, each token once. Nothing is fetched. The caller owns the result.
func Known() []Claim {
	var claims []Claim
	for _, c := range crawler.Catalogue() {
		if !c.IsVerifiable() {
			continue
		}
		for i, token := range c.Tokens {
			if i > 0 && strings.HasPrefix(token, c.Tokens[0]) {
				continue // who claims it claims the first one
			}
			claims = append(claims, Claim{Token: token, DNS: slices.Clone(c.DNS), Ranges: slices.Clone(c.Ranges)})
		}
	}
	return claims
}
