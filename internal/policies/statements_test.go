package policies

import (
	"strings"
	"testing"
)

func TestRelationsOfLinkHeaders(t *testing.T) {
	for header, want := range map[string]bool{
		`<a>; rel="timegate"`:                     true,
		`<a>; rel=timegate`:                       true,
		`<a> ;x ; Rel = "next TIMEGATE"`:          true,
		`<b>; rel=next, <a>; rel=timegate`:        true,
		`<b,>; title=",\">"; rel="timegate"`:      true,
		`<rel=timegate>; rel=next`:                false,
		`<a>; title="; rel=timegate"; rel=next`:   false,
		`<a>; rel="timegatexx"`:                   false,
		`<a; rel="timegate"`:                      false,
		`<a>; rel`:                                false,
		`<a>; rel="next`:                          false,
		``:                                        false,
		`,;,;`:                                    false,
		`<a>; rel="original", <a>; rel="timemap"`: false,
		`<a>; rel="original", <a>; rel="timegate`: true,
	} {
		if got := HasRelation([]string{"<x>; rel=y", header}, "timegate"); got != want {
			t.Errorf("%s: got %t, want %t", header, got, want)
		}
	}
}

// FuzzHasRelation holds two properties: a link of ours is found in whatever company, and
// no relation is found that no text of the headers names.
func FuzzHasRelation(f *testing.F) {
	f.Add(`<a,>; title="x;,\""; rel="next timegate", <b>; rel=c`)
	f.Fuzz(func(t *testing.T, header string) {
		link := string(AppendLink(nil, "timegate", "https://a.example/", []byte("b")))
		if !HasRelation([]string{header, link}, "timegate") {
			t.Errorf("%q hides %q", header, link)
		}
		if !strings.Contains(strings.ToLower(header), "timegate") && HasRelation([]string{header}, "timegate") {
			t.Errorf("%q has the relation timegate, want not", header)
		}
	})
}
