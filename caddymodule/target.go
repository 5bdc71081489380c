package caddymodule

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// asked is what a client asked for: the request line, before any rewrite.
type asked struct {
	method string
	host   string // without port, in small letters
	target string // path and query as they stood on the request line
	path   string // decoded, as the server understands it
	query  string // raw
}

// askedFor returns what r asked for when it came in.
func askedFor(r *http.Request) asked {
	u, uri := r.URL, r.RequestURI
	if original, ok := r.Context().Value(caddyhttp.OriginalRequestCtxKey).(http.Request); ok {
		u, uri = original.URL, original.RequestURI
	}
	if !strings.HasPrefix(uri, "/") {
		uri = u.RequestURI() // absolute-form, or a request made in a test
	}
	return asked{method: r.Method, host: hostOf(r), target: uri, path: understood(u.Path), query: u.RawQuery}
}

// understood returns a decoded path as the server understands it: /robots.txt is always
// served, also behind doubled slashes and "." segments.
func understood(path string) string {
	before, found := strings.CutSuffix(path, robotsPath)
	if !found {
		return path
	}
	for segment := range strings.SplitSeq(before, "/") {
		if segment != "" && segment != "." && segment != ".." {
			return path
		}
	}
	return robotsPath
}

// otherReading returns the target that a file server would find at a path which names
// another one: through "." and ".." segments, doubled slashes, encoded octets or a "#"
// that is no fragment on a request line. What a server would serve decides, not how it
// was spelt. For an ordinary path there is no other reading.
func (a *asked) otherReading() (target string, ok bool) {
	if !a.peculiar() {
		return "", false
	}
	target = a.encoded(resolve(a.path, foldSlashes))
	return target, target != a.target
}

// otherReadings returns the targets that one server or another would find there, that of
// otherReading first.
func (a *asked) otherReadings() (all []string) {
	if !a.peculiar() {
		return nil
	}
	add := func(target string) {
		if target != a.target && !slices.Contains(all, target) {
			all = append(all, target)
		}
	}
	path := resolve(a.path, foldSlashes)
	add(a.encoded(path))
	// Caddy's file_server finds the file /a at /a/. and /a/b/.., where others find a folder.
	if file, isFolder := strings.CutSuffix(path, "/"); isFolder && file != "" && !strings.HasSuffix(a.path, "/") {
		add(a.encoded(file))
	}
	// Who resolves a URL before decoding it folds no slashes either (RFC 3986, 5.2.4).
	path, _, _ = strings.Cut(a.target, "?")
	path = resolve(dotsAndHashes.Replace(path), keepSlashes)
	add(a.withQuery(path))
	if decoded, err := url.PathUnescape(path); err == nil {
		add(a.encoded(decoded))
	}
	return all
}

// dotsAndHashes decodes dots, which are the same as encoded ones to whoever resolves a URL
// (RFC 3986, 6.2.2.2), and encodes a "#", which begins no fragment on a request line.
var dotsAndHashes = strings.NewReplacer("%2e", ".", "%2E", ".", "#", "%23")

// encoded returns the target of a decoded path, in which every octet stands for itself.
func (a *asked) encoded(path string) string {
	return a.withQuery((&url.URL{Path: path}).EscapedPath())
}

// withQuery returns the target of a path and what was asked of it.
func (a *asked) withQuery(path string) string {
	if a.query == "" {
		return path
	}
	return path + "?" + strings.ReplaceAll(a.query, "#", "%23")
}

// peculiar tells whether the target might be read in another way. It looks for octets only,
// since nearly all targets are ordinary.
func (a *asked) peculiar() bool {
	target := a.target
	if !strings.HasPrefix(target, "/") {
		return true
	}
	for i := range len(target) {
		if !isNotable[target[i]] {
			continue
		}
		switch rest := target[i:]; {
		case rest[0] == '?':
			return strings.IndexByte(rest, '#') >= 0
		case rest[0] == '#', strings.HasPrefix(rest, "//"), strings.HasPrefix(rest, "/."):
			return true
		case rest[0] == '%' && divides(rest):
			return true
		}
	}
	return false
}

// divides tells whether text begins with an encoded slash or dot. Any other octet may be
// encoded or not, and makes no other segment of a path.
func divides(text string) bool {
	return len(text) < 3 || text[1] == '2' && strings.IndexByte("EeFf", text[2]) >= 0
}

// isNotable tells the octets of a target that peculiar looks at.
var isNotable = [256]bool{'?': true, '#': true, '%': true, '/': true}

// slashes says what becomes of empty segments.
type slashes bool

const (
	keepSlashes slashes = false
	foldSlashes slashes = true
)

// resolve removes "." and ".." segments from a path (RFC 3986, 5.2.4), and empty ones where
// slashes are folded. A path that ends in such a segment names a folder and keeps a slash at
// its end.
func resolve(path string, fold slashes) string {
	var kept []string
	folder := false
	for segment := range strings.SplitSeq(strings.TrimPrefix(path, "/"), "/") {
		folder = true
		switch {
		case segment == "..":
			kept = kept[:max(len(kept)-1, 0)]
		case segment == "." || segment == "" && bool(fold):
		default:
			kept, folder = append(kept, segment), false
		}
	}
	resolved := "/" + strings.Join(kept, "/")
	if folder && len(kept) > 0 {
		resolved += "/"
	}
	return resolved
}
