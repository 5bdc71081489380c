package enforce

import (
	"net/url"
	"slices"
	"strings"
	"testing"
)

// A target that is not peculiar is judged in one reading: so there must be no other.
func TestAnOrdinaryTargetHasOneReading(t *testing.T) {
	parts := []string{"/", "a", ".", "%", "%2", "%2e", "%2E", "%2f", "%2F", "%25", "%41", "%d0", "?", "#"}
	ordinary := 0
	var grow func(target string, more int)
	grow = func(target string, more int) {
		path, query, _ := strings.Cut(target, "?")
		decoded, err := url.PathUnescape(path)
		if a := (Request{Target: target, Path: decoded, Query: query}); err == nil && !a.isPeculiar() {
			ordinary++
			if resolve(decoded, foldSlashes) != decoded || strings.Count(decoded, "/") != strings.Count(path, "/") || strings.Contains(target, "#") {
				t.Errorf("%s is not peculiar, and yet a server may read it as another target", target)
			}
		}
		if more > 0 {
			for _, part := range parts {
				grow(target+part, more-1)
			}
		}
	}
	grow("/", 4)
	if ordinary < 1000 {
		t.Errorf("ordinary targets: got %d, want more", ordinary)
	}
}

func TestResolve(t *testing.T) {
	for path, want := range map[string]struct{ folded, kept string }{
		"": {"/", "/"}, "/": {"/", "/"}, "//": {"/", "//"}, "/a": {"/a", "/a"}, "/a/": {"/a/", "/a/"}, "/a//": {"/a/", "/a//"},
		"/a/.": {"/a/", "/a/"}, "/a/..": {"/", "/"}, "/a/b/..": {"/a/", "/a/"}, "/../..": {"/", "/"}, "/a/./b/../c": {"/a/c", "/a/c"},
		"/..a/b..": {"/..a/b..", "/..a/b.."}, "/a/...": {"/a/...", "/a/..."},
		"/a//../b": {"/b", "/a/b"}, "/a//.": {"/a/", "/a//"}, "//a": {"/a", "//a"}, "a": {"/a", "/a"},
	} {
		if got := resolve(path, foldSlashes); got != want.folded {
			t.Errorf("resolve(%q, foldSlashes): got %q, want %q", path, got, want.folded)
		}
		if got := resolve(path, keepSlashes); got != want.kept {
			t.Errorf("resolve(%q, keepSlashes): got %q, want %q", path, got, want.kept)
		}
	}
}

// A path that is not peculiar has one reading only, so that looking for another would be
// in vain: the shortcut never changes an answer.
func FuzzOtherReading(f *testing.F) {
	for _, target := range []string{"/", "/a/../b", "/a//b?c", "/%2e%2e/x", "/x#y", "/.well-known", "/a%", "/%000", "/a%20//b%3f", "/*//:", "//x/private", "///x:80/a?b", "//0/?", "//0/??"} {
		f.Add(target)
	}
	f.Fuzz(func(t *testing.T, target string) {
		u, err := url.ParseRequestURI(target)
		if err != nil || !strings.HasPrefix(target, "/") {
			t.Skip()
		}
		a := Request{Target: target, Path: u.Path, Query: u.RawQuery}
		host := strings.TrimLeft(target, "/")
		if slash := strings.IndexByte(host, '/'); strings.HasPrefix(target, "//") && slash >= 0 && !strings.ContainsAny(host[:slash], "?#") {
			behind := host[slash:]
			if path, query, _ := strings.Cut(behind, "?"); query == "" {
				behind = path // a reading has no empty query
			}
			if b := (Request{Target: behind}); !b.isPeculiar() && !slices.Contains(a.OtherTargets(), behind) {
				t.Errorf("%q is not read as %q", target, behind)
			}
		}
		other := a.FileTarget()
		if other == target {
			path, _, _ := strings.Cut(target, "?")
			if strings.Contains(path, "//") || strings.Contains(path, "/../") || strings.Contains(path, "/./") {
				t.Errorf("%q has no other reading", target)
			}
			return
		}
		again, err := url.ParseRequestURI(other)
		if err != nil {
			t.Fatalf("%q is read as %q: %v", target, other, err)
		}
		path, query := resolve(u.Path, foldSlashes), strings.ReplaceAll(u.RawQuery, "#", "%23")
		if again.Path != path || again.RawQuery != query {
			t.Errorf("%q is read as %q: path %q and query %q, want %q and %q",
				target, other, again.Path, again.RawQuery, path, query)
		}
	})
}
