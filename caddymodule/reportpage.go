package caddymodule

import (
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

func init() {
	caddy.RegisterModule(ReportPage{})
	httpcaddyfile.RegisterDirective("robots_report", parseReportPage)
	httpcaddyfile.RegisterDirectiveOrder("robots_report", httpcaddyfile.Before, "respond")
}

// ReportPage answers with a page that shows what robots did, for the owner of the site. It says how
// many there were, how many obeyed, what was refused, which lines of robots.txt they broke, and the
// evidence. It asks for nothing from elsewhere and works without scripts.
//
// It answers those who are authenticated, as by `basic_auth`
// before it, and the addresses that are allowed; all others get a 403 that says what to write.
//
// With the query `?format=json`, `csv` or `evidence.csv` it answers the same as data; `site`,
// `robot`, `class`, `standing`, `operator` and `purpose` select a part of it.
type ReportPage struct {
	// The hosts that are shown; "*" for all that this Caddy serves. Default: those of the site that
	// the page stands in.
	Sites []string `json:"sites,omitempty"`

	// The addresses that may see the page without a password: addresses, CIDR ranges, or
	// `private_ranges`. The address of a proxy is not that of its clients: see `trusted_proxies` of
	// Caddy. Default: none.
	Allow []string `json:"allow,omitempty"`

	// How often an open page is brought up to date, from 1s. Default: 30s; -1 for never.
	Refresh caddy.Duration `json:"refresh,omitempty"`

	reporter *reporter
	allowed  []netip.Prefix
}

// defaultReportPath is where the page is, unless a matcher says otherwise, and below it.
const defaultReportPath = "/robots-report"

// allSites among the sites of the page stands for all that there are.
const allSites = "*"

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
		return fmt.Errorf("refresh %s: write a duration from 1s, or off", written(d))
	}
	_, err := readRanges(p.Allow)
	return err
}

// readRanges reads what the page allows.
func readRanges(values []string) (ranges []netip.Prefix, err error) {
	for _, value := range values {
		expressions := []string{value}
		if value == "private_ranges" {
			expressions = caddyhttp.PrivateRangesCIDR()
		}
		for _, expression := range expressions {
			prefix, err := caddyhttp.CIDRExpressionToPrefix(expression)
			if err != nil {
				return nil, fmt.Errorf("allow: %q is no address; write one, a range such as 192.0.2.0/24, or private_ranges", value)
			}
			ranges = append(ranges, prefix)
		}
	}
	return ranges, nil
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
	p.allowed, _ = readRanges(p.Allow) // checked above
	p.reporter = &reporter{app: app, refresh: refresh, now: time.Now}
	return nil
}

// mayBeSeenBy reports whether the client may see the page. An address that may be that of a proxy is
// nobody's.
func (p *ReportPage) mayBeSeenBy(r *http.Request) bool {
	if repl, ok := r.Context().Value(caddy.ReplacerCtxKey).(*caddy.Replacer); ok {
		if user, _ := repl.GetString("http.auth.user.id"); user != "" {
			return true
		}
	}
	c := connectionOf(r.Context(), serverOf(r), r.RemoteAddr, r.Header)
	return c.IsFrom(p.allowed)
}

// notForYou is what those are told who may not see the page: one of them may be its owner.
const notForYou = "403 Forbidden\n\nThis page is for the owner of the site. If that is you, write in the Caddyfile\n\n" +
	"\tbasic_auth /robots-report* {\n\t\t<name> <what caddy hash-password prints>\n\t}\n\n" +
	"or your address in the block of robots_report, as in\n\n\trobots_report {\n\t\tallow 192.0.2.7\n\t}\n\n" +
	"Behind a proxy, an address counts only where trusted_proxies names the proxy.\n"

// shows returns which sites the page shows to r, nil for all.
func (p *ReportPage) shows(r *http.Request) func(host string) bool {
	if slices.Contains(p.Sites, allSites) {
		return nil
	}
	if len(p.Sites) > 0 {
		return func(host string) bool { return slices.Contains(p.Sites, host) }
	}
	sites := p.reporter.app.sitesOf(serverOf(r))
	patterns := sites.own[p]
	if len(patterns) == 0 {
		return nil // its site is that of all hosts
	}
	own := p.reporter.app.counts.Named(patterns)
	return func(host string) bool { return slices.Contains(own, sites.Of(host)) }
}

// ServeHTTP answers with the page.
func (p *ReportPage) ServeHTTP(w http.ResponseWriter, r *http.Request, _ caddyhttp.Handler) error {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		return caddyhttp.Error(http.StatusMethodNotAllowed, fmt.Errorf("robots_report: %s is not answered here; use GET", r.Method))
	}
	w.Header().Set("X-Robots-Tag", "noindex")
	if !p.mayBeSeenBy(r) {
		http.Error(w, notForYou, http.StatusForbidden)
		return nil
	}
	original, _ := originalTarget(r) // as the links of the page have to be
	q, err := readQuery(original.Query(), "html")
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return nil
	}
	shown := *p.reporter
	shown.shows = p.shows(r)
	return shown.serve(w, r, &q, original.EscapedPath())
}

func parseReportPage(helper httpcaddyfile.Helper) ([]httpcaddyfile.ConfigValue, error) {
	helper.Next()
	_, stated, _ := helper.MatcherToken() // newRoute tells of an error
	routes, err := newRoute(helper, new(ReportPage))
	if err != nil || stated || !inSiteBlock(helper) {
		return routes, err
	}
	route := routes[0].Value.(caddyhttp.Route)
	below := caddyhttp.MatchPath{defaultReportPath, defaultReportPath + "/*"}
	route.MatcherSetsRaw = []caddy.ModuleMap{{"path": caddyconfig.JSON(below, nil)}}
	routes[0].Value = route
	return routes, nil
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
//		allow   <address|CIDR|private_ranges>...
//		sites   <host>... | *
//		refresh <duration> | off
//	}
//
// In the block of a site itself the default matcher is /robots-report and all below it. In another
// block it is all that comes there.
func (p *ReportPage) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	return parseBlock(d, nil, func(option string) error {
		switch option {
		case "sites":
			if p.Sites = d.RemainingArgs(); len(p.Sites) == 0 {
				return d.Err("sites: write the hosts that are shown, such as example.com")
			}
			return nil
		case "allow":
			if p.Allow = d.RemainingArgs(); len(p.Allow) == 0 {
				return d.Err("allow: write the addresses that may see the page, such as 192.0.2.7 or private_ranges")
			}
			if err := p.check(); err != nil {
				return d.WrapErr(err)
			}
			return nil
		case "refresh":
			return p.parseRefresh(d)
		}
		return unrecognized(d, "robots_report", option, "allow", "refresh", "sites")
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
