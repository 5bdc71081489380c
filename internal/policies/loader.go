package policies

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/caddy-robots/caddy-robots/internal/enforce"
	"github.com/caddy-robots/caddy-robots/internal/storage"
	"github.com/caddy-robots/caddy-robots/robotsrules"
)

// MaxRefresh is how long rules stay in force at most before their sources are asked again.
const MaxRefresh = 24 * time.Hour

// Config has the settings of a Loader. It does not change after [New].
type Config struct {
	Sources     []Source            // their texts are joined in this order; none means this server's own /robots.txt
	Reading     robotsrules.Options // how texts are read, and how much of them
	Match       robotsrules.Match
	Refresh     time.Duration    // how long rules are in force before their sources are asked again, at least
	DenyUnknown bool             // all robots are kept out while no rules could be loaded yet
	Options     *enforce.Options // what the owner asks for: the log says where the rules do not fit it; nil: the defaults
	Log         *zap.Logger      // says what changed and what failed
	Now         func() time.Time // nil: time.Now
	Storage     storage.Store    // keeps what URLs answered over a restart; nil: nothing does
	Loaded      func(*Load)      // is called when a load has ended, which it holds up; nil: nobody asks
}

// Loader keeps the rules of a handler's sites. It loads them when the config names a host or a
// robot asks for one. It loads them again in the background when a robot asks and they are due, so
// that no client waits. Once started, it is safe for concurrent use.
type Loader struct {
	cfg     Config
	cache   *Cache
	stored  *storage.Documents // nil keeps nothing
	urls    map[Source]string  // of the sources that are stored
	perHost bool               // false: one site serves every host

	mu     sync.RWMutex         // guards sites; who changes them holds hosts.mu too
	sites  map[string]*Site     // by host
	only   atomic.Pointer[Site] // the one that was looked up while there was no other: most servers have one host
	closed bool                 // guarded by hosts.mu
	origin atomic.Pointer[Origin]
	wants  atomic.Int64 // how much there is to learn from requests: the server, and a visitor for each site that wants one

	// life ends with the handler and cancels running refreshes.
	life context.Context
}

// New returns a loader that has loaded nothing yet; Start must follow.
func New(c *Cache, cfg Config) *Loader {
	if len(cfg.Sources) == 0 {
		cfg.Sources = []Source{{}}
	}
	cfg.Reading.MaxBytes = cmp.Or(cfg.Reading.MaxBytes, robotsrules.DefaultMaxBytes)
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Options == nil {
		cfg.Options = new(enforce.Options)
	}
	l := &Loader{
		cfg: cfg, cache: c, urls: make(map[Source]string),
		perHost: slices.ContainsFunc(cfg.Sources, Source.perHost),
		sites:   make(map[string]*Site),
	}
	l.wants.Store(1)
	if cfg.Storage != nil {
		l.stored = storage.NewDocuments(storage.Sources, cfg.Storage, cfg.Log, cfg.Now)
	}
	for _, src := range cfg.Sources {
		// Those that differ from host to host have no bound.
		if src.URL != "" && !src.perHost() {
			l.urls[src], _ = src.place("") // Check has seen that there is no error
		}
	}
	return l
}

// Start begins the life of the loader, which ends with ctx. If the rules are the same for all
// hosts, those that need no network are in force when it returns, or soon after.
func (l *Loader) Start(ctx context.Context) {
	l.life = ctx
	context.AfterFunc(ctx, func() { l.cache.hosts.close(l) })
	if l.perHost {
		return
	}
	s := l.Name("")
	if len(l.urls) == 0 {
		l.begin(s)
	}
}

// Name says that the config names a host, so that it is never forgotten, and returns its site. The
// rules that an earlier loader of this process has loaded are in force.
func (l *Loader) Name(host string) *Site {
	if !l.perHost {
		host = ""
	}
	s := l.cache.hosts.add(l, host, l.recordKey(host), true)
	l.recallAlone(s)
	return s
}

// PerHost reports whether the rules differ from host to host.
func (l *Loader) PerHost() bool { return l.perHost }

// Len returns how many sites are kept.
func (l *Loader) Len() int {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return len(l.sites)
}

// SourceNames returns what the log calls the sources.
func (l *Loader) SourceNames() []string {
	names := make([]string, len(l.cfg.Sources))
	for i, src := range l.cfg.Sources {
		names[i] = src.String()
	}
	return names
}

// ForHost implements [enforce.Policies]: it returns the policy of a host, in the form that [Host]
// returns. If they should wait, the first requests of a host wait for the rules, at most as long as
// ctx and [LoadTimeout] allow. No other request ever waits.
func (l *Loader) ForHost(ctx context.Context, host string, by enforce.Asker) (policy *enforce.Policy, tell bool) {
	s := l.site(host)
	tell = s.record.wantsAsker(by.At)
	if p := l.look(s, by.At); p != nil {
		return &p.Policy, tell
	}
	if !by.Waits {
		return &l.none().Policy, tell
	}
	return &l.await(ctx, s).Policy, tell
}

