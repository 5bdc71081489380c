package proof

import (
	"context"
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"

	"github.com/caddy-robots/caddy-robots/crawler"
	"github.com/caddy-robots/caddy-robots/internal/enforce"
	"github.com/caddy-robots/caddy-robots/internal/proof/dns"
	"github.com/caddy-robots/caddy-robots/internal/proof/ipranges"
	"github.com/caddy-robots/caddy-robots/internal/proof/webbotauth"
	"github.com/caddy-robots/caddy-robots/robotsrules"
)

// Options says what a Prover checks, and whom it asks.
type Options struct {
	Claims     []Claim            // each token once
	DNS        *dns.Verifier      // for claims with domains
	Lists      *Lists             // for claims with ranges
	Signatures Signatures         // nil: signatures are not looked at
	Signers    webbotauth.Signers // whose signatures count
}

// Signatures verifies what robots sign. A [webbotauth.Verifier] does.
type Signatures interface {
	Verify(ctx context.Context, m webbotauth.Message, signers webbotauth.Signers) (id string, standing enforce.Standing, reason string)
}

// Prover checks whether clients are who they say. It is safe for concurrent use; a nil one
// checks nobody.
type Prover struct {
	claims     []claim
	tokens     *robotsrules.Tokens // of the claims
	recent     [64]atomic.Pointer[recentRobot]
	dns        *dns.Verifier
	signatures Signatures
	signers    webbotauth.Signers
}

var _ enforce.Prover = (*Prover)(nil)

// claim is a Claim ready to be checked.
type claim struct {
	token    string
	suffixes []string
	lists    []*list       // the owner's own ranges too
	written  *ipranges.Set // the owner's own ranges; nil for none
	reasons  reasons
}

// reasons say why a claim is not verified. They are made once.
type reasons struct{ impostor, doubtful, forgeable, proxied, early, alone string }

func newReasons(token string) reasons {
	claim := "claims to be " + token + ", "
	return reasons{
		impostor:  claim + "but its address is not one of that robot's",
		doubtful:  claim + "but its address is not one of that robot's, and no proxy's that this site trusts",
		forgeable: claim + "but its address is the first of several, which anybody can write",
		early:     claim + "which nothing shows yet: it came in early data",
		alone:     claim + "but its name server does not say so, while others answer",
		proxied:   claim + "which nothing shows: its address is not known, as it comes through a proxy",
	}
}

// recentRobot is what a robot that came lately claims, nil for nothing.
type recentRobot struct {
	robot uint64 // crawler.Identity.Hash
	claim *claim
}

// New returns a Prover. The claims must be valid.
func New(o Options) *Prover {
	p := &Prover{dns: o.DNS, signatures: o.Signatures, signers: o.Signers}
	var tokens []string
	for _, c := range o.Claims {
		tokens = append(tokens, c.Token)
		written, _ := inline(c.Ranges)
		p.claims = append(p.claims, claim{
			token: c.Token, suffixes: c.DNS, lists: o.Lists.of(c.Ranges), written: written, reasons: newReasons(c.Token),
		})
	}
	p.tokens = robotsrules.NewTokens(tokens, robotsrules.MatchSubstring)
	return p
}

// Prove implements enforce.Prover. It checks the name of a robot against its address and its
// signature: either proves it. Where it claims no name that can be checked by an address, it is who
// signs.
func (p *Prover) Prove(ctx context.Context, r enforce.Request, who *crawler.Identity) enforce.Proof {
	signed := p.Signer(ctx, r)
	c := p.claimOf(who)
	if c == nil {
		if signed.IsVerified() && isSibling(who, signed.Claimed) {
			return enforce.Proof{}
		}
		return signed
	}
	proof := p.check(ctx, c, &r)
	if !proof.IsVerified() && signed.IsVerified() && strings.EqualFold(signed.Claimed, c.token) {
		return signed
	}
	return proof
}

// isSibling reports whether a robot calls itself by another name of the operator whose robot the
// token is. Its signature does not make the one of the other: it stays what it says it is.
func isSibling(who *crawler.Identity, token string) bool {
	called, ok := who.Crawler()
	signer, known := crawler.Find(token)
	return ok && known && called.Operator == signer.Operator && called.Name != signer.Name
}

// Signer implements enforce.Prover. It returns whose signature the request carries. One of which
// nothing is known claims nothing.
func (p *Prover) Signer(ctx context.Context, r enforce.Request) enforce.Proof {
	if p == nil || p.signatures == nil || len(r.Header["Signature-Agent"]) == 0 || len(r.Header["Signature"]) == 0 {
		return enforce.Proof{}
	}
	path, query, _ := strings.Cut(r.Target, "?")
	id, standing, reason := p.signatures.Verify(ctx, webbotauth.Message{
		Method: r.Method, Authority: r.Authority, Scheme: r.Scheme, Path: path, RawQuery: query, Header: http.Header(r.Header),
	}, p.signers)
	if standing == enforce.Unverified {
		return enforce.Proof{}
	}
	token := p.signers[id].Token
	proof := enforce.Proof{Claimed: token, Signed: true, Standing: standing}
	if standing == enforce.Impostor {
		proof.Reason = "signs as " + token + ", but " + reason
	}
	return proof
}

