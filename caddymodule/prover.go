package caddymodule

import (
	"context"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-robots/caddy-robots/crawler"
	"github.com/caddy-robots/caddy-robots/internal/enforce"
	"github.com/caddy-robots/caddy-robots/internal/proof/dns"
	"github.com/caddy-robots/caddy-robots/internal/proof/webbotauth"
)

// prover checks whether robots are who they say. It is safe for concurrent use; a nil one
// checks nobody.
type prover struct {
	tokens     *ruleset // the claims' tokens as records, to find them as records are found
	claims     map[string]*claim
	dns        *dns.Verifier
	signatures *webbotauth.Verifier // nil: not asked for
}

// claim is a Claim ready to be checked.
type claim struct {
	token    string
	suffixes []string
	lists    []*rangeList
	found    *verifications
}

// proof is what is known of a client's claim. The zero value is that of a client that
// claims nothing which can be checked.
type proof struct {
	claimed string // the token, or the host that signs; "" for nothing
	status  enforce.Standing
	reason  string // why a claim is false
}

// standing is the part of a budget's key that keeps claimants of one name apart.
func (p proof) standing() string {
	if p.claimed == "" {
		return ""
	}
	return p.status.String()
}

// newProver makes the prover of these options.
func newProver(v *Verify, resolver string, sh *shared, lists *rangeLists) *prover {
	p := &prover{claims: make(map[string]*claim)}
	var records strings.Builder
	for _, c := range v.claims() {
		p.claims[c.Token] = &claim{token: c.Token, suffixes: c.DNS, lists: lists.of(c.Ranges), found: sh.metrics.verifications(c.Token)}
		records.WriteString("User-agent: " + c.Token + "\nDisallow:\n")
	}
	p.tokens, _ = sh.library.compile(records.String(), "", settings{})
	p.dns = sh.resolver(resolver)
	if v.Signature {
		p.signatures = sh.signatures
	}
	return p
}

// prove checks the claims of a robot: its name against its address, and where it claims no
// name that can be checked so, its signature. A signed robot goes by the host that signs.
func (p *prover) prove(r *http.Request, a *asked, who *crawler.Identity) (*crawler.Identity, proof) {
	if c := p.claimOf(who); c != nil {
		result := proof{claimed: c.token, status: p.check(r.Context(), c, provedAddress(r))}
		if result.status == enforce.Impostor {
			result.reason = "claims to be " + c.token + ", but its address is not one of that robot's"
		}
		return who, result
	}
	switch s := p.signed(r, a); s.status {
	case enforce.Verified:
		return signedRobot(s.host, who), proof{claimed: s.host, status: s.status}
	case enforce.Impostor:
		return who, proof{claimed: s.host, status: s.status, reason: "signs as " + s.host + ", but " + s.reason}
	}
	return who, proof{}
}

// claimOf returns what a robot claims to be by its name, nil if that cannot be checked.
func (p *prover) claimOf(who *crawler.Identity) *claim {
	if p == nil || who.Class != crawler.Robot {
		return nil
	}
	if binding := p.tokens.find(who); binding != nil {
		return p.claims[binding.Token()]
	}
	return nil
}

// provedAddress returns the address of the client. It is not valid where it is not proved
// yet, as for 0-RTT data.
func provedAddress(r *http.Request) netip.Addr {
	if r.TLS != nil && !r.TLS.HandshakeComplete {
		return netip.Addr{}
	}
	addr, _ := netip.ParseAddr(clientAddress(r)) // not valid if it cannot be read
	return addr.Unmap().WithZone("")
}

// check tells whether the address is one of the claim's. It waits for the name server as long
// as a request may, and no longer than ctx.
func (p *prover) check(ctx context.Context, c *claim, addr netip.Addr) enforce.Standing {
	if !addr.IsValid() {
		return enforce.Unverified
	}
	status := enforce.Impostor
	for _, list := range c.lists {
		switch ranges := list.current.Load(); {
		case ranges == nil:
			status = enforce.Unverified
		case ranges.Contains(addr):
			return enforce.Verified
		}
	}
	if len(c.suffixes) == 0 {
		return status
	}
	if found := p.dns.Check(ctx, addr, c.suffixes); found != enforce.Impostor {
		return found
	}
	return status
}

// isSigned tells whether r carries a signature that may be looked at.
func (p *prover) isSigned(r *http.Request) bool {
	return p != nil && p.signatures != nil && len(r.Header["Signature-Agent"]) > 0 && len(r.Header["Signature"]) > 0
}

// signature is what was found of the signature of a request.
type signature struct {
	host   string
	status enforce.Standing
	reason string
}

// signatureKey is the request variable that keeps it: a signature with a nonce is good for
// one look only, and a request may meet two handlers.
const signatureKey = "robots.signature"

// signed returns whose signature r carries: the host.
func (p *prover) signed(r *http.Request, a *asked) signature {
	if !p.isSigned(r) {
		return signature{}
	}
	vars, _ := r.Context().Value(caddyhttp.VarsCtxKey).(map[string]any)
	if found, ok := vars[signatureKey].(signature); ok {
		return found
	}
	path, query, _ := strings.Cut(a.target, "?")
	var found signature
	found.host, found.status, found.reason = p.signatures.Verify(r.Context(), webbotauth.Message{
		Method: a.method, Authority: r.Host, Scheme: schemeOf(r), Path: path, RawQuery: query, Header: r.Header,
	})
	if u, err := url.Parse(found.host); err == nil && u.Host != "" {
		found.host = u.Host
	}
	if vars != nil {
		vars[signatureKey] = found
	}
	return found
}

// schemeOf returns the scheme that the client used, as a proxy tells that the site trusts.
func schemeOf(r *http.Request) string {
	if r.TLS != nil {
		return "https"
	}
	if trusted, _ := caddyhttp.GetVar(r.Context(), caddyhttp.TrustedProxyVarKey).(bool); trusted {
		if told := r.Header.Get("X-Forwarded-Proto"); told == "https" {
			return told
		}
	}
	return "http"
}

// signedRobot is the client whose request the host has signed: a robot by that name,
// whatever else it calls itself. A record of robots.txt finds it by the host's name too.
func signedRobot(host string, who *crawler.Identity) *crawler.Identity {
	return &crawler.Identity{
		Class: crawler.Robot, Name: host, Key: strings.ToLower(host),
		Text: strings.TrimSpace(who.Text + " " + host), Products: append([]string{host}, who.Products...),
	}
}

// proofKey is the request variable in which the crawler matcher finds a proof.
const proofKey = "robots.proof"

// proofWords are the values of that variable. They are made once, so that to set one costs
// no allocation.
var proofWords = [...]any{enforce.Unverified: enforce.Unverified, enforce.Verified: enforce.Verified, enforce.Impostor: enforce.Impostor}

// remember lets the crawler matcher know, by the variables of the request.
func (p proof) remember(all map[string]any) {
	if p.claimed != "" && all != nil {
		all[proofKey] = proofWords[p.status]
	}
}

// proofIn returns what a robots directive that the request with these variables has passed
// found.
func proofIn(all map[string]any) (enforce.Standing, bool) {
	status, ok := all[proofKey].(enforce.Standing)
	return status, ok
}

// impostors says what is done with a client that claims to be a robot it is not. The zero
// value is the default.
type impostors uint8

const (
	impostorsUnnamed impostors = iota
	impostorsRefuse
	impostorsObserve
)

func parseImpostors(word string) (impostors, error) {
	return oneOf(word, map[string]impostors{
		"unnamed": impostorsUnnamed, "refuse": impostorsRefuse, "observe": impostorsObserve,
	}, listImpostors)
}
