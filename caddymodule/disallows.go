package caddymodule

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"

	"cel.dev/cel-go/cel"
	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-robots/caddy-robots/crawler"
	"github.com/caddy-robots/caddy-robots/internal/metrics"
	"github.com/caddy-robots/caddy-robots/internal/policies"
	"github.com/caddy-robots/caddy-robots/robotsrules"
)

func init() {
	caddy.RegisterModule(new(MatchDisallows))
}

// MatchDisallows matches requests of any client for pages that robots.txt disallows to a robot.
// People's browsers match too. With it, these pages get a challenge, a limit or a login, also for
// robots that call themselves browsers.
//
// It uses the rules of the `robots` handler of the same site, which must be there, and the request
// before any rewrite. It never waits: while no rules are loaded it matches nothing. It does not
// match `/robots.txt`, the answer to an ACME challenge, or requests of Caddy itself.
type MatchDisallows struct {
	// The name of the robot, as in a User-agent line of robots.txt. The robot need not exist: a
	// separate record can list the pages. Default: `*`, the rules for robots that no record names.
	Robot string `json:"robot,omitempty"`

	app   *App
	robot crawler.Identity
	sites atomic.Pointer[serverSites] // of the server that it stands in; nil before the first request
}

// CaddyModule returns the Caddy module information.
func (*MatchDisallows) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{
		ID:  "http.matchers.robots_disallows",
		New: func() caddy.Module { return new(MatchDisallows) },
	}
}

// UnmarshalCaddyfile sets up the matcher from Caddyfile tokens. Syntax:
//
//	robots_disallows [<robot>|*]
func (m *MatchDisallows) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next()
	names := d.RemainingArgs()
	switch {
	case d.NextBlock(0):
		return d.Err("robots_disallows takes no block; write the robot's name behind it")
	case d.Next():
		return d.Err("robots_disallows stands twice in one matcher; write a matcher for each, or expression robots_disallows('GPTBot') && robots_disallows('CCBot')")
	case len(names) == 0:
		return nil
	}
	if err := m.take(names); err != nil {
		return d.WrapErr(err)
	}
	return nil
}

// take takes the names that stand behind the matcher.
func (m *MatchDisallows) take(names []string) error {
	if len(names) != 1 {
		return fmt.Errorf("robots_disallows: %q: it asks for one robot; write a matcher for each, or expression robots_disallows('GPTBot') || robots_disallows('CCBot')", names)
	}
	m.Robot = names[0]
	if strings.TrimSpace(m.Robot) == "" {
		return errors.New(`robots_disallows: an empty name names no robot; write robots_disallows alone for those that no record names`)
	}
	return m.check()
}

// check returns an error for what cannot be the name of one robot.
func (m *MatchDisallows) check() error {
	name := m.Robot
	if name == "" || name == "*" {
		return nil
	}
	if strings.TrimSpace(name) != name || strings.ContainsAny(name, "/*;(),\"") {
		return fmt.Errorf("robots_disallows: %q is no robot's name; write one as a User-agent line has it, without a version, such as GPTBot, or * for those that no record names", name)
	}
	if isKind(name) {
		return fmt.Errorf("robots_disallows: %q is a kind of robots and not the name of one; write a name such as GPTBot or, where it is about who asks, crawler %s beside it", name, name)
	}
	if meant := meantBy(name); meant != "" {
		return fmt.Errorf("robots_disallows: %q is no robot's name; did you mean %s? That is a kind of robots, for the matcher crawler", name, meant)
	}
	if closest := robotsrules.Closest(name, policies.RobotNames(), 1); closest != "" && !isInCatalogue(name) {
		return fmt.Errorf("robots_disallows: no robot is known as %q; did you mean %s?", name, closest)
	}
	return nil
}

// Provision checks that the site has a robots handler.
func (m *MatchDisallows) Provision(ctx caddy.Context) error {
	if err := m.check(); err != nil {
		return err
	}
	m.robot = crawler.AsRobot(m.Robot)
	if m.Robot == "" || m.Robot == "*" {
		m.robot = crawler.Identity{Class: crawler.Robot}
	}
	var err error
	if m.app, err = appOf(ctx); err != nil {
		return err
	}
	for _, module := range ctx.Modules() {
		if http, ok := module.(*caddyhttp.App); ok {
			return m.app.checkAsking(http)
		}
	}
	return nil
}

