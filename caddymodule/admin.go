package caddymodule

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-robots/caddy-robots/internal/compliance"
	"github.com/caddy-robots/caddy-robots/internal/enforce"
	"github.com/caddy-robots/caddy-robots/internal/storage"
	"github.com/caddy-robots/caddy-robots/robotsrules"
)

func init() {
	caddy.RegisterModule(adminAPI{})
}

// adminAPI lets an owner see and correct what this process remembers of clients, at
// Caddy's admin endpoint:
//
//	GET    /robots/trapped                    who counts as a robot, with the evidence
//	DELETE /robots/trapped?address=<address>  lets the clients of an address go
//	GET    /robots/bans                       who is banned, why and until when; all, or those that
//	                                          fit robot=, address= and site=
//	DELETE /robots/bans?robot=<name>&address=<address>&site=<host>
//	                                          lifts the bans that fit all of what is given, or
//	                                          with ?all=true all, and answers with them
//	GET    /robots/sites                      the sites whose robots.txt is enforced
//	GET    /robots/sites/<host>               one of them, with the text and what is wrong in it
//	GET    /robots/status                     how this Caddy is
//	POST   /robots/observe?set=on|off         whether anybody is refused, on all sites
//	POST   /robots/refresh                    loads robots.txt again, of all or of one ?host=
//	GET    /robots/report                     what robots did, as a page
//	GET    /robots/robots                     the same as JSON or, with ?format=csv, CSV
//	GET    /robots/evidence                   the disobedient requests that are kept, likewise;
//	                                          all three with ?site=, robot=, class=, standing=,
//	                                          operator=, purpose=
type adminAPI struct {
	app func() *App // of the config that runs; nil where none has one
}

// CaddyModule returns the Caddy module information.
func (adminAPI) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{
		ID:  "admin.api.robots",
		New: func() caddy.Module { return &adminAPI{app: activeApp} },
	}
}

// Routes implements caddy.AdminRouter.
func (a adminAPI) Routes() []caddy.AdminRoute {
	return []caddy.AdminRoute{
		{Pattern: "/robots/trapped", Handler: adminHandler(a.trapped)},
		{Pattern: "/robots/bans", Handler: adminHandler(a.bans)},
		{Pattern: "/robots/sites", Handler: adminHandler(a.sites)},
		{Pattern: "/robots/sites/", Handler: adminHandler(a.sites)},
		{Pattern: "/robots/status", Handler: adminHandler(a.status)},
		{Pattern: "/robots/observe", Handler: adminHandler(a.observe)},
		{Pattern: "/robots/refresh", Handler: adminHandler(a.refresh)},
		{Pattern: "/robots/report", Handler: adminHandler(a.report("html"))},
		{Pattern: "/robots/robots", Handler: adminHandler(a.report("json"))},
		{Pattern: "/robots/evidence", Handler: adminHandler(a.evidence)},
	}
}

// adminHandler answers with an error itself: Caddy would write the < and > of what is to be written instead
// as \u003c and \u003e.
func adminHandler(serve func(http.ResponseWriter, *http.Request) error) caddy.AdminHandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		err := serve(w, r)
		failed, ok := errors.AsType[caddy.APIError](err)
		if !ok {
			return err
		}
		w.Header().Set("Content-Type", "application/json") // before the status
		w.WriteHeader(failed.HTTPStatus)
		return writeJSON(w, struct {
			Error string `json:"error"`
		}{failed.Message})
	}
}

