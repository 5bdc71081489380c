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
	Tokens   []string          // product tokens, in any case of letters
	Purposes []crawler.Purpose // stand for all robots of the catalogue that have one of them
}

// ParseUnpaced reads the values of the unpaced option: words of purposes, of which there are these
// for a person, and product tokens.
func ParseUnpaced(values []string, purposes string) (u Unpaced, err error) {
	for _, value := range values {
		purpose, isPurpose := crawler.ParsePurpose(value)
		switch {
		case isPurpose:
			u.Purposes = append(u.Purposes, purpose)
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
	return slices.Contains(u.Purposes, c.Purpose) || slices.ContainsFunc(c.Tokens[:min(len(c.Tokens), 1)], u.hasToken)
}

func (u *Unpaced) hasToken(token string) bool {
	return slices.ContainsFunc(u.Tokens, func(t string) bool { return strings.EqualFold(t, token) })
}

// covers reports whether no pace holds for the client: it is one of them, and has proved it where
// its claim can be checked. Else whoever takes Googlebot's name could come as fast as he likes.
func (u *Unpaced) covers(v *Verdict) bool {
	if len(u.Tokens)+len(u.Purposes) == 0 || v.Proof.Claimed != "" && !v.Proof.IsVerified() {
		return false
	}
	return slices.ContainsFunc(u.Tokens, func(token string) bool { return isCalled(v.Who, token) }) ||
		len(u.Purposes) > 0 && u.hasPurposeOf(v.Who)
}

func (u *Unpaced) hasPurposeOf(who *crawler.Identity) bool {
	c, ok := who.Crawler()
	return ok && slices.Contains(u.Purposes, c.Purpose)
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
	return o.TooFast != Observe && !o.Unpaced.Names(c) && (record != "*" || o.Unnamed.Binds(crawler.Robot))
}
