// Package webbotauth verifies signatures on requests (Web Bot Auth): HTTP Message Signatures
// (RFC 9421) by a key from the directory of the agent that the request names. A directory that
// cannot be had in time makes nobody an impostor.
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
// that every site on its way has read.
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
	errNoSuchKey    = errors.New("the agent's key directory has no such key")
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
	// Client fetches the key directories. Nil is a client that uses no proxy and connects to
	// public addresses only. A client given here is used with redirects and cookies off; which
	// addresses it may reach is then up to it.
	Client *http.Client
	// Now is the clock; nil is time.Now.
	Now func() time.Time
	// Agents is how many key directories are kept; 0 is 256.
	Agents int
	// Patience is how long one Verify waits for a directory; 0 is 300 ms.
	Patience time.Duration
	// AllowPrivate lets the default client connect to private and loopback addresses, and allows
	// agents that are plain http on a loopback host. It is for tests.
	AllowPrivate bool
}

// Verifier verifies Web Bot Auth: HTTP Message Signatures (RFC 9421) tagged "web-bot-auth",
// made with Ed25519, by a key from the directory of the Signature-Agent
// (draft-meunier-webbotauth-httpsig-protocol). It is safe for concurrent use, and its memory is
// bounded. The zero value and nil verify nothing: every message is Unverified.
type Verifier struct {
	directories *keyDirectories
	nonces      *nonceStore
	now         func() time.Time
	allowHTTP   bool
	// lifetime bounds expires minus created. The published test vectors last a century.
	lifetime time.Duration
}

// New returns a verifier with no directory known yet; each is fetched when an agent is
// first seen.
func New(o Options) *Verifier {
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Verifier{
		directories: newKeyDirectories(o),
		nonces:      newNonceStore(rememberedNonces),
		now:         o.Now,
		allowHTTP:   o.AllowPrivate,
		lifetime:    signatureLifetime,
	}
}

// Verify reports whose signature m carries. The agent is the origin that the Signature-Agent header
// names, such as "https://chatgpt.com": a claim, to be believed only with Verified. It is empty
// when no signature of the kind could be read.
//
// Unverified, with the reason, is a message without a signature of this kind, one that covers
// what is not supported or did not arrive, and one whose directory could not be had in time.
// Impostor, with the reason, is a message that names an agent whose directory is known, where
// the signature is wrong, too old, not yet valid, replayed, valid for too long, covers too
// little, or is by a key that the directory does not hold. The reason for Verified is empty.
//
// A signature with a nonce is Verified once, so ask once for each request. One without a nonce
// may be used again until it expires, as the draft allows.
//
// A message without a Signature-Input header costs two map look-ups and no allocation. Verify
// waits for at most the patience of v and never longer than ctx; it does not fail or panic.
func (v *Verifier) Verify(ctx context.Context, m Message) (agent string, standing enforce.Standing, reason string) {
	if v == nil || v.directories == nil {
		return "", enforce.Unverified, errNotSetUp.Error()
	}
	claim, err := parseClaim(m.Header, v.allowHTTP)
	if err != nil {
		return "", enforce.Unverified, err.Error()
	}
	base, err := signatureBase(m, claim.input)
	if err != nil {
		return claim.agent, enforce.Unverified, err.Error()
	}
	keys, err := v.directories.lookup(ctx, claim.agent, claim.keyID)
	if err != nil {
		return claim.agent, enforce.Unverified, err.Error()
	}
	if err := v.judge(claim, base, keys); err != nil {
		return claim.agent, enforce.Impostor, err.Error()
	}
	return claim.agent, enforce.Verified, ""
}

// judge checks a claim against the keys of the agent it names. The nonce comes last: only a
// signature that is otherwise good may use one up.
func (v *Verifier) judge(c signatureClaim, base []byte, keys *keySet) error {
	now := v.now()
	if err := c.check(now, v.lifetime); err != nil {
		return err
	}
	key, ok := keys.key(c.keyID, now)
	if !ok {
		return errNoSuchKey
	}
	if !ed25519.Verify(key, base, c.signature) {
		return errBadSignature
	}
	if c.nonce != "" && !v.nonces.use(c.agent, c.keyID, c.nonce, now, time.Unix(c.expires, 0)) {
		return errReplayed
	}
	return nil
}
