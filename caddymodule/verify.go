package caddymodule

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"

	"github.com/caddy-robots/caddy-robots/crawler"
	"github.com/caddy-robots/caddy-robots/internal/enforce"
	"github.com/caddy-robots/caddy-robots/internal/policies"
	"github.com/caddy-robots/caddy-robots/internal/proof"
	"github.com/caddy-robots/caddy-robots/internal/proof/ipranges"
	"github.com/caddy-robots/caddy-robots/internal/proof/webbotauth"
	"github.com/caddy-robots/caddy-robots/internal/storage"
)

// Verify says how robots prove that they are who they say. A claim that cannot be checked in time,
// since a resolver or a list fails, is unverified and refuses nobody.
type Verify struct {
	// Check the robots of the table in this module, whose operators say how to check them. Default:
	// false.
	Known bool `json:"known,omitempty"`

	// Check signatures on requests (Web Bot Auth: HTTP Message Signatures with the tag
	// web-bot-auth) of the signers that the table lists. A request with a valid signature is that
	// robot's, whatever its User-Agent. For a person, a missing or wrong signature changes nothing.
	// Default: false. Name other signers in claims.
	Signature bool `json:"signature,omitempty"`

	// Further robots, or other methods for known ones. Default: none.
	Claims []proof.Claim `json:"claims,omitempty"`
}

// signatures reports whether signatures on requests are looked at.
func (v *Verify) signatures() bool {
	return v != nil && (v.Signature || slices.ContainsFunc(v.Claims, func(c proof.Claim) bool { return len(c.Signers) > 0 }))
}

// addSigners turns on checks of signatures, and adds these signers. The name of such a robot is its
// host.
func (v *Verify) addSigners(texts []string) error {
	v.Signature = true
	for _, text := range texts {
		signers := make(webbotauth.Signers)
		if err := signers.Add(text, "", true); err != nil {
			return fmt.Errorf("verify signature: %w", err)
		}
		for _, s := range signers {
			v.Claims = append(v.Claims, proof.Claim{Token: s.Token, Signers: []string{text}})
		}
	}
	return nil
}

// check returns an error that says what is wrong with the options of verification.
func (v *Verify) check(impostors string) error {
	if v == nil {
		if impostors != "" {
			return errors.New("impostors needs verify, which finds them; remove impostors, or write verify known")
		}
		return nil
	}
	for _, claim := range v.Claims {
		if err := claim.Check(); err != nil {
			return fmt.Errorf("verify %s: %w", claim.Token, err)
		}
	}
	if _, err := proof.Signers(v.Claims, v.Signature); err != nil {
		return fmt.Errorf("verify: %w", err)
	}
	return nil
}

// sharedProver returns what checks the claims of robots: one for all handlers that verify the same.
// There may be thousands, and each list is fetched and held once then.
func (h *Handler) sharedProver() *proof.Prover {
	key, _ := json.Marshal(h.Verify) // texts and booleans
	a := h.app
	a.mu.Lock()
	defer a.mu.Unlock()
	p := a.provers[string(key)]
	if p == nil {
		background, stop := context.WithCancel(context.Background())
		a.leave = append(a.leave, stop)
		if a.provers == nil {
			a.provers = make(map[string]*proof.Prover)
		}
		p = h.newProver(background)
		a.provers[string(key)] = p
	}
	return p
}

// newProver makes what checks the claims of robots; what it does in the background ends with ctx.
func (h *Handler) newProver(ctx context.Context) *proof.Prover {
	var others []proof.Claim
	if h.Verify.Known {
		others = proof.Known()
	}
	claims := proof.Merge(h.Verify.Claims, others)
	lists := &proof.Lists{
		Fetch: h.fetchList, Log: h.ctx.Logger(), Now: h.now,
		Store: storage.NewDocuments(storage.Ranges, h.ctx.Storage(), h.ctx.Logger(), h.now),
	}
	o := proof.Options{Claims: claims, DNS: h.app.dns, Lists: lists}
	if h.Verify.signatures() {
		o.Signatures = oneLook{h.app.signatures}
		o.Signers, _ = proof.Signers(h.Verify.Claims, h.Verify.Signature) // checked with the options
	}
	prover := proof.New(o)
	for _, signer := range o.Signers {
		h.app.counts.Claim(signer.Token)
	}
	for _, claim := range claims {
		h.app.counts.Claim(claim.Token)
	}
	go lists.Run(ctx)
	return prover
}

