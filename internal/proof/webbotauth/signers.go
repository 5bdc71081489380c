package webbotauth

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strings"
)

// directoryPath is where an origin publishes its keys: what a Signature-Agent without a path means.
const directoryPath = "/.well-known/http-message-signatures-directory"

// maxAgent bounds the bytes of a Signature-Agent and of a URL of keys.
const maxAgent = 512

var errNoDirectory = errors.New("the Signature-Agent is not the https URL of a key directory")

// Signer is one whose signatures count.
type Signer struct {
	// Token is what its robot is called: what a record of robots.txt names.
	Token string

	// URL is its key directory, a JWK Set, as it is fetched.
	URL string

	// Inside reports that it may be at a private address: the owner of the site has named it.
	Inside bool
}

// Signers are those whose signatures count, by the identifier of the draft (section "Key
// Distribution and Discovery"): the normalized URL of the key directory without its query. A request
// leads to one of these URLs or to none, so a stranger chooses no byte of what is fetched. Nil is
// nobody. It must not change while it is in use.
type Signers map[string]Signer

// Add adds a signer by the host of its key directory, such as bots.example.com, or by the https URL
// of its keys. An empty token stands for the host. Where the signer is there already, it stays as it
// is, and so does its token; an error says that text is neither a host nor such a URL, or that
// another token has it.
func (s Signers) Add(text, token string, inside bool) error {
	address := text
	if !strings.Contains(text, "://") {
		address = "https://" + text
	}
	u, err := directoryOf(address)
	if err != nil || (address != text && strings.Contains(text, "/")) || !isHost(u) {
		return fmt.Errorf("%q is no signer; write the host of its key directory, such as bots.example.com, or the https URL of its keys", text)
	}
	if token == "" {
		token = u.Hostname()
	}
	id := identifier(u)
	if other, ok := s[id]; ok {
		if inside && other.Inside && !strings.EqualFold(other.Token, token) {
			return fmt.Errorf("%s signs for %s already; write it once", text, other.Token)
		}
		return nil
	}
	s[id] = Signer{Token: token, URL: u.String(), Inside: inside}
	return nil
}

// isHost reports whether the host of a URL is one that a signer can have: a word alone is more
// likely to be the name of a robot.
func isHost(u *url.URL) bool {
	return strings.ContainsAny(u.Host, ".:") || u.Hostname() == "localhost"
}

// directoryOf returns the URL of the keys that an absolute https URL stands for, normalized (RFC
// 3986, sections 6.2.2 and 6.2.3). That it maps some spellings to one that servers may tell apart
// does no harm: only URLs of [Signers] are fetched, as they are written there.
func directoryOf(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || len(text) > maxAgent || u.Scheme != "https" || u.User != nil || strings.ContainsAny(text, "#@") {
		return nil, errNoDirectory
	}
	host := hostName(u.Hostname())
	if host == "" {
		return nil, errNoDirectory
	}
	if port := u.Port(); port != "" && port != "443" {
		host += ":" + port
	}
	clean := u.JoinPath()
	path := clean.Path
	if path == "" || path == "/" {
		path = directoryPath
	}
	return &url.URL{Scheme: "https", Host: host, Path: path, RawQuery: u.RawQuery}, nil
}

// identifier is the URL of a key directory without its query.
func identifier(directory *url.URL) string {
	id := *directory
	id.RawQuery = ""
	return id.String()
}

// hostName returns a host in one spelling, ready for a URL, or "" for what is not one.
func hostName(host string) string {
	if addr, err := netip.ParseAddr(host); err == nil {
		switch {
		case addr.Zone() != "":
			return ""
		case addr.Is6():
			return "[" + addr.String() + "]"
		}
		return addr.String()
	}
	host = strings.ToLower(host)
	for label := range strings.SplitSeq(host, ".") {
		if label == "" || strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
			return ""
		}
	}
	return host
}
