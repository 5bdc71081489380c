package caddymodule

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-robots/caddy-robots/internal/ratelimit"
)

func init() {
	caddy.RegisterModule(adminAPI{})
}

// adminAPI lets an owner see and correct what this process remembers of clients, at
// Caddy's admin endpoint:
//
//	GET    /robots/trapped                    who counts as a robot, with the evidence
//	DELETE /robots/trapped?address=<address>  lets the clients of an address go
//	GET    /robots/bans                       who is banned, why and until when
//	DELETE /robots/bans?robot=<name>&address=<address>&site=<host>
//	                                          lifts the bans that fit all of what is given
//	GET    /robots/sites                      the sites whose robots.txt is enforced
//	GET    /robots/sites/<host>               one of them, with the text and what is wrong in it
//	POST   /robots/refresh                    loads robots.txt again, of all or of one ?host=
//	GET    /robots/report                     what robots did, as a page
//	GET    /robots/robots                     the same as JSON or, with ?format=csv, CSV
//	GET    /robots/evidence                   the disobedient requests that are kept, likewise;
//	                                          all three with ?site=, robot=, class=, standing=
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
	return []caddy.AdminRoute{
		{Pattern: "/robots/trapped", Handler: caddy.AdminHandlerFunc(a.trapped)},
		{Pattern: "/robots/bans", Handler: caddy.AdminHandlerFunc(a.bans)},
		{Pattern: "/robots/sites", Handler: caddy.AdminHandlerFunc(a.sites)},
		{Pattern: "/robots/sites/", Handler: caddy.AdminHandlerFunc(a.sites)},
		{Pattern: "/robots/refresh", Handler: caddy.AdminHandlerFunc(a.refresh)},
		{Pattern: "/robots/report", Handler: caddy.AdminHandlerFunc(a.report("html"))},
		{Pattern: "/robots/robots", Handler: caddy.AdminHandlerFunc(a.report("json"))},
		{Pattern: "/robots/evidence", Handler: caddy.AdminHandlerFunc(a.evidence)},
	}
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

func (adminAPI) bans(w http.ResponseWriter, r *http.Request) error {
	memory := new(ratelimit.Memory) // empty, where no handler runs
	if sh := currentShared(); sh != nil {
		memory = sh.memory
	}
	switch r.Method {
	case http.MethodGet:
		w.Header().Set("Content-Type", "application/json")
		return json.NewEncoder(w).Encode(banRecords(memory.Bans(), time.Now()))
	case http.MethodDelete:
		query := r.URL.Query()
		robot, address, site := query.Get("robot"), query.Get("address"), query.Get("site")
		if robot == "" && address == "" && site == "" {
			return apiError(http.StatusBadRequest, "which ban? Write DELETE /robots/bans?robot=<name>, address=<address> or site=<host>, or several of them")
		}
		lifted := 0
		var errs []error
		for _, rec := range banRecords(memory.Bans(), time.Now()) {
			if fits(robot, rec.Robot) && fits(plainAddress(address), rec.Address) && fits(site, rec.Site) {
				lifted++
				errs = append(errs, lift(r.Context(), memory, rec.ban()))
			}
		}
		if lifted == 0 {
			return apiError(http.StatusNotFound, "no ban fits that")
		}
		if err := errors.Join(errs...); err != nil {
			return apiError(http.StatusBadGateway, err.Error())
		}
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	w.Header().Set("Allow", "GET, DELETE")
	return apiError(http.StatusMethodNotAllowed, "GET lists, DELETE lifts")
}

// fits tells whether a value is the one that was asked for; "" asks for any.
func fits(asked, value string) bool { return asked == "" || strings.EqualFold(asked, value) }

// plainAddress returns an address as Caddy writes it.
func plainAddress(text string) string {
	if addr, err := netip.ParseAddr(strings.Trim(text, "[]")); err == nil {
		return addr.Unmap().String()
	}
	return text
}

func apiError(status int, message string) error {
	return caddy.APIError{HTTPStatus: status, Message: message}
}

// Interface guards
var _ caddy.AdminRouter = (*adminAPI)(nil)
