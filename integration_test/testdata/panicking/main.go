// Command panicking is the Caddy of this tree with one more handler, which panics.
package main

import (
	"net/http"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	_ "github.com/caddyserver/caddy/v2/modules/standard"

	_ "github.com/caddy-robots/caddy-robots/caddymodule"
)

func init() {
	caddy.RegisterModule(handler{})
	httpcaddyfile.RegisterHandlerDirective("panic", func(h httpcaddyfile.Helper) (caddyhttp.MiddlewareHandler, error) {
		h.Next()
		return new(handler), nil
	})
	httpcaddyfile.RegisterDirectiveOrder("panic", httpcaddyfile.Before, "respond")
}

// handler panics at once, in the middle of its answer, or as one that breaks off on purpose.
type handler struct{}

// CaddyModule returns the Caddy module information.
func (handler) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.handlers.panic", New: func() caddy.Module { return new(handler) }}
}

// ServeHTTP implements caddyhttp.MiddlewareHandler.
func (handler) ServeHTTP(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler) error {
	switch r.Header.Get("Panic") + r.URL.Query().Get("panic") {
	case "at-once":
		panic("a defect")
	case "midway":
		w.Header().Set("Content-Length", "1000")
		_, _ = w.Write([]byte("half of it"))
		_ = http.NewResponseController(w).Flush()
		panic("a defect")
	case "on-purpose":
		panic(http.ErrAbortHandler)
	}
	return next.ServeHTTP(w, r)
}

func main() {
	caddycmd.Main()
}
