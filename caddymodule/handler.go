package caddymodule

import (
	"context"
	"sync"
	"time"

	"github.com/caddyserver/caddy/v2"
	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"

	"github.com/caddy-robots/caddy-robots/internal/cli"
	"github.com/caddy-robots/caddy-robots/internal/enforce"
	"github.com/caddy-robots/caddy-robots/internal/policies"
	"github.com/caddy-robots/caddy-robots/internal/proof"
	"github.com/caddy-robots/caddy-robots/internal/ratelimit"
)

func init() {
	caddy.RegisterModule(Handler{})
	caddycmd.RegisterCommand(cli.Command())
}

// Handler enforces the site's own robots.txt: 403 for what it disallows, 429 for robots that come too fast.
// A robot that comes outside its hours gets 429 too. People's browsers pass, and so does every
// app, library or service that no record of the file names. /robots.txt itself is always served.
//
// Without options, the rules are what this same server answers to `GET /robots.txt` on the same
// host. In a Caddyfile:
//
//	example.com {
//		root * /srv/example
//		robots {
//			verify known
//			too_fast wait 10s
//		}
//		file_server
//	}
//
// The handler alone, in JSON:
//
//	{
//		"handler": "robots",
//		"too_fast": "wait",
//		"max_wait": "10s",
//		"verify": {"known": true}
//	}
//
// Put it before every handler that answers or rewrites requests; a Caddyfile does this by itself.
//
// A refusal goes through Caddy's error handling, so `handle_errors` can answer it. If no error
// route matches, a short text names the robot, the line of robots.txt that decided, and the time to
// come back.
//
// These placeholders are set on requests that were refused, would have been refused
// (where the option says observe), or were exempt:
//
// Placeholder | Description
// ------------|---------------
// `{http.robots.verdict}` | `disallowed`, `too_fast`, `off_hours`, `banned`, `impostor` or `exempt`
// `{http.robots.outcome}` | `refused`; `observed`: served although it was against the rules; or `passed`
// `{http.robots.robot}` | The robot's name, as in its User-Agent
// `{http.robots.class}` | `robot`, `service`, `app`, `unstated` (no User-Agent) or `browser`
// `{http.robots.verified}` | `verified`, `unverified` or `impostor`; empty if there is no claim that can be checked
// `{http.robots.record}` | The value of the User-agent line of the record that binds it
// `{http.robots.rule}` | The line of robots.txt that decided, as written; for a ban, the line that was broken last
// `{http.robots.line}` | The number of that line
// `{http.robots.retry_after}` | Seconds until a request would pass, for 429 and for a ban
type Handler struct {
	// The sources of the rules. They are joined in this order, each under a comment with its
	// source. Default: what this server answers to `GET /robots.txt` on the host of the request.
	Sources []policies.Source `json:"sources,omitempty"`

	// Answer /robots.txt with the same text that is enforced, also when it is empty. Needs sources.
	// Default: false, the site's other handlers serve /robots.txt.
	Serve bool `json:"serve,omitempty"`

	// How often the sources are loaded again, in the background. Cache-Control and Expires of a
	// robots.txt can make this longer, up to 24 hours. Default: 1m.
	Refresh caddy.Duration `json:"refresh,omitempty"`

	// What holds before the first good load, if robots.txt answers 5xx, times out, is cut short or
	// cannot be read: `allow` or `deny`. After that, a failed load never removes rules. Default:
	// allow.
	Unreachable string `json:"unreachable,omitempty"`

	// How many bytes of each source are read; a longer text is cut at the last whole line. Default:
	// 512000 (500 KiB, as RFC 9309 asks).
	MaxSize int64 `json:"max_size,omitempty"`

	// Which standard reads the file: `rfc9309`, `draft1996` or `norobots1994`.
	// Default: rfc9309.
	Dialect string `json:"dialect,omitempty"`

	// How a record's User-agent value finds its robot: `substring`, the value is a part of what the
	// robot says of itself, in capitals or small letters; `token`, it equals a product token of the
	// robot. Default: substring.
	Match string `json:"match,omitempty"`

	// Which clients the `*` record binds: `robots`, clients that say that they are robots and
	// clients without a User-Agent; `clients`, services, HTTP libraries and apps too; `everyone`,
	// browsers too; `nobody`. Default: robots.
	Unnamed string `json:"unnamed,omitempty"`

	// Clients that are never judged: addresses and CIDR ranges, `private_ranges`, robots that
	// `verify` has proved to be who they say (`verified`) or that have a purpose (in small letters;
	// see the matcher `crawler`), or any other text, which is looked for in the User-Agent header,
	// in capitals or small letters. If `verify` can check a robot, the purpose exempts it only when
	// it is verified. Default: nobody.
	Exempt []string `json:"exempt,omitempty"`

	// Texts in the User-Agents of robots that do not say that they are robots, in capitals or small
	// letters. Default: none.
	TreatAsRobot []string `json:"treat_as_robot,omitempty"`

	// Paths to which no link leads people and that the `*` record of robots.txt disallows. A path
	// that ends in a slash includes everything below it. A client that calls itself a browser, or
	// sends no User-Agent, and fetches such a path counts as a robot from then on: the `*` record
	// binds it, it is never banned, and default_pace does not hold for it. Requests that a person
	// or another site may cause do not count: a click, a link in a message, a part of a page, a
	// page fetched ahead. A path that robots.txt does not disallow to all catches nobody, and the
	// log says so when the rules are loaded. Default: none.
	Trap []string `json:"trap,omitempty"`

	// How long a client that fetched a trap counts as a robot: the same address with the same
	// User-Agent. Default: 24h.
	TrapFor caddy.Duration `json:"trap_for,omitempty"`

	// How robots prove that they are who they say. Default: they are not checked.
	Verify *Verify `json:"verify,omitempty"`

	// What happens to a client that claims to be a robot and is not: `unnamed`, it is judged as a
	// robot that no record names; `refuse` (403); or `observe`, it is noted and judged as the robot
	// that it claims to be. Default: unnamed.
	Impostors string `json:"impostors,omitempty"`

	// What happens when a robot asks for a disallowed path: `refuse` (403), `observe` (noted in the
	// log, and served) or `pace` (served at the rate of disallowed_pace, beyond it 429 with
	// Retry-After). Default: refuse.
	Disallowed string `json:"disallowed,omitempty"`

	// The rate for `"disallowed": "pace"`, as Request-rate states it: `1/1m`, one document a
	// minute. If the robot's record states a slower pace, that pace holds. Required there, and an
	// error elsewhere. Default: none.
	DisallowedPace string `json:"disallowed_pace,omitempty"`

	// What happens when a robot comes faster than Crawl-delay, Request-rate or default_pace allow:
	// `refuse` (429 with Retry-After), `observe`, or `wait` (the request is held until its time if
	// that is within max_wait; otherwise it is refused). Default: refuse.
	TooFast string `json:"too_fast,omitempty"`

	// How long a request is held at the most with `"too_fast": "wait"`, up to 5m. Required
	// there, and an error elsewhere. Default: none.
	MaxWait caddy.Duration `json:"max_wait,omitempty"`

	// Robots for which the paths and hours of their record hold, but no pace, since they do not
	// read it: product tokens (`Googlebot` includes Googlebot-Image), purposes, which mean all
	// robots of the catalogue that have them (see the matcher `crawler`), or `verified`, all that
	// `verify` has proved to be who they say. If `verify` can check a robot, it must be verified;
	// any client can take one of the other names. Default: nobody.
	Unpaced []string `json:"unpaced,omitempty"`

	// The pace of robots whose record states none, or that no record binds, as Request-rate states
	// it: `1/5s`. Default: none.
	DefaultPace string `json:"default_pace,omitempty"`

	// What happens when a robot comes outside the Visit-time of its record: `refuse` (429,
	// Retry-After until the window opens) or `observe`. Default: refuse.
	OffHours string `json:"off_hours,omitempty"`

	// After a change of robots.txt, how long a robot that has not fetched the new text may still do
	// what the previous text allowed: its paths, its pace and its hours. Up to 30d. Default: 0.
	Grace caddy.Duration `json:"grace,omitempty"`

	// When a robot that disobeys again and again is banned: everything but /robots.txt is refused.
	// A verified robot is banned at all its addresses, any other one at its address only. Default:
	// never.
	Ban *Ban `json:"ban,omitempty"`

	// What counts as one client, for traps, bans and the paces of clients without a name.
	// Default: an address of IPv4 and a /64 of IPv6.
	ClientPrefix *ClientPrefix `json:"client_prefix,omitempty"`

	// Keep whole addresses with the evidence of disobedience, for the report and the admin
	// API. Default: false, only their networks are kept (/24 or, of IPv6, /48).
	WholeAddresses bool `json:"whole_addresses,omitempty"`

	// Keep the queries of URLs with the evidence of disobedience. They may hold secrets.
	// Default: false, only the "?" before them is kept.
	WholeQueries bool `json:"whole_queries,omitempty"`

	// Statements of robots.txt that are repeated as response headers, for every client: `timegate`,
	// `content_usage`, `noindex`, `sitemap`, `license`. Headers that the site itself sets stay as
	// they are. Default: none.
	Announce []string `json:"announce,omitempty"`

	// Judge and log everything, refuse nothing: the safe first week. It overrides
	// impostors, disallowed, too_fast, off_hours and ban. Default: false.
	Observe bool `json:"observe,omitempty"`

	ctx      caddy.Context
	app      *App
	settings settings
	engine   *enforce.Engine
	policies *policies.Loader
	prover   *proof.Prover     // nil: nobody is asked
	server   *caddyhttp.Server // that it stands in; nil where there is none
	port     int               // that the server listens at; see portOf
	log      *zap.Logger
	clock
	leave []func() // end what this handler has begun

	observers *observers
}

