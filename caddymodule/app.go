package caddymodule

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyevents"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/caddy-robots/caddy-robots/crawler"
	"github.com/caddy-robots/caddy-robots/internal/enforce"
	"github.com/caddy-robots/caddy-robots/internal/fleet"
	"github.com/caddy-robots/caddy-robots/internal/metrics"
	"github.com/caddy-robots/caddy-robots/internal/policies"
	"github.com/caddy-robots/caddy-robots/internal/proof"
	"github.com/caddy-robots/caddy-robots/internal/proof/dns"
	"github.com/caddy-robots/caddy-robots/internal/proof/webbotauth"
	"github.com/caddy-robots/caddy-robots/internal/ratelimit"
	"github.com/caddy-robots/caddy-robots/internal/storage"
)

func init() {
	caddy.RegisterModule(new(App))
}

// App is what all `robots` handlers of a config have in common, such as where a fleet counts together.
// It needs no configuration; without any, each Caddy counts for itself.
//
// It also holds what survives a config reload: paces, bans, known User-Agents, and the last good
// robots.txt of each source.
type App struct {
	// The Redis or Valkey in which a fleet of Caddys shares paces, bans and the report.
	// Default: none, each Caddy counts for itself.
	Share *Share `json:"share,omitempty"`

	// The DNS server that is asked to verify robots, as an address with or without port.
	// Default: the system's.
	Resolver string `json:"resolver,omitempty"`

	// How many bytes of memory the hosts that clients ask for may take, with their texts and
	// compiled rules. Hosts that the config names are always held. Default: 128 MiB.
	HostsMemory int64 `json:"hosts_memory,omitempty"`

	crawlers   *crawler.Cache
	memory     *ratelimit.Memory // paces and bans of this process
	limiter    ratelimit.Limiter // memory, or the fleet's
	queue      *ratelimit.Queue
	traps      *enforce.Traps
	policies   *policies.Cache
	counts     *metrics.Counts
	ledger     *storage.Ledger
	bans       *storage.Keeper
	publisher  *fleet.Publisher
	fleet      *fleet.Fleet // nil: none
	signatures *webbotauth.Verifier
	dns        *dns.Verifier

	ctx        caddy.Context
	log        *zap.Logger
	sampledLog *zap.Logger // the one sampler of all handlers: each takes 448 KiB
	events     *caddyevents.App

	observing atomic.Bool // nobody is refused, whatever the config says: POST /robots/observe

	readers chan struct{} // has room for as many readers of robots.txt as may be checked at a time
	started started
	keep    struct{ ledger, bans sync.Once }
	told    struct{ proxy sync.Once } // what the log says once a start
	leave   []func()                  // releases what is held
	asking  struct {                  // whether each robots_disallows has a robots handler
		once sync.Once
		err  error
	}

	mu       sync.Mutex               // guards what follows
	handlers map[*siteIndex]int       // by when they were added
	added    int                      // how many ever were
	provers  map[string]*proof.Prover // by what they verify, in JSON
	servers  map[*caddyhttp.Server]*serverSites
}

// CaddyModule returns the Caddy module information.
func (*App) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "robots", New: func() caddy.Module { return new(App) }}
}

// handlerModule is the module under whose name everything is logged.
type handlerModule struct{}

// CaddyModule returns the Caddy module information.
func (handlerModule) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.handlers.robots"}
}

// Provision takes hold of what the process remembers.
func (a *App) Provision(ctx caddy.Context) error {
	// One logger for all that robots says, whichever part says it.
	a.ctx, a.log = ctx, ctx.Logger(handlerModule{})
	a.sampledLog = sampled(a.log)
	a.readers = make(chan struct{}, maxReaders)
	if err := a.Validate(); err != nil {
		return err
	}
	if err := a.acquire(); err != nil {
		return err
	}
	events, err := ctx.App("events")
	if err != nil {
		return err
	}
	a.events = events.(*caddyevents.App)
	if err := a.events.On(startedEvent, &a.started); err != nil {
		a.log.Warn("no events are emitted, and metrics of robots.txt are missing", zap.Error(err))
	}
	a.started.then(a.preload)
	return ctx.GetMetricsRegistry().Register(metrics.Collector{Counts: a.counts, State: a.metricsState})
}

// Validate returns an error for an option that makes no sense.
func (a *App) Validate() error {
	if a.Resolver != "" {
		host, _, _ := strings.Cut(a.Resolver, ":")
		_, err := netip.ParseAddrPort(a.Resolver)
		_, err2 := netip.ParseAddr(a.Resolver)
		if err != nil && err2 != nil && (host == "" || strings.ContainsAny(a.Resolver, "/ ")) {
			return fmt.Errorf("resolver: %q is not a server; write its address, such as 9.9.9.9 or 127.0.0.1:5353", a.Resolver)
		}
	}
	if a.HostsMemory != 0 && a.HostsMemory < minHostsMemory {
		return fmt.Errorf("hosts_memory %d: write a size from 1MiB, such as 512MiB; the default is 128MiB", a.HostsMemory)
	}
	return a.Share.check()
}

// minHostsMemory holds some hundred hosts.
const minHostsMemory = 1 << 20

// Start implements caddy.App. The handlers do all the work.
func (a *App) Start() error { return nil }

// Stop implements caddy.App.
func (a *App) Stop() error { return nil }

// Cleanup releases what this config shares with the next one. It also runs after a Provision that
// failed.
func (a *App) Cleanup() error {
	for _, leave := range slices.Backward(a.leave) {
		leave()
	}
	return nil
}

