package integration

import (
	"fmt"
	"net"
	"net/http"
	"net/http/fcgi"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// marker begins the body of each page; the page's own path follows. What a back end served
// shows in nothing else.
const marker = "page "

// pages are those of the back ends behind a proxy, by their decoded paths. A folder is
// named by its index.
type pages map[string]bool

// A reading finds the path that a back end takes a request target for. The empty path is
// one that it refuses.
type reading func(target string) string

// behind is a back end that serves what a reading of the request target finds.
func behind(p pages, read reading) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		target, _, _ := strings.Cut(r.RequestURI, "?")
		path := read(target)
		if strings.HasSuffix(path, "/") {
			path += "index.html"
		}
		if !p[path] {
			http.NotFound(w, r)
			return
		}
		fmt.Fprint(w, marker+path)
	}
}

// likeNginx decodes, then folds slashes and resolves "." and "..", as nginx finds the URI
// that its locations are for.
func likeNginx(target string) string {
	path, err := url.PathUnescape(target)
	if err != nil || strings.Contains(path, "\x00") {
		return ""
	}
	var kept []string
	parts := strings.Split(path, "/")[1:]
	for i, part := range parts {
		last := i == len(parts)-1
		switch part {
		case "", ".":
		case "..":
			if len(kept) == 0 {
				return ""
			}
			kept = kept[:len(kept)-1]
		default:
			kept = append(kept, part)
			continue
		}
		if last {
			kept = append(kept, "")
		}
	}
	return "/" + strings.Join(kept, "/")
}

// likeReference takes a target for a reference to a URL, as new URL(request.url, base) of
// JavaScript does: two slashes at its beginning, or more, introduce a host.
func likeReference(target string) string {
	if rest, ok := strings.CutPrefix(target, "//"); ok {
		_, path, _ := strings.Cut(strings.TrimLeft(rest, "/"), "/")
		target = "/" + path
	}
	return likeURL(target)
}

// likeURL resolves "." and ".." before it decodes, and folds no slashes: RFC 3986, 5.2.4,
// and the path of the URL class of browsers, Node.js and Deno.
func likeURL(target string) string {
	var kept []string
	parts := strings.Split(target, "/")[1:]
	for i, part := range parts {
		last := i == len(parts)-1
		switch strings.ReplaceAll(strings.ToLower(part), "%2e", ".") {
		case ".":
		case "..":
			kept = kept[:max(len(kept)-1, 0)]
		default:
			kept = append(kept, part)
			continue
		}
		if last {
			kept = append(kept, "")
		}
	}
	path, err := url.PathUnescape("/" + strings.Join(kept, "/"))
	if err != nil {
		return ""
	}
	return path
}

// likeServlets drops the parameters of each segment (RFC 3986, 3.3), as servlet containers
// do, and takes backslashes for slashes, as those on Windows do.
func likeServlets(target string) string {
	target = strings.NewReplacer("%5c", "/", "%5C", "/", `\`, "/").Replace(target)
	parts := strings.Split(target, "/")
	for i, part := range parts {
		parts[i], _, _ = strings.Cut(part, ";")
	}
	return likeNginx(strings.Join(parts, "/"))
}

// muxOf is a net/http back end with a route for each page.
func muxOf(p pages) http.Handler {
	mux := http.NewServeMux()
	for path := range p {
		folder, isIndex := strings.CutSuffix(path, "index.html")
		pattern := (&url.URL{Path: path}).EscapedPath()
		page := func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, marker+path) }
		mux.HandleFunc(pattern, page)
		if isIndex {
			mux.HandleFunc((&url.URL{Path: folder}).EscapedPath()+"{$}", page)
		}
	}
	return mux
}

// startBackends serves the back ends by the host that is asked for, and returns their
// address.
func startBackends(t *testing.T, byHost map[string]http.Handler) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, _ := strings.Cut(strings.ToLower(r.Host), ":")
		if backend, ok := byHost[strings.TrimSuffix(host, ".")]; ok {
			backend.ServeHTTP(w, r)
			return
		}
		http.NotFound(w, r)
	}))
	t.Cleanup(server.Close)
	return server.Listener.Addr().String()
}

// startPHP answers FastCGI as PHP does: it runs the file of SCRIPT_FILENAME, and
// /index.php looks up the path of REQUEST_URI in its routes. It returns its address.
func startPHP(t *testing.T, root string, routes pages) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	run := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		script := fcgi.ProcessEnv(r)["SCRIPT_FILENAME"]
		if script == filepath.Join(root, "index.php") {
			target, _, _ := strings.Cut(r.RequestURI, "?")
			if rest, ok := strings.CutPrefix(target, "//"); ok { // parse_url finds a host
				_, target, _ = strings.Cut(rest, "/")
			}
			path, err := url.PathUnescape(target)
			if path = "/" + strings.Trim(path, "/"); err != nil || !routes[path] {
				http.NotFound(w, r)
				return
			}
			fmt.Fprint(w, marker+path)
			return
		}
		text, err := os.ReadFile(script)
		if err != nil {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write(text) // the client may have left
	})
	go func() {
		_ = fcgi.Serve(l, run) // until the listener is closed
	}()
	return l.Addr().String()
}
