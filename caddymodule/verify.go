package caddymodule

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	proofs "github.com/caddy-robots/caddy-robots/internal/proof"
	"github.com/caddy-robots/caddy-robots/internal/proof/ipranges"
)

// Verify says how robots prove that they are who they say. What cannot be checked in time,
// since a resolver or a list fails, counts as not verified and refuses nobody.
type Verify struct {
	// Check the robots whose operators say how: a table that comes with this module.
	// Default: false.
	Known bool `json:"known,omitempty"`

	// Check signatures on requests (Web Bot Auth: HTTP Message Signatures with the tag
	// web-bot-auth). A request with a valid one is a robot's, by the name of the host that
	// signs, whatever its User-Agent; a missing or wrong one means nothing about a person.
	// Default: false.
	Signature bool `json:"signature,omitempty"`

	// Further robots, or other methods for known ones.
	Claims []Claim `json:"claims,omitempty"`
}

// Claim says how one robot is verified. Where there are several methods, any proves it,
// and only who fails all is an impostor.
type Claim struct {
	// The robot's token: it is claimed by robots in whose User-Agent it occurs.
	Token string `json:"token"`

	// Domains of the robot's hosts: its address resolves to a name under one of them, and
	// that name back to the address.
	DNS []string `json:"dns,omitempty"`

	// The robot's addresses: CIDR ranges, paths of files, or http and https URLs of lists in
	// the JSON form that crawlers publish or with one range in a line. Lists are looked at
	// again every day and kept in Caddy's storage.
	Ranges []string `json:"ranges,omitempty"`
}

// checkVerify returns an error that says what is wrong with the options of verification.
func (h *Handler) checkVerify() error {
	if h.Verify == nil {
		switch {
		case h.Resolver != "":
			return errors.New("resolver is for verify, which is not there; remove resolver, or write verify known")
		case h.Impostors != "":
			return errors.New("impostors are found by verify, which is not there; remove impostors, or write verify known")
		}
		return nil
	}
	for _, claim := range h.Verify.Claims {
		if err := claim.check(); err != nil {
			return fmt.Errorf("verify %s: %w", claim.Token, err)
		}
	}
	if h.Resolver != "" {
		host, _, _ := strings.Cut(h.Resolver, ":")
		_, err := netip.ParseAddrPort(h.Resolver)
		_, err2 := netip.ParseAddr(h.Resolver)
		if err != nil && err2 != nil && (host == "" || strings.ContainsAny(h.Resolver, "/ ")) {
			return fmt.Errorf("resolver: %q is not a server; write its address, such as 9.9.9.9 or 127.0.0.1:5353", h.Resolver)
		}
	}
	return nil
}

func (c Claim) check() error {
	switch {
	case len(strings.TrimSpace(c.Token)) < 3:
		return errors.New("the robot's token is too short to be claimed; write its name, such as Googlebot")
	case c.Token != strings.TrimSpace(c.Token) || strings.ContainsAny(c.Token, "/*#\r\n"):
		return errors.New("a token is a name alone, without version, star or blanks around it; write one such as Googlebot")
	case len(c.DNS)+len(c.Ranges) == 0:
		return errors.New("write how: dns with the domains of its hosts, or ranges with its addresses")
	}
	for _, suffix := range c.DNS {
		if !strings.Contains(strings.Trim(suffix, "."), ".") || strings.ContainsAny(suffix, "/:* ") {
			return fmt.Errorf("%q is not a domain that could be the robot's alone; write one such as googlebot.com", suffix)
		}
	}
	_, err := inlineRanges(c.Ranges)
	return err
}

// inlineRanges returns the ranges that are written out among the values of a claim.
func inlineRanges(values []string) ([]netip.Prefix, error) {
	var prefixes []netip.Prefix
	for _, value := range values {
		if isPlace(value) {
			continue
		}
		prefix, err := parseRange(value)
		if err != nil {
			return nil, fmt.Errorf("%q is not a CIDR range; write one such as 192.0.2.0/24, a path or a URL", value)
		}
		prefixes = append(prefixes, prefix)
	}
	if len(prefixes) == 0 {
		return nil, nil
	}
	if _, err := ipranges.New(prefixes); err != nil {
		return nil, err
	}
	return prefixes, nil
}

// isPlace tells a path or URL of a list from a range that is written out.
func isPlace(value string) bool {
	return isURL(value) || strings.Trim(value, "0123456789abcdefABCDEF:./") != "" || strings.HasPrefix(value, "/") || strings.HasPrefix(value, "./")
}

func isURL(value string) bool {
	return strings.HasPrefix(value, "http://") || strings.HasPrefix(value, "https://")
}

// fetches tells whether there are lists that are fetched, and so kept in Caddy's storage.
func (v *Verify) fetches() bool {
	return slices.ContainsFunc(v.claims(), func(c Claim) bool { return slices.ContainsFunc(c.Ranges, isURL) })
}

// claims returns what robots can claim: the owner's own, then the known ones that the owner
// said nothing of. Claims of the owner on one token are one.
func (v *Verify) claims() []Claim {
	var all []Claim
	index := func(token string) int {
		return slices.IndexFunc(all, func(c Claim) bool { return strings.EqualFold(c.Token, token) })
	}
	for _, own := range v.Claims {
		i := index(own.Token)
		if i < 0 {
			i, all = len(all), append(all, Claim{Token: own.Token})
		}
		all[i].DNS = append(all[i].DNS, own.DNS...)
		all[i].Ranges = append(all[i].Ranges, own.Ranges...)
	}
	if v.Known {
		for _, known := range proofs.Known() {
			if index(known.Token) < 0 {
				all = append(all, Claim{Token: known.Token, DNS: known.Suffixes, Ranges: known.RangeURLs})
			}
		}
	}
	return all
}
