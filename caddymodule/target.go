package caddymodule

import (
	"net/http"
	"net/url"
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
	return asked{method: r.Method, host: hostOf(r), target: uri, path: u.Path, query: u.RawQuery}
}

// otherReading returns the target that a file server would find at a path which names
// another one: through "." and ".." segments, doubled slashes, encoded octets or a "#"
// that is no fragment on a request line. What a server would serve decides, not how it
// was spelt. For an ordinary path there is no other reading.
func (a *asked) otherReading() (target string, ok bool) {
	if !a.peculiar() {
		return "", false
	}
	// Encoded again, so that every octet stands for itself.
	target = (&url.URL{Path: resolve(a.path)}).EscapedPath()
	if a.query != "" {
		target += "?" + a.query
	}
	return target, target != a.target
}

// peculiar tells whether the path might name another one. It looks for octets only, since
// nearly all paths are ordinary.
func (a *asked) peculiar() bool {
	path := a.target
	if query := strings.IndexByte(path, '?'); query >= 0 {
		path = path[:query]
	}
	return strings.IndexByte(path, '%') >= 0 || strings.IndexByte(path, '#') >= 0 ||
		strings.Contains(path, "//") || strings.Contains(path, "/.")
}

// resolve removes empty, "." and ".." segments from a decoded path (RFC 3986, 5.2.4). A
// path that ends in such a segment names a folder and keeps a slash at its end.
func resolve(path string) string {
	var kept []string
	last := ""
	for last = range strings.SplitSeq(path, "/") {
		switch last {
		case "", ".":
		case "..":
			kept = kept[:max(len(kept)-1, 0)]
		default:
			kept = append(kept, last)
		}
	}
	resolved := "/" + strings.Join(kept, "/")
	if folder := last == "" || last == "." || last == ".."; folder && len(kept) > 0 {
		resolved += "/"
	}
	return resolved
}
