package caddymodule

import (
	"fmt"
	"net/http"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

func init() {
	caddy.RegisterModule(ReportPage{})
	httpcaddyfile.RegisterDirective("robots_report", parseReportPage)
	httpcaddyfile.RegisterDirectiveOrder("robots_report", httpcaddyfile.Before, "respond")
}

// ReportPage answers with a page that shows what robots did: how many there were, how many
// obeyed, what was refused, which lines of robots.txt they broke, and the evidence. It asks
// for nothing from elsewhere and works without scripts.
//
// The page is for the owner of the site: put it behind `basic_auth` or on an address that
// only the owner reaches.
//
// With the query `?format=json`, `csv` or `evidence.csv` it answers the same as data; `site`,
// `robot`, `class` and `standing` select a part of it.
type ReportPage struct {
	// The hosts that are shown. Default: all that this Caddy serves.
	Sites []string `json:"sites,omitempty"`

	// How often an open page is brought up to date, from 1s. Default: 30s; -1 for never.
	Refresh caddy.Duration `json:"refresh,omitempty"`

	reporter *reporter
}

// defaultReportRefresh is how often an open page is brought up to date.
const defaultReportRefresh = 30 * time.Second

// CaddyModule returns the Caddy module information.
func (ReportPage) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{
		ID:  "http.handlers.robots_report",
		New: func() caddy.Module { return new(ReportPage) },
	}
}

// check returns an error for an option that makes no sense.
func (p *ReportPage) check() error {
	if d := time.Duration(p.Refresh); d > 0 && d < time.Second {
		return fmt.Errorf("refresh %s: write a duration from 1s, or off", d)
	}
	return nil
}

// Provision takes up the ledger, which a stop has left in Caddy's storage.
func (p *ReportPage) Provision(ctx caddy.Context) error {
	if err := p.check(); err != nil {
		return err
	}
	app, err := appOf(ctx)
	if err != nil {
		return err
	}
	app.keepLedger()
	refresh := time.Duration(p.Refresh)
	if refresh == 0 {
		refresh = defaultReportRefresh
	}
	p.reporter = &reporter{app: app, sites: p.Sites, refresh: refresh, now: time.Now}
	return nil
}

// ServeHTTP answers with the page.
func (p *ReportPage) ServeHTTP(w http.ResponseWriter, r *http.Request, _ caddyhttp.Handler) error {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		return caddyhttp.Error(http.StatusMethodNotAllowed, fmt.Errorf("robots_report: %s is not answered here; use GET", r.Method))
	}
	original := r.URL
	if first, ok := r.Context().Value(caddyhttp.OriginalRequestCtxKey).(http.Request); ok {
		original = first.URL // as the links of the page have to be
	}
	q, err := readQuery(original.Query(), "html")
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return nil
	}
	return p.reporter.serve(w, r, &q, original.EscapedPath())
}

func parseReportPage(helper httpcaddyfile.Helper) ([]httpcaddyfile.ConfigValue, error) {
	helper.Next()
	if _, matched, err := helper.MatcherToken(); err == nil && !matched && inSiteBlock(helper) && helper.CountRemainingArgs() == 0 {
		helper.Reset()
		helper.Next()
		return nil, helper.Err("robots_report without a matcher would answer all that is asked of this site: " +
			"write robots_report /robots-report*, or robots_report * if the site is to have nothing else")
	}
	return newRoute(helper, new(ReportPage))
}

// inSiteBlock reports whether a directive stands in the block of a site itself and in no other
// block inside it: only there Caddy keeps the state of the block with that of the whole Caddyfile.
func inSiteBlock(helper httpcaddyfile.Helper) bool {
	const probe = "robots_report.probe"
	helper.BlockState[probe] = true
	_, same := helper.State[probe]
	delete(helper.BlockState, probe)
	return same && !helper.IsNamedRoute()
}

// UnmarshalCaddyfile sets up the page from Caddyfile tokens. Syntax:
//
//	robots_report [<matcher>] {
//		sites   <host>...
//		refresh <duration> | off
//	}
func (p *ReportPage) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	return parseBlock(d, nil, func(option string) error {
		switch option {
		case "sites":
			if p.Sites = d.RemainingArgs(); len(p.Sites) == 0 {
				return d.Err("sites: write the hosts that are shown, such as example.com")
			}
			return nil
		case "refresh":
			return p.parseRefresh(d)
		}
		return unrecognized(d, "robots_report", option, "refresh", "sites")
	})
}

func (p *ReportPage) parseRefresh(d *caddyfile.Dispenser) error {
	const like = "30s, or off"
	var value string
	if err := oneArgument(d, "refresh", &value, "a duration such as "+like); err != nil {
		return err
	}
	if value == "off" {
		p.Refresh = -1
		return nil
	}
	if err := readDuration(d, "refresh", value, &p.Refresh, like); err != nil {
		return err
	}
	if err := p.check(); err != nil {
		return d.WrapErr(err)
	}
	return nil
}

// Interface guards
var (
	_ caddy.Provisioner           = (*ReportPage)(nil)
	_ caddyhttp.MiddlewareHandler = (*ReportPage)(nil)
	_ caddyfile.Unmarshaler       = (*ReportPage)(nil)
)