// appOf returns the app of the config that ctx belongs to.
func appOf(ctx caddy.Context) (*App, error) {
	app, err := ctx.App("robots")
	if err != nil {
		return nil, err
	}
	return app.(*App), nil
}

// activeApp returns the app of the config that runs, nil where none has one.
func activeApp() *App {
	app, err := caddy.ActiveContext().AppIfConfigured("robots")
	if err != nil {
		return nil
	}
	return app.(*App)
}

// add makes the sites of a handler known, until remove is called.
func (a *App) add(s *siteIndex) (remove func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.handlers == nil {
		a.handlers = make(map[*siteIndex]int)
	}
	a.added++
	a.handlers[s] = a.added
	return func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		delete(a.handlers, s)
	}
}

// all returns the sites of each handler of the config, the newest first.
func (a *App) all() []*siteIndex {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.SortedFunc(maps.Keys(a.handlers), func(s, t *siteIndex) int { return cmp.Compare(a.handlers[t], a.handlers[s]) })
}

const (
	// perSecond is how many lines of each message are logged, and how many refusals are
	// emitted as events, in a second; beyond it, one in oneIn. A flood of robots, or of made-up
	// hosts, must not fill a disk nor slow down the site.
	perSecond = 100
	oneIn     = 100
)

// maxReaders bounds the readings of /robots.txt of which a name server is still to say whose
// they were.
const maxReaders = 64

// sampled returns a logger that thins out floods.
func sampled(log *zap.Logger) *zap.Logger {
	return log.WithOptions(zap.WrapCore(func(core zapcore.Core) zapcore.Core {
		return zapcore.NewSamplerWithOptions(core, time.Second, perSecond, oneIn)
	}))
}

// startedEvent is what Caddy emits when all apps of a config have started. From then on nothing
// in the config changes.
const startedEvent = "started"

// maxWaiting bounds what waits for the start, should a config never start.
const maxWaiting = 1 << 16

// started holds what has to wait until Caddy has started: what looks at other parts of the
// config, which are provisioned at the same time. It is safe for concurrent use. The zero
// started has not happened.
type started struct {
	over atomic.Bool

	mu      sync.Mutex // guards waiting, and over while it changes
	waiting []func()
}

// then calls f once Caddy has started: at once, if it has. What was to be called before is over
// by then.
func (s *started) then(f func()) {
	s.mu.Lock()
	if !s.over.Load() {
		if len(s.waiting) < maxWaiting {
			s.waiting = append(s.waiting, f)
		}
		s.mu.Unlock()
		return
	}
	s.mu.Unlock()
	f()
}

// Handle implements caddyevents.Handler: it is told that Caddy has started.
func (s *started) Handle(context.Context, caddy.Event) error {
	for {
		waiting := s.next()
		if waiting == nil {
			return nil
		}
		for _, f := range waiting {
			f()
		}
	}
}

// next returns what is to be called. When there is nothing left, the waiting is over.
func (s *started) next() []func() {
	s.mu.Lock()
	defer s.mu.Unlock()
	waiting := s.waiting
	s.waiting = nil
	s.over.Store(waiting == nil)
	return waiting
}

// Share is the store in which a fleet of Caddys counts together. If it is slow or gone, each Caddy
// goes on with what it knows itself. No request waits longer than the timeout, and none fails.
type Share struct {
	// The URL of the Redis or Valkey: redis://, rediss:// (TLS) or unix://, with user, password and
	// database if there are any, and with other nodes of a cluster as `addr` in its query; or of
	// Sentinels, as redis+sentinel://host1:26379,host2:26379/mymaster. With TLS, `ca_file` in the
	// query names authorities to trust. Placeholders such as {env.REDIS_URL} are replaced.
	// Required, no default.
	URL string `json:"url"`

	// How long a request waits for an answer, from 1ms to 10s. Default: 50ms.
	Timeout caddy.Duration `json:"timeout,omitempty"`
}

const (
	minShareTimeout = time.Millisecond
	maxShareTimeout = 10 * time.Second
)

// check returns an error for what can be told from the config alone: not for a URL that
// placeholders make.
func (s *Share) check() error {
	if s == nil {
		return nil
	}
	if d := time.Duration(s.Timeout); d != 0 && (d < minShareTimeout || d > maxShareTimeout) {
		return fmt.Errorf("share: within %s: write a duration from %s to %s", written(d), written(minShareTimeout), written(maxShareTimeout))
	}
	if strings.Contains(s.URL, "{") {
		return nil
	}
	if err := fleet.Check(s.URL, time.Duration(s.Timeout)); err != nil {
		return fmt.Errorf("share: %w", err)
	}
	return nil
}

// address returns the URL with its placeholders replaced.
func (s *Share) address() (string, error) {
	url, err := caddy.NewReplacer().ReplaceOrErr(s.URL, true, true)
	if err != nil {
		return "", fmt.Errorf("share: the URL cannot be read: %w; write one such as redis://127.0.0.1:6379 or {env.REDIS_URL}", err)
	}
	return url, nil
}

// nodeName is the name of this Caddy in its fleets.
func nodeName() (string, error) {
	id, err := caddy.InstanceID()
	if err != nil {
		return "", fmt.Errorf("this Caddy has no lasting name: %w; let it write to %s", err, caddy.AppDataDir())
	}
	return id.String(), nil
}

// Interface guards
var (
	_ caddy.App           = (*App)(nil)
	_ caddy.Provisioner   = (*App)(nil)
	_ caddy.Validator     = (*App)(nil)
	_ caddy.CleanerUpper  = (*App)(nil)
	_ caddyevents.Handler = (*started)(nil)
)
