package caddymodule

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/caddyserver/caddy/v2"
)

func init() {
	caddy.RegisterModule(adminAPI{})
}

// adminAPI lets an owner see and correct what this process remembers of clients, at
// Caddy's admin endpoint:
//
//	GET    /robots/trapped                    who counts as a robot, with the evidence
//	DELETE /robots/trapped?address=<address>  lets the clients of an address go
type adminAPI struct{}

// CaddyModule returns the Caddy module information.
func (adminAPI) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{
		ID:  "admin.api.robots",
		New: func() caddy.Module { return new(adminAPI) },
	}
}

// Routes implements caddy.AdminRouter.
func (a adminAPI) Routes() []caddy.AdminRoute {
	return []caddy.AdminRoute{{Pattern: "/robots/trapped", Handler: caddy.AdminHandlerFunc(a.trapped)}}
}

func (adminAPI) trapped(w http.ResponseWriter, r *http.Request) error {
	caught := newTrapped() // nobody, where no handler runs
	if sh := currentShared(); sh != nil {
		caught = sh.trapped
	}
	switch r.Method {
	case http.MethodGet:
		w.Header().Set("Content-Type", "application/json")
		return json.NewEncoder(w).Encode(caught.list(time.Now()))
	case http.MethodDelete:
		address := r.URL.Query().Get("address")
		if address == "" {
			return apiError(http.StatusBadRequest, "which address? Write DELETE /robots/trapped?address=<address>")
		}
		if caught.release(address) == 0 {
			return apiError(http.StatusNotFound, fmt.Sprintf("no client of %s is remembered", address))
		}
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	w.Header().Set("Allow", "GET, DELETE")
	return apiError(http.StatusMethodNotAllowed, "GET lists, DELETE lets go")
}

func apiError(status int, message string) error {
	return caddy.APIError{HTTPStatus: status, Message: message}
}

// Interface guards
var _ caddy.AdminRouter = (*adminAPI)(nil)
