package caddymodule

import (
	"cmp"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// anySite is the label of what no host matcher of the config names.
const anySite = "*"

// places are the sites of a server as its config names them, by the patterns of its host
// matchers: hosts come from clients, and none that a client makes up becomes a label. A
// places is immutable and safe for concurrent use.
type places struct {
	exact map[string]*siteCounts
	wild  []wildPlace // those with the fewest wildcards first
	any   *siteCounts

	own []*siteCounts // those that the handler stands in
}

// wildPlace is a site such as *.example.com.
type wildPlace struct {
	pattern string
	counts  *siteCounts
}

// of returns the site of a host as hostOf gives it. It does not allocate.
func (p *places) of(host string) *siteCounts {
	if len(host) > 1 && host[0] == '[' {
		host = strings.Trim(host, "[]") // as the patterns of host matchers
	}
	if found, ok := p.exact[host]; ok {
		return found
	}
	for _, w := range p.wild {
		if matchesHost(w.pattern, host) {
			return w.counts
		}
	}
	return p.any
}

// matchesHost tells whether a pattern, in which a label may be "*", matches a host: label by
// label, as Caddy's host matcher does.
func matchesHost(pattern, host string) bool {
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

// findPlaces looks through the routes of a server, which must have started, for its sites and
// for those that h stands in. A nil server has none.
func findPlaces(server *caddyhttp.Server, h *Handler, m *metrics) *places {
	f := &placeFinder{places: &places{exact: make(map[string]*siteCounts), any: m.site(anySite)}, handler: h, metrics: m}
	if server != nil {
		f.look(server.Routes, nil)
		for _, route := range server.NamedRoutes {
			f.look(caddyhttp.RouteList{*route}, nil)
		}
	}
	p := f.places
	slices.SortFunc(p.wild, func(a, b wildPlace) int {
		return cmp.Or(strings.Count(a.pattern, "*")-strings.Count(b.pattern, "*"), strings.Compare(a.pattern, b.pattern))
	})
	if len(p.own) == 0 {
		p.own = []*siteCounts{p.any}
	}
	return p
}

// placeFinder collects the places of one server.
type placeFinder struct {
	*places
	handler *Handler
	metrics *metrics
}

// look looks through routes that stand within those of the sites around.
func (f *placeFinder) look(routes caddyhttp.RouteList, around []*siteCounts) {
	for _, route := range routes {
		within := f.sites(route.MatcherSets)
		if len(within) == 0 {
			within = around
		}
		for _, handler := range route.Handlers {
			switch handler := handler.(type) {
			case *caddyhttp.Subroute:
				f.look(handler.Routes, within)
			case *Handler:
				if handler == f.handler {
					f.own = append(f.own, within...)
				}
			}
		}
	}
}

// sites returns those that matchers name.
func (f *placeFinder) sites(sets caddyhttp.MatcherSets) (named []*siteCounts) {
	for _, set := range sets {
		for _, matcher := range set {
			hosts, ok := matcher.(*caddyhttp.MatchHost)
			if !ok {
				continue
			}
			for _, pattern := range *hosts {
				named = append(named, f.site(pattern))
			}
		}
	}
	return named
}

// site returns the site of a pattern, which is its label.
func (f *placeFinder) site(pattern string) *siteCounts {
	pattern = strings.ToLower(strings.Trim(caddy.NewReplacer().ReplaceKnown(pattern, ""), "[]"))
	if !strings.Contains(pattern, "*") {
		if f.exact[pattern] == nil {
			f.exact[pattern] = f.metrics.site(pattern)
		}
		return f.exact[pattern]
	}
	i := slices.IndexFunc(f.wild, func(w wildPlace) bool { return w.pattern == pattern })
	if i < 0 {
		i = len(f.wild)
		f.wild = append(f.wild, wildPlace{pattern, f.metrics.site(pattern)})
	}
	return f.wild[i].counts
}
