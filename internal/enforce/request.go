package enforce

import (
	"bytes"
	"net/url"
	"slices"
	"strings"
	"time"
)

// RobotsTxt is the path of the rules (RFC 9309, section 2.3).
const RobotsTxt = "/robots.txt"

// Request is what a decision needs to know of one request, filled once where it comes in. It is
// a plain value.
type Request struct {
	Method    string
	Scheme    string // "http" or "https", as the client used it; read for signatures and traps only
	Host      string // without port, in small letters
	Site      string // whose paces, bans and traps count: the host, with the listener's port where it is no default one
	Authority string // the Host header as it came
	Target    string // path and query as they stood on the request line
	Path      string // decoded, as ServedPath has it
	Query     string // raw

	UserAgent string              // the one that decides; "" for none
	Header    map[string][]string // by canonical names, such as "User-Agent"; may be nil

	Peer      string // the address at the other end of the connection, for Origins
	Origin    Origin // where it came from; where the engine has Origins, it is found out when it matters
	EarlyData bool   // it came before the TLS handshake was complete: no address is proved

	located bool // Origin is found out

	At      time.Time // when it came
	Counted bool      // a decision before this one has counted it against a pace
	CanWait bool      // it may be held until its time
}

// header returns the first value of a header, by its canonical name.
func (r *Request) header(name string) string {
	if values := r.Header[name]; len(values) > 0 {
		return values[0]
	}
	return ""
}

// challengePath is where a validator of certificates finds what it has asked for (RFC 8555,
// section 8.3).
const challengePath = "/.well-known/acme-challenge/"

// IsForRules reports whether r fetches /robots.txt: with GET or HEAD, and without a query, behind
// which an application may have another page. Such a request is never judged.
func (r *Request) IsForRules() bool {
	return r.Path == RobotsTxt && r.Query == "" && r.fetches()
}

// fetches reports whether the method of r fetches something (RFC 9110, section 9.2.1).
func (r *Request) fetches() bool { return r.Method == "GET" || r.Method == "HEAD" }