// fetchList loads a list of addresses, from a file or a URL.
func (h *Handler) fetchList(ctx context.Context, address string, last *storage.Document) (storage.Document, error) {
	if !proof.IsURL(address) {
		doc, err := policies.ReadFile(address, ipranges.MaxSize)
		return storage.Document{Text: doc.Text}, err
	}
	var before *policies.Document
	if last != nil {
		before = &policies.Document{Text: last.Text, ETag: last.ETag, LastModified: last.LastModified}
	}
	doc, err := h.app.policies.Fetch(ctx, address, ipranges.MaxSize, before, h.now())
	return storage.Document{Text: doc.Text, ETag: doc.ETag, LastModified: doc.LastModified}, err
}

// oneLook looks at the signature of a request once: one with a nonce is good for one look only,
// and a request may meet two handlers.
type oneLook struct{ *webbotauth.Verifier }

// looked is what was found, as a variable of the request keeps it.
type looked struct {
	id       string // of the signer
	token    string // its robot's
	standing enforce.Standing
	reason   string
}

// signedIn returns the token of the robot that has signed the request with these variables, "" for
// none.
func signedIn(vars map[string]any) string {
	if found, ok := vars[signatureKey].(looked); ok && found.standing == enforce.Verified {
		return found.token
	}
	return ""
}

// Verify implements proof.Signatures. What another handler could not verify is looked at again, by
// the signers of this one.
func (o oneLook) Verify(ctx context.Context, m webbotauth.Message, signers webbotauth.Signers) (string, enforce.Standing, string) {
	vars, _ := ctx.Value(caddyhttp.VarsCtxKey).(map[string]any)
	found, _ := vars[signatureKey].(looked)
	if found.standing == enforce.Unverified {
		found.id, found.standing, found.reason = o.Verifier.Verify(ctx, m, signers)
		found.token = signers[found.id].Token
		if vars != nil {
			vars[signatureKey] = found
		}
	}
	if _, ok := signers[found.id]; !ok {
		return "", enforce.Unverified, found.reason
	}
	return found.id, found.standing, found.reason
}

// maxUnprovable is how many robots one log line names.
const maxUnprovable = 20

// reportUnprovable says of which robots that are unpaced, or exempt by their purpose, anybody can
// take the name, and with it leave to come as fast as he likes or to fetch what he likes.
func (h *Handler) reportUnprovable() {
	h.reportClaimable("anyone can claim to be a robot that is unpaced", h.settings.Unpaced.Tokens, h.settings.Unpaced.Purposes)
	h.reportClaimable("anyone can claim to be a robot that is exempt", nil, h.settings.Exempt.Purposes)
}

func (h *Handler) reportClaimable(message string, tokens []string, purposes []crawler.Purpose) {
	if len(tokens)+len(purposes) == 0 {
		return // as at most sites, of which there may be thousands
	}
	names := slices.Clone(tokens)
	for _, c := range crawler.Catalogue() {
		if slices.Contains(purposes, c.Purpose) {
			names = append(names, c.Name)
		}
	}
	names = slices.DeleteFunc(names, func(name string) bool {
		_, provable := h.prover.ClaimOf(enforce.RobotCalled(name))
		return provable
	})
	if len(names) > 0 {
		h.log.Warn(message, zap.Int("count", len(names)), zap.Strings("robots", names[:min(len(names), maxUnprovable)]),
			zap.String("instead", `write "verify known", or "verify <name> dns" or "ranges" for those that it does not know; or do not name them`))
	}
}