func (a adminAPI) trapped(w http.ResponseWriter, r *http.Request) error {
	traps := enforce.NewTraps() // nobody, where no handler runs
	if app := a.app(); app != nil {
		traps = app.traps
	}
	switch r.Method {
	case http.MethodGet:
		return writeJSON(w, traps.List(time.Now()))
	case http.MethodDelete:
		address := r.URL.Query().Get("address")
		if address == "" {
			return apiError(http.StatusBadRequest, "which address? Write DELETE /robots/trapped?address=<address>")
		}
		if traps.Release(plainAddress(address)) == 0 {
			return apiError(http.StatusNotFound, fmt.Sprintf("no client of %s is remembered", address))
		}
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	w.Header().Set("Allow", "GET, DELETE")
	return apiError(http.StatusMethodNotAllowed, "GET lists, DELETE releases")
}

// banFields are the parameters that say which bans are meant.
var banFields = []string{"robot", "address", "site", "all"}

func (a adminAPI) bans(w http.ResponseWriter, r *http.Request) error {
	app := a.app()
	records := []storage.BanRecord{} // none, where no handler runs
	if app != nil {
		records = storage.BanRecords(app.memory.Bans(), time.Now())
	}
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return apiError(http.StatusBadRequest, err.Error())
	}
	robot, address, site := query.Get("robot"), query.Get("address"), query.Get("site")
	for name := range query {
		if !slices.Contains(banFields, name) {
			return apiError(http.StatusBadRequest, fmt.Sprintf("parameter %v", robotsrules.UnknownWord(name, "robot, address, site or all")))
		}
	}
	records = slices.DeleteFunc(records, func(rec storage.BanRecord) bool {
		return !fits(robot, rec.Robot) || address != "" && !enforce.IsOf(rec.Address, plainAddress(address)) || !fits(site, rec.Site)
	})
	switch r.Method {
	case http.MethodGet:
		return writeJSON(w, records)
	case http.MethodDelete:
		if all := query.Get("all") == "true"; all == (robot+address+site != "") {
			return apiError(http.StatusBadRequest, "which ban? Write DELETE /robots/bans?robot=<name>, address=<address> or site=<host>, or several of them; or all=true alone")
		}
		if len(records) == 0 {
			return apiError(http.StatusNotFound, "no ban matches")
		}
		ctx, cancel := context.WithTimeout(r.Context(), liftTime)
		defer cancel()
		if failed, err := app.lift(ctx, records); err != nil {
			return apiError(http.StatusBadGateway, fmt.Sprintf("%v (%d of %d)", err, failed, len(records)))
		}
		return writeJSON(w, records)
	}
	w.Header().Set("Allow", "GET, DELETE")
	return apiError(http.StatusMethodNotAllowed, "GET lists, DELETE lifts")
}

// liftTime bounds how long the admin API waits for a fleet to be told of lifted bans.
const liftTime = 5 * time.Second

// lift ends bans on this Caddy, and on its fleet: with an error not all of them, and failed is how
// many are left there.
func (a *App) lift(ctx context.Context, bans []storage.BanRecord) (failed int, first error) {
	for _, rec := range bans {
		b := rec.Ban()
		if a.fleet != nil {
			if err := a.fleet.Limiter.Lift(ctx, b); err != nil {
				first = cmp.Or(first, err)
				failed++
			}
		}
		a.memory.Bans().Lift(b.Key, b.Address)
	}
	return failed, first
}

// writeJSON answers with v as JSON.
func writeJSON(w http.ResponseWriter, v any) error {
	w.Header().Set("Content-Type", "application/json")
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	return out.Encode(v)
}

// fits reports whether a value is the one that was asked for; "" asks for any.
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

// report answers with the report: as JSON, as CSV, or as a page to be kept as a file, since
// Caddy's admin endpoint lets no browser open it.
func (a adminAPI) report(byDefault string) func(http.ResponseWriter, *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		if err := onlyGet(w, r); err != nil {
			return err
		}
		q, err := readQuery(r.URL.Query(), byDefault)
		if err != nil {
			return apiError(http.StatusBadRequest, err.Error())
		}
		return (&reporter{app: a.app(), now: time.Now}).serve(w, r, &q, "")
	}
}

// evidenceRecord is a disobedient request with who made it.
type evidenceRecord struct {
	Site     string `json:"site"`
	Robot    string `json:"robot"`
	Class    string `json:"class"`
	Standing string `json:"standing,omitempty"`
	compliance.Evidence
}

// evidence answers with the disobedient requests that are kept: as JSON or as CSV.
func (a adminAPI) evidence(w http.ResponseWriter, r *http.Request) error {
	if err := onlyGet(w, r); err != nil {
		return err
	}
	q, err := readQuery(r.URL.Query(), "json")
	if err == nil && q.format != "json" && q.format != "csv" {
		err = robotsrules.UnknownWord(q.format, "format json or csv")
	}
	if err != nil {
		return apiError(http.StatusBadRequest, err.Error())
	}
	p := &reporter{app: a.app(), now: time.Now}
	if q.format == "csv" {
		q.format = "evidence.csv"
		return p.serve(w, r, &q, "")
	}
	report, _ := p.report(r.Context(), &q)
	records := []evidenceRecord{} // an empty list, not null, in JSON
	for _, site := range report.Sites {
		for _, robot := range site.Robots {
			for _, evidence := range robot.Evidence {
				records = append(records, evidenceRecord{site.Site, robot.Robot, robot.Class, robot.Standing, evidence})
			}
		}
	}
	return writeJSON(w, records)
}

// onlyGet returns an error for any other method.
func onlyGet(w http.ResponseWriter, r *http.Request) error {
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return nil
	}
	w.Header().Set("Allow", "GET, HEAD")
	return apiError(http.StatusMethodNotAllowed, "GET shows it")
}

// Interface guards
var _ caddy.AdminRouter = (*adminAPI)(nil)