// ClaimOf returns the token that a robot claims by its name; not ok if it claims none that can
// be checked.
func (p *Prover) ClaimOf(who *crawler.Identity) (token string, ok bool) {
	if c := p.claimOf(who); c != nil {
		return c.token, true
	}
	return "", false
}

// claimOf is ClaimOf; nil if the robot claims nothing. To look for hundreds of tokens in a
// User-Agent takes longer than all the rest of a decision, so it is done once.
func (p *Prover) claimOf(who *crawler.Identity) *claim {
	if p == nil || who.Class != crawler.Robot && who.Class != crawler.Service {
		return nil
	}
	slot := &p.recent[who.Hash%uint64(len(p.recent))]
	if recent := slot.Load(); recent != nil && recent.robot == who.Hash && who.Hash != 0 {
		return recent.claim
	}
	recent := &recentRobot{robot: who.Hash}
	if i, ok := p.tokens.Find(robotsrules.Robot{UserAgent: who.Text, Name: who.Name, Products: who.Products}); ok {
		recent.claim = &p.claims[i]
	}
	slot.Store(recent)
	return recent.claim
}

// Check reports whether a request comes from the robot of the claim on a token. It waits for the
// name server as long as a request may, and no longer than ctx. Where the address proves nothing,
// or the token is not one of the claims, that is Unverified.
func (p *Prover) Check(ctx context.Context, token string, r enforce.Request) enforce.Standing {
	return p.check(ctx, p.named(token), &r).Standing
}

// CheckAtOnce is Check without any wait. Where Check may find out more, pending is true.
func (p *Prover) CheckAtOnce(token string, r enforce.Request) (standing enforce.Standing, pending bool) {
	c := p.named(token)
	standing = p.check(atOnce, c, &r).Standing
	return standing, standing != enforce.Verified && c != nil && len(c.suffixes) > 0 && !p.dns.Knows(r.Evidence())
}

// atOnce is the context of a check that does not wait.
var atOnce = func() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}()

func (p *Prover) named(token string) *claim {
	for i := range p.claims {
		if p.claims[i].token == token {
			return &p.claims[i]
		}
	}
	return nil
}

// check checks a claim against where the request came from.
func (p *Prover) check(ctx context.Context, c *claim, r *enforce.Request) enforce.Proof {
	if c == nil {
		return enforce.Proof{}
	}
	proof := enforce.Proof{Claimed: c.token}
	if c.written != nil && c.written.Contains(r.OwnEvidence()) {
		proof.Standing = enforce.Verified
		return proof
	}
	switch addr := r.Evidence(); {
	case addr.IsValid():
		proof.Standing, proof.Doubted = p.checkAddress(ctx, c, addr)
	case r.EarlyData:
		proof.Reason = c.reasons.early
	case r.Origin.Kind == enforce.Forgeable:
		proof.Doubted, proof.Reason = true, c.reasons.forgeable
	default:
		proof.Reason = c.reasons.proxied
	}
	switch {
	case proof.Standing == enforce.Impostor && r.Origin.Kind == enforce.Doubtful:
		proof.Standing, proof.Doubted, proof.Reason = enforce.Unverified, true, c.reasons.doubtful
	case proof.Standing == enforce.Impostor:
		proof.Reason = c.reasons.impostor
	case proof.Doubted && proof.Reason == "":
		proof.Reason = c.reasons.alone
	}
	return proof
}

// checkAddress checks a claim against an address. A list that is loaded and says no stands, whatever
// the name servers of the address do.
func (p *Prover) checkAddress(ctx context.Context, c *claim, addr netip.Addr) (standing enforce.Standing, doubted bool) {
	standing = enforce.Impostor
	for _, list := range c.lists {
		switch ranges := list.current.Load(); {
		case ranges == nil:
			standing = enforce.Unverified
		case ranges.Contains(addr):
			return enforce.Verified, false
		}
	}
	if len(c.suffixes) == 0 {
		return standing, false
	}
	switch found := p.dns.Check(ctx, addr, c.suffixes); {
	case found == enforce.Verified:
		return found, false
	case found == enforce.Unverified && (len(c.lists) == 0 || standing == enforce.Unverified):
		return found, p.dns.Doubts(addr)
	}
	return standing, false
}
