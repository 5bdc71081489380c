package caddymodule

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-robots/caddy-robots/internal/metrics"
	"github.com/caddy-robots/caddy-robots/internal/policies"
)

// siteIndex knows the sites that one handler stands in, as metrics name them. It is safe for
// concurrent use.
type siteIndex struct {
	handler  caddyhttp.MiddlewareHandler // as it stands in the routes
	app      *App
	server   *caddyhttp.Server // nil: none, as in tests
	policies *policies.Loader
	now      func() time.Time
	found    atomic.Pointer[serverSites] // nil until Caddy has started or a request came
}

// serverSites are the sites of one server, which all its handlers share. They do not change.
type serverSites struct {
	*metrics.Sites
	own map[caddyhttp.MiddlewareHandler][]string // the patterns that a handler stands in; none: it stands in all

	judged   *metrics.Sites // those that a handler stands in
	handlers map[*metrics.Site]*Handler
}

// handlerOf returns the handler that stands in the site of a host, the first of several; nil if none
// does.
func (s *serverSites) handlerOf(host string) *Handler { return s.handlers[s.judged.Of(host)] }

// of returns the site of a host that r asked for.
func (s *siteIndex) of(r *http.Request, host string) *metrics.Site {
	sites := s.found.Load()
	if sites == nil {
		sites = s.find(serverOf(r))
	}
	return sites.Of(host)
}

// find takes up the sites of the server that the handler stands in.
func (s *siteIndex) find(server *caddyhttp.Server) *serverSites {
	s.found.CompareAndSwap(nil, s.app.sitesOf(server))
	return s.found.Load()
}

// named returns the patterns of the sites that the handler stands in; none: it stands in all.
func (s *siteIndex) named() []string { return s.found.Load().own[s.handler] }

// own returns the sites that the handler stands in.
func (s *siteIndex) own() []*metrics.Site { return s.app.counts.Named(s.named()) }

// forHost returns the sites that a host of the policies stands for: its own or, where all hosts
// have the same rules, those that the handler stands in.
func (s *siteIndex) forHost(host string) []*metrics.Site {
	if s.policies.PerHost() {
		return []*metrics.Site{s.found.Load().Of(host)}
	}
	return s.own()
}

// sitesOf returns the sites in the routes of a server, which must be provisioned; a nil server has
// none. They are looked for once.
func (a *App) sitesOf(server *caddyhttp.Server) *serverSites {
	a.mu.Lock()
	defer a.mu.Unlock()
	if found := a.servers[server]; found != nil {
		return found
	}
	f := newSiteFinder(server)
	o := order{log: a.log}
	if server != nil {
		all := []caddyhttp.RouteList{server.Routes}
		for _, route := range server.NamedRoutes {
			all = append(all, caddyhttp.RouteList{*route})
		}
		for _, routes := range all {
			f.look(routes, nil)
			o.look(routes, nil, "")
		}
		f.lookAtErrors(server.Errors, nil)
	}
	if a.servers == nil {
		a.servers = make(map[*caddyhttp.Server]*serverSites)
	}
	o.askInVain(f)
	found := a.sitesIn(f)
	a.servers[server] = found
	return found
}

// sitesIn returns the sites that were found in a server.
func (a *App) sitesIn(f *siteFinder) *serverSites {
	found := &serverSites{Sites: a.counts.Sites(f.patterns), own: f.own, handlers: make(map[*metrics.Site]*Handler)}
	var judged []string
	for _, h := range f.handlers {
		judged = append(judged, f.own[h]...)
		for _, site := range a.counts.Named(f.own[h]) {
			if found.handlers[site] == nil {
				found.handlers[site] = h
			}
		}
	}
	found.judged = a.counts.Sites(judged)
	return found
}

// siteFinder collects the patterns of the host matchers of one server, and where our handlers stand.
type siteFinder struct {
	named    map[string]*caddyhttp.Route // routes that others invoke
	patterns []string
	handlers []*Handler // in their order
	own      map[caddyhttp.MiddlewareHandler][]string
	asking   [][]string // the patterns around each robots_disallows that is not provisioned yet
	crawlers []crawlerAt
}

func newSiteFinder(server *caddyhttp.Server) *siteFinder {
	f := &siteFinder{own: make(map[caddyhttp.MiddlewareHandler][]string), named: make(map[string]*caddyhttp.Route)}
	if server != nil {
		maps.Copy(f.named, server.NamedRoutes)
	}
	return f
}

// look looks through routes, provisioned or not, that stand within those of the patterns around.
func (f *siteFinder) look(routes caddyhttp.RouteList, around []string) {
	for i := range routes {
		route := &routes[i]
		within := hostsOf(allMatchers(route))
		f.patterns = append(f.patterns, within...)
		if len(within) == 0 {
			within = around
		}
		if slices.ContainsFunc(route.MatcherSetsRaw, asks) {
			f.asking = append(f.asking, within)
		}
		for _, set := range route.MatcherSets {
			f.lookAtMatchers(set, within)
		}
		for _, handler := range allHandlers(route) {
			f.lookAt(handler, within)
		}
	}
}