// IsChallenge reports whether r asks for the answer to an ACME challenge: with GET or HEAD, without
// a query, and for one token of the base64url alphabet, so that no server can read the path in
// another way. Such a request is never judged.
func (r *Request) IsChallenge() bool {
	token, ok := strings.CutPrefix(r.Target, challengePath)
	if !ok || token == "" || !r.fetches() {
		return false
	}
	return strings.Trim(token, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_") == ""
}

// ServedPath returns a decoded path as the server understands it: /robots.txt is always
// served, also behind doubled slashes and "." segments.
func ServedPath(path string) string {
	before, found := strings.CutSuffix(path, RobotsTxt)
	if !found {
		return path
	}
	for segment := range strings.SplitSeq(before, "/") {
		if segment != "" && segment != "." && segment != ".." {
			return path
		}
	}
	return RobotsTxt
}

// SetTarget fills Target, Path and Query from the target of a request line, which begins with a
// slash. It reports whether a server would pass such a request on: one with a percent sign that
// encodes nothing is refused (400) before anything else looks at it.
func (r *Request) SetTarget(target string) bool {
	path, query, _ := strings.Cut(target, "?")
	r.Target, r.Path, r.Query = target, path, query
	decoded, err := url.PathUnescape(path)
	if err != nil {
		return false
	}
	r.Path = ServedPath(decoded)
	return true
}

// FileTarget returns the target that a file server would find at a path which names another
// one: through "." and ".." segments, doubled slashes, encoded bytes or a "#" that is no
// fragment on a request line. What a server would serve decides, not how it was spelt. For an
// ordinary path it is the target itself.
func (r *Request) FileTarget() string {
	if !r.isPeculiar() {
		return r.Target
	}
	return r.encoded(resolve(r.Path, foldSlashes))
}

// OtherTargets returns what one server or another may take the target for, besides the target
// itself; nil for an ordinary path. A file server's reading comes first.
func (r *Request) OtherTargets() (all []string) {
	if !r.isPeculiar() {
		return nil
	}
	add := func(target string) {
		if target == r.Target || slices.Contains(all, target) {
			return
		}
		if all == nil {
			all = make([]string, 0, 4)
		}
		all = append(all, target)
	}
	path := resolve(r.Path, foldSlashes)
	add(r.encoded(path))
	// Caddy's file_server finds the file /a at /a/. and /a/b/.., where others find a folder.
	if file, isFolder := strings.CutSuffix(path, "/"); isFolder && file != "" && !strings.HasSuffix(r.Path, "/") {
		add(r.encoded(file))
	}
	// A server that resolves a URL before it decodes it folds no slashes (RFC 3986, section 5.2.4).
	byURL := func(path string) {
		path = resolve(decodeDots(path), keepSlashes)
		add(r.withQuery(path))
		if decoded, err := url.PathUnescape(path); err == nil {
			add(r.encoded(decoded))
			if decoded != r.Path { // whose reading is there
				add(r.encoded(resolve(decoded, foldSlashes)))
			}
		}
	}
	path, _, _ = strings.Cut(r.Target, "?")
	byURL(path)
	if behind, ok := behindHost(path); ok {
		byURL(behind)
	}
	return all
}

// behindHost returns what a path is to an application that takes it for a reference to a URL: two
// slashes at its beginning introduce a host (RFC 3986, section 4.2). So do PHP's parse_url and the
// URL class of JavaScript, which skips further slashes too.
func behindHost(path string) (behind string, ok bool) {
	rest, ok := strings.CutPrefix(path, "//")
	if !ok {
		return "", false
	}
	_, behind, _ = strings.Cut(strings.TrimLeft(rest, "/"), "/")
	return "/" + behind, true
}

// decodeDots decodes dots, which are the same as encoded ones to whoever resolves a URL
// (RFC 3986, section 6.2.2.2), and encodes a "#", which begins no fragment on a request line.
func decodeDots(path string) string {
	if strings.IndexByte(path, '%') < 0 && strings.IndexByte(path, '#') < 0 {
		return path // without an allocation
	}
	return dotsAndHashes.Replace(path)
}

var dotsAndHashes = strings.NewReplacer("%2e", ".", "%2E", ".", "#", "%23")

// encoded returns the target of a decoded path, in which every byte stands for itself.
func (r *Request) encoded(path string) string {
	return r.withQuery((&url.URL{Path: path}).EscapedPath())
}

// withQuery returns the target of a path with the query of the request.
func (r *Request) withQuery(path string) string {
	if r.Query == "" {
		return path
	}
	return path + "?" + strings.ReplaceAll(r.Query, "#", "%23")
}

// isPeculiar reports whether the target might be read in another way. It looks at single bytes,
// since nearly all targets are ordinary.
func (r *Request) isPeculiar() bool {
	target := r.Target
	if !strings.HasPrefix(target, "/") {
		return true
	}
	for i := 1; i < len(target); i++ {
		c := target[i]
		if !isNotable[c] {
			continue
		}
		switch {
		case c == '?':
			return strings.IndexByte(target[i:], '#') >= 0
		case c == '#', c != '%' && target[i-1] == '/', c == '%' && isEncodedDivider(target[i:]):
			return true
		}
	}
	return false
}

// isEncodedDivider reports whether text begins with an encoded slash or dot. Any other byte may
// be encoded or not, and makes no other segment of a path.
func isEncodedDivider(text string) bool {
	return len(text) < 3 || text[1] == '2' && strings.IndexByte("EeFf", text[2]) >= 0
}

// isNotable marks the bytes of a target that isPeculiar looks at: a slash and a dot matter behind a slash.
var isNotable = [256]bool{'?': true, '#': true, '%': true, '/': true, '.': true}

// slashes says what becomes of empty segments.
type slashes bool

const (
	keepSlashes slashes = false
	foldSlashes slashes = true
)

// resolve removes "." and ".." segments from a path (RFC 3986, section 5.2.4), and empty ones
// where slashes are folded. A path that ends in such a segment names a folder and keeps a slash
// at its end.
func resolve(path string, fold slashes) string {
	var buffer [256]byte // most paths are shorter, and cost one allocation
	kept := buffer[:0]   // each segment behind its slash
	folder := false
	for segment := range strings.SplitSeq(strings.TrimPrefix(path, "/"), "/") {
		folder = true
		switch {
		case segment == "..":
			kept = kept[:max(bytes.LastIndexByte(kept, '/'), 0)]
		case segment == "." || segment == "" && bool(fold):
		default:
			kept, folder = append(append(kept, '/'), segment...), false
		}
	}
	if folder || len(kept) == 0 {
		kept = append(kept, '/')
	}
	if string(kept) == path {
		return path
	}
	return string(kept)
}
