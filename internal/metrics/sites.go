package metrics

import (
	"cmp"
	"slices"
	"strings"
)

// AnySite is the label of what no host matcher of the config names.
const AnySite = "*"

// Sites are the sites of a server as its config names them, by the patterns of its host
// matchers: hosts come from clients, and none that a client makes up becomes a label. Sites are
// immutable and safe for concurrent use.
type Sites struct {
	exact map[string]*Site
	wild  []wildSite // those with the fewest wildcards first
	any   *Site
}

// wildSite is a site such as *.example.com.
type wildSite struct {
	pattern string
	site    *Site
}

// Sites returns the sites with these patterns.
func (c *Counts) Sites(patterns []string) *Sites {
	s := &Sites{exact: make(map[string]*Site), any: c.site(AnySite)}
	for _, pattern := range patterns {
		pattern = normalPattern(pattern)
		if !strings.Contains(pattern, "*") {
			s.exact[pattern] = c.site(pattern)
		} else if !slices.ContainsFunc(s.wild, func(w wildSite) bool { return w.pattern == pattern }) {
			s.wild = append(s.wild, wildSite{pattern, c.site(pattern)})
		}
	}
	slices.SortFunc(s.wild, func(a, b wildSite) int {
		return cmp.Or(strings.Count(a.pattern, "*")-strings.Count(b.pattern, "*"), strings.Compare(a.pattern, b.pattern))
	})
	return s
}

// Named returns the sites with these patterns or, without any, the one of all other hosts.
func (c *Counts) Named(patterns []string) (sites []*Site) {
	for _, pattern := range patterns {
		sites = append(sites, c.site(normalPattern(pattern)))
	}
	if len(sites) == 0 {
		sites = []*Site{c.site(AnySite)}
	}
	return sites
}

// normalPattern returns a pattern as it is a label: in small letters, addresses without brackets.
func normalPattern(pattern string) string { return strings.ToLower(strings.Trim(pattern, "[]")) }

// Of returns the site of a host, which is in small letters and has no port. It does not
// allocate.
func (s *Sites) Of(host string) *Site {
	if len(host) > 1 && host[0] == '[' {
		host = strings.Trim(host, "[]") // as the patterns of host matchers
	}
	if found, ok := s.exact[host]; ok {
		return found
	}
	for _, w := range s.wild {
		if MatchesHost(w.pattern, host) {
			return w.site
		}
	}
	return s.any
}

// MatchesHost reports whether a pattern, in which a label may be "*", matches a host: label by
// label, as Caddy's host matcher does.
func MatchesHost(pattern, host string) bool {
	for {
		want, restOfPattern, morePattern := strings.Cut(pattern, ".")
		label, restOfHost, moreHost := strings.Cut(host, ".")
		if want != "*" && want != label || morePattern != moreHost {
			return false
		}
		if !morePattern {
			return true
		}
		pattern, host = restOfPattern, restOfHost
	}
}
