package caddymodule

import (
	"net/http"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// variables are what Caddy keeps of one request for all handlers that it meets. It is looked
// up once, since that takes a walk through all contexts. A nil one keeps nothing.
type variables map[string]any

func variablesOf(r *http.Request) variables {
	vars, _ := r.Context().Value(caddyhttp.VarsCtxKey).(map[string]any)
	return vars
}

// first marks the request, and tells whether it was not marked yet: one that meets two
// handlers, one for the site and one for a part of it, is still one request.
func (v variables) first(key string) bool {
	if v == nil {
		return true
	}
	if _, ok := v[key]; ok {
		return false
	}
	v[key] = true
	return true
}

// notedKey is the request variable that says which of the handlers that it meets notes a
// request: the last one that judged it, or the first that found something against it. It is
// set only before the request is passed on: a proxy may read variables in the background
// until long after it has answered.
const notedKey = "robots.noted"

// turn is the place of a handler among those that may note a request. The zero turn is that
// of one which may not.
type turn uint8

// claimed is set once a handler notes the request, whatever others find.
const claimed turn = 255

// join takes a turn for a handler that has nothing against the request.
func (v variables) join() turn {
	others, _ := v[notedKey].(turn)
	if others == claimed || v == nil {
		return 0
	}
	v[notedKey] = others + 1
	return others + 1
}

// isLast tells whether no handler has judged the request since, so that the one with this
// turn is to note it.
func (v variables) isLast(mine turn) bool {
	others, _ := v[notedKey].(turn)
	return mine != 0 && mine == others
}

// claim tells whether a handler that has something against the request is to note it: no
// other one has claimed it.
func (v variables) claim() bool {
	if others, _ := v[notedKey].(turn); others == claimed {
		return false
	}
	if v != nil {
		v[notedKey] = claimed
	}
	return true
}
