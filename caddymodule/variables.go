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
