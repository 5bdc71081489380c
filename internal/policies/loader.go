package policies

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/caddy-robots/caddy-robots/internal/enforce"
	"github.com/caddy-robots/caddy-robots/internal/storage"
	"github.com/caddy-robots/caddy-robots/robotsrules"
)

const (
	// MaxRefresh is how long rules stay in force at most before their sources are asked again.
	MaxRefresh = 24 * time.Hour

	// maxLoads bounds how many loads of one loader run at once: made-up hosts can ask for any
	// number.
	maxLoads = 16

	// fewHosts is how many hosts are kept fresh whether they are asked for again or not.
	fewHosts = 64
)

// Config is what a Loader is made with. It does not change after [New].
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

// Loader keeps the rules of the sites that a handler stands in front of: loads them when a host
// is first asked for, and again in the background, so that nobody waits. It is safe for concurrent
// use, once started.
type Loader struct {
	cfg     Config
	cache   *Cache
	stored  *storage.Documents // nil keeps nothing
	urls    map[Source]string  // of the sources that are stored
	perHost bool               // false: one site serves every host

	sites  *table[*Site]
	origin atomic.Pointer[Origin]
	slots  chan struct{}

	// life ends with the handler and takes the refreshes in flight with it.
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
		sites:   newTable[*Site](maxHosts, maxHostText),
		slots:   make(chan struct{}, maxLoads),
	}
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

// Start loads what needs no host and begins the background refresh, which ends with ctx.
func (l *Loader) Start(ctx context.Context) {
	l.life = ctx
	if !l.perHost {
		l.begin(l.site(""))
	}
	go storage.Every(l.tick(), ctx.Done(), func() { l.refreshDue(l.cfg.Now()) })
}

// tick is how often sites are looked over. A site is loaded again one tick before its time, so
// that a change is seen within the refresh the owner asked for.
func (l *Loader) tick() time.Duration {
	return min(max(l.cfg.Refresh/10, 100*time.Millisecond), 10*time.Second)
}

// refreshDue begins to load the sites that are due at now. Where there are many, a host that was
// asked for only once is forgotten instead: made-up hosts are not kept fresh.
func (l *Loader) refreshDue(now time.Time) {
	sites, again := l.sites.all()
	for i, s := range sites {
		switch {
		case !s.isDue(now) || s.policy.Load() == nil:
		case len(sites) > fewHosts && !again[i]:
			l.sites.remove(s.host)
		default:
			l.begin(s)
		}
	}
}

// PerHost reports whether the rules differ from host to host.
func (l *Loader) PerHost() bool { return l.perHost }

// Len returns how many sites are kept.
func (l *Loader) Len() int { return l.sites.len() }

// SourceNames returns what the log calls the sources.
func (l *Loader) SourceNames() []string {
	names := make([]string, len(l.cfg.Sources))
	for i, src := range l.cfg.Sources {
		names[i] = src.String()
	}
	return names
}

// ForHost implements [enforce.Policies]: it returns what holds for a host, as [Host] gives it. The
// first request of a host waits for the rules, no longer than ctx and [LoadTimeout]; no other ever
// waits.
func (l *Loader) ForHost(ctx context.Context, host string) *enforce.Policy {
	return &l.PolicyFor(ctx, host).Policy
}

// PolicyFor is ForHost with all that is known of the policy.
func (l *Loader) PolicyFor(ctx context.Context, host string) *Policy {
	s := l.site(host)
	if p := s.policy.Load(); p != nil {
		return p
	}
	return l.await(ctx, s)
}

// Site returns the site of a host, as [Host] gives it, and has its rules loaded if there are none:
// it waits for nothing.
func (l *Loader) Site(host string) *Site {
	s := l.site(host)
	if s.policy.Load() == nil {
		l.begin(s)
	}
	return s
}

// site returns the site of a host, made if need be.
func (l *Loader) site(host string) *Site {
	if !l.perHost {
		host = ""
	}
	if s, ok := l.sites.get(host); ok {
		return s
	}
	return l.newSite(strings.Clone(host)) // not to keep the request it is a part of
}

func (l *Loader) newSite(host string) *Site {
	return l.sites.add(host, func() *Site {
		s := &Site{host: host, first: make(chan struct{}), documents: make([]*Document, len(l.cfg.Sources))}
		for i, src := range l.cfg.Sources {
			if src.Text != "" {
				s.documents[i] = &Document{Text: src.Text}
			}
		}
		return s
	})
}

// await begins the first load of s, unless it is under way, and waits for its end.
func (l *Loader) await(ctx context.Context, s *Site) *Policy {
	l.begin(s)
	patience := time.NewTimer(LoadTimeout)
	defer patience.Stop()
	select {
	case <-s.first:
	case <-ctx.Done():
	case <-patience.C:
	}
	if p := s.policy.Load(); p != nil {
		return p
	}
	rules := l.unreachable()
	return &Policy{Policy: enforce.Policy{Rules: &rules.Rules}, Rules: rules}
}

// States returns what is known of each site, by host.
func (l *Loader) States() []State {
	sites, _ := l.sites.all()
	var states []State
	for _, s := range sites {
		states = append(states, s.state())
	}
	slices.SortFunc(states, func(a, b State) int { return cmp.Compare(a.Host, b.Host) })
	return states
}

// ErrUnknownHost is the error for a host that no robot has asked for yet.
var ErrUnknownHost = errors.New("no robots.txt of this host is loaded; it is with the first request of a robot")

// Refresh loads the rules of a host, after the load that is under way, and returns when that has
// ended, or ctx has. What the sources answer from now on is in force then.
func (l *Loader) Refresh(ctx context.Context, host string) (State, error) {
	if !l.perHost {
		host = ""
	}
	s, ok := l.sites.get(host)
	if !ok {
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