// checkAsking returns an error that names a site in which robots_disallows stands and no robots
// handler that could answer. It is called before the first matcher of this kind is provisioned, and
// looks at all.
func (a *App) checkAsking(http *caddyhttp.App) error {
	a.asking.once.Do(func() {
		for name, server := range http.Servers {
			f := newSiteFinder(server)
			f.look(server.Routes, nil)
			f.lookAtErrors(server.Errors, nil)
			for _, patterns := range f.asking {
				if err := f.checkAsking(patterns); err != nil {
					a.asking.err = fmt.Errorf("robots_disallows: %w (server %s, listening at %s)", err, name, strings.Join(server.Listen, " "))
					return
				}
			}
		}
	})
	return a.asking.err
}

// checkAsking returns an error unless it is plain whose rules hold for each of the patterns; none
// are all hosts.
func (f *siteFinder) checkAsking(patterns []string) error {
	if len(patterns) == 0 {
		patterns = []string{metrics.AnySite}
	}
	for _, pattern := range patterns {
		site := "the site " + pattern
		if pattern == metrics.AnySite {
			site = "the site of all other hosts"
		}
		handlers := f.handlersFor(pattern)
		if len(handlers) == 0 {
			return fmt.Errorf("no robots directive stands in %s, so there are no rules; write robots there", site)
		}
		var first *Handler
		for _, h := range handlers {
			own := f.own[h]
			switch isOwn := slices.Contains(own, pattern) || len(own) == 0 && pattern == metrics.AnySite; {
			case isOwn && first == nil:
				first = h
			case isOwn && !h.readsAs(first):
				return fmt.Errorf("two robots directives with different rules stand in %s, so it is not clear which to use; give them the same sources", site)
			}
		}
	}
	return nil
}

// readsAs reports whether a handler has the same rules as another, by what their configs say.
func (h *Handler) readsAs(other *Handler) bool {
	return slices.Equal(h.Sources, other.Sources) && h.MaxSize == other.MaxSize &&
		strings.EqualFold(h.Dialect, other.Dialect) && strings.EqualFold(h.Match, other.Match)
}

// Match reports whether robots.txt disallows the page of r to the robot.
func (m *MatchDisallows) Match(r *http.Request) bool {
	sites := m.sites.Load()
	if sites == nil {
		sites = m.app.sitesOf(serverOf(r))
		m.sites.Store(sites)
	}
	h := sites.handlerOf(policies.Host(r.Host))
	return h != nil && h.disallows(r, &m.robot)
}

// disallows reports whether the rules that the handler enforces disallow to a robot what r asks for.
func (h *Handler) disallows(r *http.Request, robot *crawler.Identity) bool {
	if _, isOwn := h.ownFetch(r); isOwn {
		return false
	}
	if h.policies.WantsRequests() {
		h.learnServer(r)
	}
	x := exchange{r: r, state: stateOf(r)}
	h.fill(&x, "")
	return !x.internal && h.engine.Disallows(r.Context(), &x.request, robot)
}

// MatchWithError is Match. There is no error.
func (m *MatchDisallows) MatchWithError(r *http.Request) (bool, error) { return m.Match(r), nil }

// CELLibrary makes the matcher a function of CEL expressions. Example:
//
//	expression robots_disallows('*') && !crawler('verified')
func (*MatchDisallows) CELLibrary(ctx caddy.Context) (cel.Library, error) {
	return celFunction("robots_disallows", func(words []string) (caddyhttp.RequestMatcherWithError, error) {
		m := new(MatchDisallows)
		if err := m.take(words); err != nil {
			return nil, err
		}
		return m, m.Provision(ctx)
	})
}

// Interface guards
var (
	_ caddy.Provisioner                 = (*MatchDisallows)(nil)
	_ caddyfile.Unmarshaler             = (*MatchDisallows)(nil)
	_ caddyhttp.RequestMatcherWithError = (*MatchDisallows)(nil)
	_ caddyhttp.CELLibraryProducer      = (*MatchDisallows)(nil)
)
