package caddymodule

import (
	"slices"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp/reverseproxy"
	"go.uber.org/zap"

	"github.com/caddy-robots/caddy-robots/internal/enforce"
	"github.com/caddy-robots/caddy-robots/internal/metrics"
)

// answering are the handlers that answer whatever comes to them.
var answering = []string{
	"file_server", "static_response", "error", "metrics", "php", "robots_report",
}

// order warns of robots directives that stand where they do nothing, or twice. A handler does not
// know what comes before it, and neither does the Caddyfile's adapter, so it is looked for in the
// routes of a config that has started.
type order struct{ log *zap.Logger }

// look looks through routes that stand within those of the sites. Before says which handler
// answers all that would come to them, and so does what is returned for what stands behind them;
// "" is none.
func (o *order) look(routes caddyhttp.RouteList, sites []string, before string) (answers string) {
	judged := false
	for _, route := range routes {
		within := sites
		if hosts := hostsOf(route.MatcherSets); len(hosts) > 0 {
			within = hosts
		}
		all := len(route.MatcherSets) == 0
		for _, handler := range route.Handlers {
			found := ""
			switch h := handler.(type) {
			case *caddyhttp.Subroute:
				found = o.look(h.Routes, within, before)
			case *Handler:
				o.judge(within, before, judged && all)
				judged = judged || all
			case *reverseproxy.Handler:
				if found = nameOf(h); nameOf(h.Transport) == "fastcgi" && before == "" {
					before = "php_fastcgi" // its routes send all pages to index.php, by its matcher of *.php
				}
			default:
				if name := nameOf(handler); slices.Contains(answering, name) {
					found = name
				}
			}
			if all && before == "" {
				before = found
			}
		}
	}
	return before
}

// judge warns of a handler of ours that has nothing to judge, or that is the second one.
func (o *order) judge(sites []string, before string, again bool) {
	switch {
	case before != "":
		o.log.Warn("robots judges nothing: what stands before it answers all requests", zap.Strings("sites", sites), zap.String("before", before),
			zap.String("advice", "in a route block, directives run in the order in which they stand: write robots before "+before))
	case again:
		o.log.Warn("robots stands twice in one place: the second one judges what the first lets pass, and each goes by its own options",
			zap.Strings("sites", sites), zap.String("advice", "write all options in one block, or give each a matcher"))
	}
}

// crawlerAt is a matcher crawler, and the patterns of the sites around it.
type crawlerAt struct {
	*MatchCrawler
	within []string
}

// lookAtMatchers looks for matchers crawler in a set that is provisioned, within not too.
func (f *siteFinder) lookAtMatchers(set caddyhttp.MatcherSet, within []string) {
	for _, matcher := range set {
		switch m := matcher.(type) {
		case *MatchCrawler:
			f.crawlers = append(f.crawlers, crawlerAt{m, within})
		case *caddyhttp.MatchNot:
			for _, inner := range m.MatcherSets {
				f.lookAtMatchers(inner, within)
			}
		}
	}
}

// askInVain warns of matchers crawler that ask for what no robots directive of their site finds.
func (o *order) askInVain(f *siteFinder) {
	for _, m := range f.crawlers {
		for _, word := range m.Verified {
			patterns := m.within
			if len(patterns) == 0 {
				patterns = []string{metrics.AnySite}
			}
			if slices.ContainsFunc(patterns, func(p string) bool {
				return slices.ContainsFunc(f.handlersFor(p), func(h *Handler) bool { return h.finds(word) })
			}) {
				continue
			}
			o.log.Warn("a crawler matcher never matches: no robots directive of its site has the option that it needs", zap.Strings("sites", patterns), zap.String("word", word),
				zap.String("advice", "write in robots what finds it: verify for verified and impostor, trap for trapped, ban for banned"))
		}
	}
}

// finds reports whether the handler may find that this word is true of a client.
func (h *Handler) finds(word string) bool {
	switch word {
	case foundTrapped:
		return len(h.Trap) > 0
	case foundBanned:
		return h.Ban != nil
	case enforce.Unverified.String():
		return true
	}
	return h.Verify != nil
}

// nameOf returns the name of a module, as JSON has it; "" for what is none.
func nameOf(v any) string {
	if module, ok := v.(caddy.Module); ok {
		return module.CaddyModule().ID.Name()
	}
	return ""
}
