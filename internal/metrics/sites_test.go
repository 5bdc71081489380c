package metrics

import (
	"slices"
	"testing"
)

// patterns are those of a config with several sites.
var patterns = []string{
	"example.com", "www.Example.com", "*.wild.example", "*.*.wild.example", "shop.wild.example", "[2001:db8::1]", "set.example",
}

func TestAHostIsOfTheSiteWhosePatternFits(t *testing.T) {
	s := NewCounts().Sites(patterns)
	for host, want := range map[string]string{
		"example.com": "example.com", "www.example.com": "www.example.com", "shop.wild.example": "shop.wild.example",
		"any.wild.example": "*.wild.example", "a.b.wild.example": "*.*.wild.example", "set.example": "set.example",
		"[2001:db8::1]": "2001:db8::1", "made-up.example": "*", "a.b.c.wild.example": "*", "wild.example": "*",
		"": "*", "*": "*", "[": "*", "xexample.com": "*",
	} {
		if got := s.Of(host).Name; got != want {
			t.Errorf("%q: got %q, want %q", host, got, want)
		}
	}
}

func TestTheSitesOfAHandler(t *testing.T) {
	for name, test := range map[string]struct{ own, want []string }{
		"two":              {[]string{"example.com", "www.Example.com"}, []string{"example.com", "www.example.com"}},
		"an address":       {[]string{"[2001:db8::1]"}, []string{"2001:db8::1"}},
		"it stands in any": {nil, []string{"*"}},
	} {
		var got []string
		for _, site := range NewCounts().Named(test.own) {
			got = append(got, site.Name)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: got %q, want %q", name, got, test.want)
		}
	}
}

func TestFindingAPlaceDoesNotAllocate(t *testing.T) {
	s := NewCounts().Sites(patterns)
	for _, host := range []string{"example.com", "a.b.wild.example", "made-up.example"} {
		if got := testing.AllocsPerRun(100, func() { s.Of(host) }); got != 0 {
			t.Errorf("%q: got %v allocations, want 0", host, got)
		}
	}
}
