// Package webbotauth verifies signatures on requests (Web Bot Auth): HTTP Message Signatures
// (RFC 9421) by a key from the directory of the signer that the request names, as
// draft-ietf-webbotauth-httpsig-protocol-01 has it. Only directories of signers that are listed are
// fetched. One that cannot be had in time makes nobody an impostor.
package webbotauth

import (
	"context"
	"crypto/ed25519"
	"errors"
	"net/http"
	"time"

	"github.com/caddy-robots/caddy-robots/internal/enforce"
)

// The limits of a Web Bot Auth signature in time. The draft recommends at most a day between
// created and expires; here that is a rule, for a signature that holds longer is a password
// that every site on its way has read. The clock of a signer may be a minute off, either way.
const (
	signatureClockLeeway = time.Minute
	signatureLifetime    = 24 * time.Hour
)

// Why a signature proves nothing, or proves its sender to be another.
var (
	errNotYetValid  = errors.New("the signature was made in the future")
	errExpired      = errors.New("the signature has expired")
	errNoExpiry     = errors.New("the signature does not say when it was made and when it expires")
	errLongLived    = errors.New("the signature is valid for more than 24 hours")
	errTargetOpen   = errors.New("the signature covers neither @authority nor @target-uri")
	errAgentOpen    = errors.New("the signature does not cover Signature-Agent")
	errStranger     = errors.New("the Signature-Agent is no signer that is listed")
	errBadSignature = errors.New("the signature does not fit the request")
	errReplayed     = errors.New("the nonce was used before")
	errNotSetUp     = errors.New("signatures are not verified")
)

// Message is what of a request a signature may cover.
type Message struct {
	// Method is the request method as sent, such as "GET".
	Method string
	// Authority is the host, and the port if one was sent, as in the Host header.
	Authority string
	// Scheme is "http" or "https", as the client used it.
	Scheme string
	// Path is the path as on the request line, percent-encoding untouched.
	Path string
	// RawQuery is what follows the first "?" of the request line, without it. A bare "?" at the
	// end cannot be told from none.
	RawQuery string
	// Header holds the request's fields under their canonical names.
	Header http.Header
}

// Options says how signatures are verified. The zero value is ready to use.
type Options struct {
	// Client fetches the key directories, with redirects and cookies off; which addresses it may
	// reach is up to it. Nil is a client that uses no proxy and connects to public addresses only,
	// and to private ones for signers inside.
	Client *http.Client
	// Now is the clock; nil is time.Now.
	Now func() time.Time
	// Patience is how long one Verify waits for a directory; 0 is 300 ms.
	Patience time.Duration
	// Failed is told of a key directory that could not be fetched, once until it can be; nil tells
	// nobody. It must not block.
	Failed func(url string, err error)
}

// Verifier verifies Web Bot Auth: HTTP Message Signatures (RFC 9421) tagged "web-bot-auth", made with
// Ed25519, by a key from the directory of the Signature-Agent. It is safe for concurrent use, and its
// memory is bounded by the signers that it is told of. The zero value and nil verify nothing: every
// message is Unverified.
type Verifier struct {
	directories *keyDirectories
	nonces      *nonceStore
	now         func() time.Time
	// lifetime bounds expires minus created. The published test vectors last a century.
	lifetime time.Duration
}

// New returns a verifier with no directory known yet; each is fetched when its signer first comes.
func New(o Options) *Verifier {
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Verifier{
		directories: newKeyDirectories(o),
		nonces:      newNonceStore(rememberedNonces),
		now:         o.Now,
		lifetime:    signatureLifetime,
	}
}

// Verify reports which of the signers has signed m, by its identifier: a claim, to be believed only
// with Verified. It is empty when m has no signature of the kind, or a stranger's.
//
// Unverified, with the reason, is a message without a signature of this kind, a stranger's, one that
// covers what is not supported or did not arrive, and one whose key could not be had in time or is
// not in the directory. Impostor, with the reason, is a message that names a signer and a key of
// it, where the signature is wrong, too old, not yet valid, replayed, valid for too long, or covers
// too little. The reason for Verified is empty.
//
// A signature with a nonce is Verified once, so ask once for each request. One without a nonce
// may be used again until it expires, as the draft allows.
//
// A message without a Signature-Input header costs two map look-ups and no allocation. Verify
// waits for at most the patience of v and never longer than ctx; it does not fail or panic.
func (v *Verifier) Verify(ctx context.Context, m Message, signers Signers) (id string, standing enforce.Standing, reason string) {
	if v == nil || v.directories == nil {
		return "", enforce.Unverified, errNotSetUp.Error()
	}
	claim, err := parseClaim(m.Header)
	if err != nil {
		return "", enforce.Unverified, err.Error()
	}
	signer, ok := signers[claim.agent]
	if !ok {
		return "", enforce.Unverified, errStranger.Error()
	}
	base, err := signatureBase(m, claim.input)
	if err != nil {
		return claim.agent, enforce.Unverified, err.Error()
	}
	key, err := v.directories.lookup(ctx, place{signer.URL, signer.Inside}, claim.keyID)
	if err != nil {
		return claim.agent, enforce.Unverified, err.Error()
	}
	if err := v.judge(claim, base, key); err != nil {
		return claim.agent, enforce.Impostor, err.Error()
	}
	return claim.agent, enforce.Verified, ""
}

// judge checks a claim against the key that it names. The nonce comes last: only a signature that is
// otherwise good may use one up.
func (v *Verifier) judge(c signatureClaim, base []byte, key ed25519.PublicKey) error {
	now := v.now()
	if err := c.check(now, v.lifetime); err != nil {
		return err
	}
	if !ed25519.Verify(key, base, c.signature) {
		return errBadSignature
	}
	if c.nonce != "" && !v.nonces.use(c.agent, c.keyID, c.nonce, now, time.Unix(c.expires, 0).Add(signatureClockLeeway)) {
		return errReplayed
	}
	return nil
}
