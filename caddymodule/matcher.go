package caddymodule

import (
	"context"
	"errors"
	"net/http"
	"reflect"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types/ref"
	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-robots/caddy-robots/crawler"
)

func init() {
	caddy.RegisterModule(MatchCrawler{})
}

// MatchCrawler matches requests from robots, as their User-Agent states them: all of
// them, or those of certain names. It never matches a person's browser.
//
// With it, robots can be sent elsewhere with Caddy's own directives. It decides nothing
// about robots.txt.
type MatchCrawler struct {
	// The names of the robots, each as a User-agent line of robots.txt would have it: it
	// matches robots in whose User-Agent it occurs, in any case of letters, and the app or
	// HTTP library whose first product token it equals (`curl`). `*` is every robot.
	// Default: every robot.
	Names []string `json:"names,omitempty"`

	shared *shared
}

// CaddyModule returns the Caddy module information.
func (MatchCrawler) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{
		ID:  "http.matchers.crawler",
		New: func() caddy.Module { return new(MatchCrawler) },
	}
}

// UnmarshalCaddyfile sets up the matcher from Caddyfile tokens. Syntax:
//
//	crawler [<name>...]
//
// Several of them in one set are one, with all their names.
func (m *MatchCrawler) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	for d.Next() {
		m.Names = append(m.Names, d.RemainingArgs()...)
		if d.NextBlock(0) {
			return d.Err("crawler takes no block; write the robots' names behind it")
		}
	}
	return m.check()
}

// check returns an error for names that would match everything.
func (m *MatchCrawler) check() error {
	for _, name := range m.Names {
		if strings.TrimSpace(name) == "" {
			return errors.New(`crawler: an empty name names no robot; write crawler alone to match every robot`)
		}
	}
	return nil
}

// Provision gets hold of what is known of User-Agents in this process.
func (m *MatchCrawler) Provision(caddy.Context) error {
	if err := m.check(); err != nil {
		return err
	}
	var err error
	m.shared, err = acquireShared()
	return err
}

// Cleanup lets go of it.
func (m *MatchCrawler) Cleanup() error {
	if m.shared == nil {
		return nil
	}
	return releaseShared()
}

// Match tells whether r comes from one of the robots.
func (m MatchCrawler) Match(r *http.Request) bool {
	who := m.shared.crawlers.Identify(userAgent(r))
	if len(m.Names) == 0 {
		return who.Class == crawler.Robot
	}
	for _, name := range m.Names {
		switch who.Class {
		case crawler.Robot:
			if name == "*" || containsFold(who.Text, name) {
				return true
			}
		case crawler.App:
			if len(who.Products) > 0 && strings.EqualFold(who.Products[0], name) {
				return true
			}
		}
	}
	return false
}

// MatchWithError tells whether r comes from one of the robots. It never errs.
func (m MatchCrawler) MatchWithError(r *http.Request) (bool, error) {
	return m.Match(r), nil
}

// CELLibrary makes the matcher a function of CEL expressions. Example:
//
//	expression crawler('*') && !crawler('Googlebot', 'bingbot')
func (MatchCrawler) CELLibrary(ctx caddy.Context) (cel.Library, error) {
	return caddyhttp.CELMatcherImpl(
		"crawler", "crawler_match_request_list",
		[]*cel.Type{cel.ListType(cel.StringType)},
		func(data ref.Val) (caddyhttp.RequestMatcherWithError, error) {
			names, err := data.ConvertToNative(reflect.TypeFor[[]string]())
			if err != nil {
				return nil, err
			}
			m := MatchCrawler{Names: names.([]string)}
			if err := m.Provision(ctx); err != nil {
				return nil, err
			}
			// Caddy does not clean up what an expression made; the end of its config does.
			context.AfterFunc(ctx, func() { _ = m.Cleanup() })
			return m, nil
		},
	)
}

// Interface guards
var (
	_ caddy.Provisioner                 = (*MatchCrawler)(nil)
	_ caddy.CleanerUpper                = (*MatchCrawler)(nil)
	_ caddyfile.Unmarshaler             = (*MatchCrawler)(nil)
	_ caddyhttp.RequestMatcher          = (*MatchCrawler)(nil)
	_ caddyhttp.RequestMatcherWithError = (*MatchCrawler)(nil)
	_ caddyhttp.CELLibraryProducer      = (*MatchCrawler)(nil)
)
