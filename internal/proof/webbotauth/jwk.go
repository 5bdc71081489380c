package webbotauth

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// maxDirectoryKeys bounds the keys of one directory.
const maxDirectoryKeys = 64

// publishedKeys are the public halves of keys whose private halves are printed in RFC 9421 (B.1.4),
// RFC 8037 (A.1) and RFC 8032 (7.1), by thumbprint. Anybody can sign with them.
var publishedKeys = map[string]bool{
	"poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U": true, // RFC 9421, test-key-ed25519
	"kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k": true, // RFC 8037, A.1; RFC 8032, test 1
	"FtIu-VbGrfe_KB6CH7GNwODB72MNxj_ml11dEvO-7kk": true, // RFC 8032, test 2
	"FVV5umTuau890q59V-4Ga_R6qWb7ON_ivJc4EjvCwTM": true, // RFC 8032, test 3
}

// keySet is a directory's keys as they were at one time. It is immutable.
type keySet struct {
	keys    map[string]signingKey // by thumbprint
	fetched time.Time
	expires time.Time // when it is to be fetched again
}

// signingKey is an Ed25519 key and the Unix seconds between which it holds; 0 is no bound.
type signingKey struct {
	public    ed25519.PublicKey
	notBefore int64
	notAfter  int64
}

// key returns the key with a thumbprint, if the set has it and it holds now.
func (s *keySet) key(thumbprint string, now time.Time) (ed25519.PublicKey, bool) {
	k, ok := s.keys[thumbprint]
	if !ok || k.notBefore > now.Add(signatureClockLeeway).Unix() || (k.notAfter != 0 && k.notAfter <= now.Unix()) {
		return nil, false
	}
	return k.public, true
}

// jwk is the part of a JSON Web Key (RFC 7517, RFC 8037) that is read.
type jwk struct {
	Kty string  `json:"kty"`
	Crv string  `json:"crv"`
	X   string  `json:"x"`
	D   string  `json:"d"`
	Use string  `json:"use"`
	Nbf float64 `json:"nbf"`
	Exp float64 `json:"exp"`
}

// parseKeys reads a JWK Set. Keys that are not Ed25519, are not for signing, cannot be read or
// are known to everybody are passed over: they are not the directory's word about the others. The
// "kid" of a key is not read, for its thumbprint is what signatures name.
func parseKeys(text []byte, testKeys bool) (map[string]signingKey, error) {
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.Unmarshal(text, &set); err != nil {
		return nil, errors.New("it is not JSON")
	}
	if set.Keys == nil {
		return nil, errors.New(`it has no list of "keys"`)
	}
	if len(set.Keys) > maxDirectoryKeys {
		return nil, fmt.Errorf("it has %d keys, more than %d", len(set.Keys), maxDirectoryKeys)
	}
	keys := make(map[string]signingKey, len(set.Keys))
	for _, raw := range set.Keys {
		id, key, ok := parseKey(raw)
		if ok && (testKeys || !publishedKeys[id]) {
			keys[id] = key
		}
	}
	return keys, nil
}

// parseKey reads one key. One that comes with its private half ("d") proves nothing.
func parseKey(raw []byte) (thumbprint string, key signingKey, ok bool) {
	var k jwk
	if json.Unmarshal(raw, &k) != nil || k.Kty != "OKP" || k.Crv != "Ed25519" || k.D != "" || (k.Use != "" && k.Use != "sig") {
		return "", key, false
	}
	public, err := base64.RawURLEncoding.DecodeString(k.X)
	if err != nil || len(public) != ed25519.PublicKeySize {
		return "", key, false
	}
	return jwkThumbprint(public), signingKey{public, unixSeconds(k.Nbf), unixSeconds(k.Exp)}, true
}

// jwkThumbprint is the SHA-256 thumbprint of an Ed25519 key (RFC 7638; RFC 8037, appendix A.3).
func jwkThumbprint(public ed25519.PublicKey) string {
	x := base64.RawURLEncoding.EncodeToString(public)
	sum := sha256.Sum256([]byte(`{"crv":"Ed25519","kty":"OKP","x":"` + x + `"}`))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// unixSeconds reads a time of a key. Some directories give milliseconds, Cloudflare's among them;
// as seconds those would be thousands of years away.
func unixSeconds(t float64) int64 {
	const (
		year5138 = 1e11 // in seconds; in milliseconds it is 1973
		atMost   = 1e15
	)
	if t >= year5138 {
		t /= 1000
	}
	return int64(max(0, min(t, atMost)))
}