func (f *siteFinder) lookAt(handler caddyhttp.MiddlewareHandler, within []string) {
	switch h := handler.(type) {
	case *Handler:
		if _, known := f.own[h]; !known {
			f.handlers, f.own[h] = append(f.handlers, h), nil
		}
		for _, pattern := range within {
			if !slices.Contains(f.own[h], pattern) {
				f.own[h] = append(f.own[h], pattern)
			}
		}
	case *ReportPage:
		f.own[h] = append(f.own[h], within...)
	case *caddyhttp.Subroute:
		f.look(h.Routes, within)
		f.lookAtErrors(h.Errors, within)
	case *caddyhttp.Invoke:
		if route := f.named[h.Name]; route != nil {
			f.named[h.Name] = nil // should it invoke itself
			f.look(caddyhttp.RouteList{*route}, within)
			f.named[h.Name] = route
		}
	case rawHandler:
		if asking.Match(h.config) {
			f.asking = append(f.asking, within)
		}
	}
}

// handlersFor returns the handlers that stand in the site with a pattern, or in one that is wider.
func (f *siteFinder) handlersFor(pattern string) (all []*Handler) {
	for _, h := range f.handlers {
		own := f.own[h]
		if len(own) == 0 || slices.ContainsFunc(own, func(by string) bool { return metrics.MatchesHost(strings.ToLower(by), strings.ToLower(pattern)) }) {
			all = append(all, h)
		}
	}
	return all
}

// lookAtErrors looks for what asks among routes that answer errors. A handler of ours that stands
// there judges no request.
func (f *siteFinder) lookAtErrors(errors *caddyhttp.HTTPErrorConfig, within []string) {
	if errors != nil {
		inner := siteFinder{named: f.named, own: make(map[caddyhttp.MiddlewareHandler][]string)}
		inner.look(errors.Routes, within)
		f.asking, f.crawlers = append(f.asking, inner.asking...), append(f.crawlers, inner.crawlers...)
	}
}

// hostsOf returns the patterns that matchers name, with their placeholders replaced.
func hostsOf(sets caddyhttp.MatcherSets) (named []string) {
	for _, set := range sets {
		for _, matcher := range set {
			if hosts, ok := matcher.(*caddyhttp.MatchHost); ok {
				for _, pattern := range *hosts {
					named = append(named, caddy.NewReplacer().ReplaceKnown(pattern, ""))
				}
			}
		}
	}
	return named
}

// metricsState computes what metrics show besides the counts.
func (a *App) metricsState() metrics.State {
	hosts := 0
	all := a.all()
	for _, s := range all {
		hosts += s.policies.Len()
	}
	rows, _ := a.ledger.Rows()
	s := metrics.State{
		Policies: make(map[string]*metrics.Figures), Shares: make(map[string]bool),
		Bans: a.memory.Bans().Len(time.Now()), Held: a.queue.Len(), Observing: a.observing.Load(),
		Caches: map[string]int{
			"user_agents": a.crawlers.Len(), "hosts": hosts, "robots_txt": a.policies.Held().Texts, "paces": a.memory.Len(),
			"trapped": a.traps.Len(), "ledger_rows": rows, "addresses": a.dns.Len(),
		},
	}
	if at, ok := a.ledger.Keeper.SavedAt(); ok {
		s.LedgerStored = at
	}
	if a.fleet != nil {
		s.Shares[a.fleet.Place] = !a.fleet.Limiter.Down()
	}
	for _, h := range all {
		for site, f := range h.figures() {
			if s.Policies[site] == nil { // of several handlers of a site the newest counts
				s.Policies[site] = f
			}
		}
	}
	return s
}

// figures returns the figures of the handler's policies, by the label of the site; none before
// Caddy has started.
func (s *siteIndex) figures() map[string]*metrics.Figures {
	if s.found.Load() == nil {
		return nil
	}
	all := make(map[string]*metrics.Figures)
	now := s.now()
	for _, st := range s.policies.States() {
		if st.Summary == nil {
			continue
		}
		f := metrics.Figures{Rules: st.Summary.Rules, Diagnostics: st.Summary.Diagnostics, Failing: st.Failure != ""}
		if !st.Loaded.IsZero() {
			f.Loaded, f.Age = true, max(0, now.Sub(st.Loaded))
		}
		for _, site := range s.forHost(st.Host) {
			if all[site.Name] == nil {
				all[site.Name] = new(metrics.Figures)
			}
			all[site.Name].Add(&f)
		}
	}
	return all
}
