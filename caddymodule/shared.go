package caddymodule

import (
	"crypto/rand"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-robots/caddy-robots/crawler"
	"github.com/caddy-robots/caddy-robots/internal/proof/dns"
	"github.com/caddy-robots/caddy-robots/internal/proof/webbotauth"
	"github.com/caddy-robots/caddy-robots/internal/ratelimit"
)

const (
	// maxHosts and maxHostText bound what is kept for the hosts that clients ask for:
	// so many of them, and so many octets of robots.txt in all.
	maxHosts    = 1024
	maxHostText = 16 << 20

	// maxUserAgents bounds the User-Agents whose reading is remembered.
	maxUserAgents = 1 << 14

	// markHeader carries a mark on our own requests over HTTP.
	markHeader = "Caddy-Robots-Fetch"
)

// shared is what all handlers of the process have in common and what outlives a config
// reload: who came at what pace and who is banned, which User-Agents were read, the last
// good robots.txt of each source, and what each site told robots before.
type shared struct {
	crawlers *crawler.Cache
	memory   *ratelimit.Memory // paces and bans
	waiting  *waiting
	bans     *keeper
	ledger   *ledger

	publisher publisher // of the ledger, to fleets
	gathered  *gathered // the ledgers of fleets

	lastGood *table[*document]
	history  *table[*past] // by siteKey
	library  *library
	trapped  *trapped
	metrics  *metrics
	live     live
	readers  chan struct{} // has room for as many as may be checked at a time

	// signatures verifies what robots sign.
	signatures *webbotauth.Verifier

	mu        sync.Mutex // guards resolvers
	resolvers map[string]*dns.Verifier

	// isPublic tells the addresses of the public internet; nil, but for tests, is
	// ipranges.IsPublic.
	isPublic func(netip.Addr) bool

	// marks are the marks of our own loads over HTTP that are under way. Each is good for one
	// load, as it is shown to other servers; one that a proxy brings back here may meet
	// several sites.
	marks sync.Map
}

// mark returns a new mark; unmark must follow when its request is over.
func (sh *shared) mark() string {
	mark := rand.Text()
	sh.marks.Store(mark, struct{}{})
	return mark
}

func (sh *shared) unmark(mark string) { sh.marks.Delete(mark) }

// isMark tells whether the text is a mark of a request that is under way.
func (sh *shared) isMark(text string) bool {
	_, ok := sh.marks.Load(text)
	return ok
}

var pool = caddy.NewUsagePool()

// sharedKey is the one key of pool.
const sharedKey = "robots"

// acquireShared returns the process-wide state; releaseShared must follow.
func acquireShared() (*shared, error) {
	value, _, err := pool.LoadOrNew(sharedKey, func() (caddy.Destructor, error) {
		memory, ledger := ratelimit.NewMemory(ratelimit.DefaultMaxKeys), newLedger()
		return &shared{
			crawlers: crawler.NewCache(maxUserAgents),
			memory:   memory,
			waiting:  newWaiting(),
			bans:     newBanKeeper(memory.Bans(), time.Now),
			ledger:   ledger,

			publisher: publisher{ledger: ledger, name: nodeName},
			gathered:  newGathered(),

			lastGood: newTable[*document](maxHosts, maxHostText),
			history:  newTable[*past](maxHosts, maxHostText),
			library:  newLibrary(),
			trapped:  newTrapped(),
			metrics:  newMetrics(),
			readers:  make(chan struct{}, maxReaders),

			signatures: webbotauth.New(webbotauth.Options{}),
			resolvers:  make(map[string]*dns.Verifier),
		}, nil
	})
	if err != nil {
		return nil, err
	}
	return value.(*shared), nil
}

// currentShared returns the process-wide state without holding on to it, nil when there is
// none: the admin API, which Caddy sets up before any handler, looks at it so.
func currentShared() (current *shared) {
	pool.Range(func(_, value any) bool {
		current = value.(*shared)
		return false
	})
	return current
}

// releaseShared lets go of the process-wide state, which ends with its last user.
func releaseShared() error {
	_, err := pool.Delete(sharedKey)
	return err
}

// resolver returns what is known of addresses by this DNS server, "" for the system's.
func (sh *shared) resolver(address string) *dns.Verifier {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	verifier := sh.resolvers[address]
	if verifier == nil {
		verifier = dns.New(dns.Options{Resolver: dns.NewResolver(address)})
		sh.resolvers[address] = verifier
	}
	return verifier
}

// Destruct implements caddy.Destructor.
func (sh *shared) Destruct() error {
	sh.bans.close()
	sh.ledger.close()
	for _, dns := range sh.resolvers {
		dns.Close()
	}
	return nil
}

// latest is one value of each handler that has one, such as its logger, for what outlives
// them: the newest counts, so that a config which is refused leaves nothing behind. It is
// safe for concurrent use. The zero latest is empty.
type latest[T any] struct {
	mu     sync.Mutex // guards values
	values []*T
}

// add makes v the newest, until remove is called. Of the last handler the value stays.
func (l *latest[T]) add(v T) (remove func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := &v
	l.values = append(l.values, p)
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if len(l.values) > 1 {
			l.values = slices.DeleteFunc(l.values, func(q *T) bool { return q == p })
		}
	}
}

// get returns the newest value; add must have been called.
func (l *latest[T]) get() T {
	l.mu.Lock()
	defer l.mu.Unlock()
	return *l.values[len(l.values)-1]
}
