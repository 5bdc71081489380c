package webbotauth

import (
	"errors"
	"net/http"
	"time"

	"github.com/dunglas/httpsfv"
)

// The limits of what is read of a request.
const (
	signatureTag         = "web-bot-auth"
	maxSignatureHeaders  = 8 << 10 // bytes of the three headers together
	maxSignaturesLooked  = 4
	maxSignedComponents  = 32
	maxSignatureBaseSize = 64 << 10
)

// Why a request makes no claim that could be verified.
var (
	errNoSignature    = errors.New("no signature")
	errNoAgent        = errors.New("no Signature-Agent header")
	errHeadersTooLong = errors.New("the signature headers are longer than 8 KiB")
	errMalformed      = errors.New("the signature headers cannot be read")
	errNoTag          = errors.New(`no signature is tagged "web-bot-auth"`)
	errAlgorithm      = errors.New("the algorithm of the signature is not ed25519")
	errNoKeyID        = errors.New("the signature names no key")
	errManyComponents = errors.New("the signature covers more than 32 components")
)

// signatureClaim is one Web Bot Auth signature as its sender states it: nothing of it is proved.
type signatureClaim struct {
	agent            string // identifier of the key directory
	agentCovered     bool
	targetCovered    bool
	keyID            string
	nonce            string // "" if none
	created, expires int64  // Unix seconds
	dated            bool   // created and expires were both stated
	input            httpsfv.InnerList
	signature        []byte
}

// parseClaim reads the first signature tagged "web-bot-auth" among the first four of a request.
func parseClaim(h http.Header) (c signatureClaim, err error) {
	inputs, signatures := h["Signature-Input"], h["Signature"]
	if len(inputs) == 0 || len(signatures) == 0 {
		return c, errNoSignature
	}
	agents := h["Signature-Agent"]
	if totalLen(inputs)+totalLen(signatures)+totalLen(agents) > maxSignatureHeaders {
		return c, errHeadersTooLong
	}
	label, input, err := taggedInput(inputs)
	if err != nil {
		return c, err
	}
	c.input = input
	if c.signature, err = signatureNamed(signatures, label); err != nil {
		return c, err
	}
	if err := c.readParams(input.Params); err != nil {
		return c, err
	}
	if len(agents) == 0 {
		return c, errNoAgent
	}
	c.targetCovered = covers(input, "@authority") || covers(input, "@target-uri")
	c.agent, c.agentCovered, err = claimedAgent(agents, label, input)
	return c, err
}

// taggedInput finds the signature input that counts, and its label.
func taggedInput(inputs []string) (string, httpsfv.InnerList, error) {
	all, err := httpsfv.UnmarshalDictionary(inputs)
	if err != nil {
		return "", httpsfv.InnerList{}, errMalformed
	}
	labels := all.Names()
	for _, label := range labels[:min(len(labels), maxSignaturesLooked)] {
		member, _ := all.Get(label)
		input, ok := member.(httpsfv.InnerList)
		if !ok || stringParam(input.Params, "tag") != signatureTag {
			continue
		}
		if len(input.Items) > maxSignedComponents {
			return "", input, errManyComponents
		}
		return label, input, nil
	}
	return "", httpsfv.InnerList{}, errNoTag
}

// signatureNamed returns the bytes of the signature with a label.
func signatureNamed(signatures []string, label string) ([]byte, error) {
	all, err := httpsfv.UnmarshalDictionary(signatures)
	if err != nil {
		return nil, errMalformed
	}
	member, _ := all.Get(label)
	item, _ := member.(httpsfv.Item)
	signature, ok := item.Value.([]byte)
	if !ok {
		return nil, errMalformed
	}
	return signature, nil
}

// readParams takes what the signature says of itself (RFC 9421, section 2.3).
func (c *signatureClaim) readParams(p *httpsfv.Params) error {
	if alg, stated := p.Get("alg"); stated && alg != "ed25519" {
		return errAlgorithm
	}
	if c.keyID = stringParam(p, "keyid"); c.keyID == "" {
		return errNoKeyID
	}
	c.nonce = stringParam(p, "nonce")
	created, _ := p.Get("created")
	expires, _ := p.Get("expires")
	var hasCreated, hasExpires bool
	c.created, hasCreated = created.(int64)
	c.expires, hasExpires = expires.(int64)
	c.dated = hasCreated && hasExpires
	return nil
}

// check reports what a claim lacks, apart from its key and its signature.
func (c *signatureClaim) check(now time.Time, lifetime time.Duration) error {
	switch {
	case !c.targetCovered:
		return errTargetOpen
	case !c.agentCovered:
		return errAgentOpen
	case !c.dated:
		return errNoExpiry
	case c.created > now.Add(signatureClockLeeway).Unix():
		return errNotYetValid
	case c.expires <= now.Add(-signatureClockLeeway).Unix():
		return errExpired
	case c.expires-c.created > int64(lifetime/time.Second):
		return errLongLived
	}
	return nil
}

// covers reports whether a component without parameters is signed.
func covers(input httpsfv.InnerList, name string) bool {
	for _, item := range input.Items {
		if item.Value == name && len(item.Params.Names()) == 0 {
			return true
		}
	}
	return false
}

// stringParam returns a parameter, or "" where it is absent or no String.
func stringParam(p *httpsfv.Params, name string) string {
	value, _ := p.Get(name)
	text, _ := value.(string)
	return text
}

func totalLen(values []string) (n int) {
	for _, v := range values {
		n += len(v)
	}
	return n
}