// Asked implements [enforce.Policies]: a request may make a host known.
func (l *Loader) Asked(host string, addr netip.Addr, at time.Time) {
	l.cache.hosts.ask(l.site(host).record, addr, at)
}

// PolicyFor returns all that is known of the policy of a host. It waits as ForHost does.
func (l *Loader) PolicyFor(ctx context.Context, host string) *Policy {
	s := l.site(host)
	if p := l.look(s, l.cfg.Now()); p != nil {
		return p
	}
	return l.await(ctx, s)
}

// Known returns all that is known of the policy of a host, nil if nothing is. It loads nothing.
func (l *Loader) Known(host string) *Policy {
	s := l.held(host)
	if s == nil {
		return nil
	}
	l.recallAlone(s)
	return s.policy.Load()
}

// Site returns the site of a host, in the form that [Host] returns, and starts a load of its rules
// if they are due. It never waits.
func (l *Loader) Site(host string) *Site {
	s := l.site(host)
	l.look(s, l.cfg.Now())
	return s
}

// look returns the policy in force, nil if there is none yet, and begins a load if that is due.
func (l *Loader) look(s *Site, now time.Time) *Policy {
	p := s.policy.Load()
	if p == nil {
		l.recallAlone(s) // what was only put away, or loaded by an earlier loader
		p = s.policy.Load()
	}
	if s.isDue(now) && s.loading.Load() == nil {
		l.begin(s)
	}
	return p
}

// held returns the site of a host, nil if there is none.
func (l *Loader) held(host string) *Site {
	if s := l.only.Load(); s != nil && s.host == host && !s.gone.Load() {
		return s
	}
	l.mu.RLock()
	s, alone := l.sites[host], len(l.sites) == 1
	l.mu.RUnlock()
	if s != nil && alone { // among many, each request would write here, and the cores wait for each other
		l.only.Store(s)
	}
	return s
}

// site returns the site of a host, made if need be.
func (l *Loader) site(host string) *Site {
	if !l.perHost {
		host = ""
	}
	s := l.held(host)
	if s == nil {
		host = strings.Clone(host) // not to keep the request it is a part of
		return l.cache.hosts.add(l, host, l.recordKey(host), false)
	}
	if !s.record.used.Load() {
		s.record.used.Store(true)
	}
	return s
}

// newSite makes a site.
func (l *Loader) newSite(host string, r *record) *Site {
	s := &Site{host: host, loader: l, record: r, first: make(chan struct{}), documents: make([]*Document, len(l.cfg.Sources))}
	for i, src := range l.cfg.Sources {
		if src.Text != "" {
			s.documents[i] = &Document{Text: src.Text}
		}
	}
	return s
}

// recordKey is the key of a host's record: the same for all loaders of a server or, if all hosts
// have the same rules, for those with the same sources.
func (l *Loader) recordKey(host string) string {
	if !l.perHost {
		return "\x00" + l.Key("")
	}
	o := l.origin.Load()
	if o == nil {
		return fmt.Sprintf("%p\x00%s", l, host)
	}
	return o.Name + "\x00" + o.scheme() + "\x00" + host
}

// await begins the first load of s, unless it is under way, and waits for its end.
func (l *Loader) await(ctx context.Context, s *Site) *Policy {
	if s.policy.Load() == nil {
		l.begin(s)
	}
	patience := time.NewTimer(LoadTimeout)
	defer patience.Stop()
	select {
	case <-s.first:
	case <-ctx.Done():
	case <-patience.C:
	}
	if s.policy.Load() == nil {
		l.recallAlone(s) // it was put away at once
	}
	if p := s.policy.Load(); p != nil {
		return p
	}
	return l.none()
}

// none returns the policy of a site of which nothing is loaded yet.
func (l *Loader) none() *Policy {
	rules := l.unreachable()
	return &Policy{Policy: enforce.Policy{Rules: &rules.Rules}, Rules: rules}
}

// States returns what is known of each site, by host.
func (l *Loader) States() (states []State) {
	l.mu.RLock()
	for _, s := range l.sites {
		states = append(states, s.state())
	}
	l.mu.RUnlock()
	slices.SortFunc(states, func(a, b State) int { return cmp.Compare(a.Host, b.Host) })
	return states
}

// ErrUnknownHost is the error for a host that no robot has asked for yet.
var ErrUnknownHost = errors.New("no robots.txt of this host is loaded; the first request of a robot loads it")

// Refresh loads the rules of a host, after a load that is running already, and returns when the new
// load or ctx has ended. Then the current answers of the sources are in force.
func (l *Loader) Refresh(ctx context.Context, host string) (State, error) {
	if !l.perHost {
		host = ""
	}
	s := l.held(host)
	if s == nil {
		return State{}, ErrUnknownHost
	}
	for {
		ended, began := l.begin(s)
		select {
		case <-ended:
			if began {
				return s.state(), nil
			}
		case <-ctx.Done():
			return s.state(), ctx.Err()
		}
	}
}

// Interface guard
var _ enforce.Policies = (*Loader)(nil)
