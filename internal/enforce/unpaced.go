package enforce

import (
	"fmt"
	"slices"
	"strings"

	"github.com/caddy-robots/caddy-robots/crawler"
)

// Unpaced are the robots that are held to the paths and hours of their record, not to a pace. The
// zero value is nobody. It is immutable and safe for concurrent use.
type Unpaced struct {
	Tokens []string // product tokens, in any case of letters
	Kinds
}

// Kinds are kinds of robots that an option speaks of by one word each. The zero value is none. It is
// immutable and safe for concurrent use.
type Kinds struct {
	Purposes []crawler.Purpose // stand for all robots of the catalogue that have one of them
	Verified bool              // those that have proved who they are
}

// add takes up the word of a kind, in any case of letters. It reports whether there is one.
func (k *Kinds) add(word string) bool {
	purpose, isPurpose := crawler.ParsePurpose(word)
	if isPurpose {
		k.Purposes = append(k.Purposes, purpose)
	}
	isVerified := strings.EqualFold(word, Verified.String())
	k.Verified = k.Verified || isVerified
	return isPurpose || isVerified
}

// isNone reports whether there are no kinds. It saves most requests a call.
func (k *Kinds) isNone() bool { return len(k.Purposes) == 0 && !k.Verified }

// covers reports whether the client is of one of the kinds. Where its claim can be checked it has to
// be proved: else whoever takes Googlebot's name could have what Googlebot has.
func (k *Kinds) covers(v *Verdict) bool {
	switch {
	case v.Proof.IsVerified():
		return k.Verified || k.hasPurposeOf(v.Who)
	case v.Proof.Claimed != "":
		return false
	}
	return k.hasPurposeOf(v.Who)
}

// Names reports whether a crawler of the catalogue may be of one of the kinds.
func (k *Kinds) Names(c *crawler.Crawler) bool {
	return slices.Contains(k.Purposes, c.Purpose) || k.Verified && c.IsVerifiable()
}

func (k *Kinds) hasPurposeOf(who *crawler.Identity) bool {
	if len(k.Purposes) == 0 {
		return false
	}
	c, ok := who.Crawler()
	return ok && slices.Contains(k.Purposes, c.Purpose)
}

// ParseUnpaced reads the values of the unpaced option: the word verified, words of purposes, of which
// there are these for a person, and product tokens.
func ParseUnpaced(values []string, purposes string) (u Unpaced, err error) {
	for _, value := range values {
		switch {
		case u.add(value):
		case len(strings.TrimSpace(value)) < 3 || strings.ContainsAny(value, "/*;()"):
			return Unpaced{}, fmt.Errorf("unpaced: %q is no robot's name; write one such as Googlebot, without a version, or a purpose: %s", value, purposes)
		default:
			u.Tokens = append(u.Tokens, value)
		}
	}
	return u, nil
}

// Names reports whether a crawler of the catalogue is one of them.
func (u *Unpaced) Names(c *crawler.Crawler) bool {
	return u.Kinds.Names(c) || slices.ContainsFunc(c.Tokens[:min(len(c.Tokens), 1)], u.hasToken)
}

func (u *Unpaced) hasToken(token string) bool {
	return slices.ContainsFunc(u.Tokens, func(t string) bool { return strings.EqualFold(t, token) })
}

// covers reports whether no pace holds for the client: it is one of them, and has proved it where
// its claim can be checked.
func (u *Unpaced) covers(v *Verdict) bool {
	if len(u.Tokens) == 0 && u.isNone() {
		return false
	}
	isNamed := (v.Proof.Claimed == "" || v.Proof.IsVerified()) &&
		slices.ContainsFunc(u.Tokens, func(token string) bool { return isCalled(v.Who, token) })
	return isNamed || u.Kinds.covers(v)
}

// isCalled reports whether a client's name is the token, or begins with it and a "-": Googlebot-Image
// is called Googlebot too.
func isCalled(who *crawler.Identity, token string) bool {
	n := len(token)
	return len(who.Key) >= n && strings.EqualFold(who.Key[:n], token) && (len(who.Key) == n || who.Key[n] == '-')
}

// Paces reports whether a crawler that is bound by the record with this token is held to the pace
// of that record.
func (o *Options) Paces(c *crawler.Crawler, record string) bool {
	return o.TooFast != Observe && !o.Unpaced.Names(c) && !o.Exempt.Names(c) && (record != "*" || o.Unnamed.Binds(crawler.Robot))
}
