package enforce

import (
	"slices"
	"testing"

	"github.com/caddy-robots/caddy-robots/robotsrules"
)

func TestOddForms(t *testing.T) {
	for path, want := range map[string][]string{
		"/": nil, "/a/b": nil, "/a/": nil, "/.well-known/x": nil, "/...": nil, "/a%20b": nil, "/a%": nil, "/a%2": nil, "": nil, "*": nil,
		"/a%2fb": {"%2F"}, "/a%2Fb%2f": {"%2F", "%2F"}, "//a": {"//"}, "/a//": {"//"}, "/a///b": {"//", "//"}, "/%2fa": {"//", "%2F"},
		"/a/../b": {".."}, "/a/%2E.": {".."}, "/./a": {"."}, "/a%2f..%2fb": {"%2F", "..", "%2F"}, "/a?x=//%2f": nil, "/a/.?x": {"."},
	} {
		if got := oddForms(path); !slices.Equal(got, want) {
			t.Errorf("oddForms(%q): got %q, want %q", path, got, want)
		}
	}
}

// No rule but an Allow decides alone, and none about an ordinary path.
func TestWhatSpellsATarget(t *testing.T) {
	allow := func(pattern string) *robotsrules.Rule {
		return &robotsrules.Rule{Kind: robotsrules.Allow, Text: pattern}
	}
	for _, c := range []struct {
		target string
		rule   *robotsrules.Rule
		want   bool
	}{
		{"/a%2fb", allow("/a%2Fb"), true}, {"/a%2fb", allow("/*%2F*"), true}, {"/a%2fb", allow("/a%2Fb$"), true}, {"/a/../b", allow("/a/..*"), true},
		{"/a%2fb", allow("/"), false}, {"/a%2fb", nil, false}, {"/a/b", allow("/a/b"), false}, {"/a%2fb#", allow("/a%2fb"), false},
		{"/a%2fb", &robotsrules.Rule{Kind: robotsrules.Disallow, Text: "/a%2fb"}, false},
	} {
		if got := (&Request{Target: c.target}).IsSpelledBy(c.rule); got != c.want {
			t.Errorf("%s, %+v: got %t, want %t", c.target, c.rule, got, c.want)
		}
	}
}