// CaddyModule returns the Caddy module information.
func (Handler) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{
		ID:  "http.handlers.robots",
		New: func() caddy.Module { return new(Handler) },
	}
}

// Provision reads the options and loads the sources that need no network; the others follow when
// Caddy has started. A robots.txt that cannot be loaded is never an error here: the site is served,
// and the log says what is wrong.
func (h *Handler) Provision(ctx caddy.Context) error {
	var err error
	if h.settings, err = h.readOptions(); err != nil {
		return err
	}
	if h.app, err = appOf(ctx); err != nil {
		return err
	}
	h.ctx, h.log = ctx, h.app.sampledLog
	if h.now == nil {
		h.clock = clock{now: time.Now, since: time.Since, isCaddys: true}
	}
	if h.since == nil {
		h.since = func(at time.Time) time.Duration { return h.now().Sub(at) }
	}
	server, _ := ctx.Value(caddyhttp.ServerCtxKey).(*caddyhttp.Server)
	h.server, h.port = server, portOf(server)
	if h.Ban != nil || h.app.Share != nil {
		h.app.keepBans()
	}
	h.app.keepLedger()
	background, stop := context.WithCancel(context.Background())
	h.leave = append(h.leave, stop)
	sites := &siteIndex{handler: h, app: h.app, server: server, now: h.now}
	h.observers = &observers{
		app: h.app, ctx: ctx, log: h.log, now: h.now, sites: sites,
		wholeAddresses: h.WholeAddresses, wholeQueries: h.WholeQueries,
	}
	h.policies = policies.New(h.app.policies, policies.Config{
		Sources: h.Sources, Reading: h.settings.reading, Match: h.settings.match, Refresh: h.settings.refresh,
		DenyUnknown: h.settings.denyUnknown, Options: &h.settings.Options, Log: h.log, Now: h.now, Storage: ctx.Storage(), Loaded: h.observers.loaded,
	})
	sites.policies = h.policies
	h.leave = append(h.leave, h.app.add(sites))
	h.engine = &enforce.Engine{
		Options: h.settings.Options, Policies: h.policies, Origins: h, Limiter: h.app.limiter, Bans: h.app.memory.Bans(),
		Traps: h.app.traps, Queue: h.newHolder(server), Readers: h.app.ledger, Observing: &h.app.observing,
	}
	if h.Verify != nil {
		h.prover = h.sharedProver()
		h.engine.Prover = h.prover
	}
	h.reportUnprovable()
	h.policies.Start(background)
	return nil
}

// newHolder makes what holds requests, until the server shuts down or the handler ends: Cleanup
// comes after the last request.
func (h *Handler) newHolder(server *caddyhttp.Server) *ratelimit.Holder {
	closing := make(chan struct{})
	release := sync.OnceFunc(func() { close(closing) })
	if server != nil {
		server.RegisterOnShutdown(release)
	}
	h.leave = append(h.leave, release)
	return &ratelimit.Holder{Queue: h.app.queue, Limiter: h.app.limiter, MaxWait: h.settings.maxWait, Now: func() time.Time { return h.now() }, Closing: closing}
}

// Validate returns an error for options that make no sense together.
func (h *Handler) Validate() error { return h.checkTogether(h.settings) }

// Cleanup ends what the handler does in the background. It also runs after a Provision that did
// not end well.
func (h *Handler) Cleanup() error {
	for _, leave := range h.leave {
		leave()
	}
	return nil
}

// Interface guards
var (
	_ caddy.Provisioner           = (*Handler)(nil)
	_ caddy.Validator             = (*Handler)(nil)
	_ caddy.CleanerUpper          = (*Handler)(nil)
	_ caddyhttp.MiddlewareHandler = (*Handler)(nil)
)
