package caddymodule

import (
	"encoding/json"
	"net/http"
	"regexp"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// While a config is being loaded, its routes hold what is provisioned already and, as JSON, what is
// not. What follows reads both in one way. JSON that cannot be read gives nothing: Caddy refuses it
// when it comes to it.

// asking finds the matcher robots_disallows in JSON: as a key, or as a function in an expression.
var asking = regexp.MustCompile(`\brobots_disallows("\s*:|\s*\()`)

// asks reports whether a set of matchers has robots_disallows in it, within others too.
func asks(set caddy.ModuleMap) bool {
	for name, config := range set {
		if name == "robots_disallows" || asking.Match(config) {
			return true
		}
	}
	return false
}

// allMatchers returns the matchers of a route and, of those that are not provisioned, the ones of
// hosts.
func allMatchers(route *caddyhttp.Route) caddyhttp.MatcherSets {
	sets := route.MatcherSets
	for _, set := range route.MatcherSetsRaw {
		hosts := new(caddyhttp.MatchHost)
		if json.Unmarshal(set["host"], hosts) == nil {
			sets = append(sets[:len(sets):len(sets)], caddyhttp.MatcherSet{hosts})
		}
	}
	return sets
}

// allHandlers returns the handlers of a route. Those that are not provisioned are only to be looked
// at.
func allHandlers(route *caddyhttp.Route) []caddyhttp.MiddlewareHandler {
	all := route.Handlers
	for _, config := range route.HandlersRaw {
		all = append(all[:len(all):len(all)], readHandler(config))
	}
	return all
}

func readHandler(config json.RawMessage) (handler caddyhttp.MiddlewareHandler) {
	var named struct{ Handler string }
	_ = json.Unmarshal(config, &named)
	switch named.Handler {
	case "robots":
		handler = new(Handler)
	case "subroute":
		handler = new(caddyhttp.Subroute)
	case "invoke":
		handler = new(caddyhttp.Invoke)
	default:
		return rawHandler{config: config}
	}
	_ = json.Unmarshal(config, handler)
	return handler
}

// rawHandler is the config of a handler that is not ours and holds no routes that are known.
type rawHandler struct{ config json.RawMessage }

// ServeHTTP implements caddyhttp.MiddlewareHandler. It is never called.
func (rawHandler) ServeHTTP(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler) error {
	return next.ServeHTTP(w, r)
}
