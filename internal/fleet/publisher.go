package fleet

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"
	"golang.org/x/sync/singleflight"

	"github.com/caddy-robots/caddy-robots/internal/compliance"
	"github.com/caddy-robots/caddy-robots/internal/ratelimit/redis"
	"github.com/caddy-robots/caddy-robots/internal/storage"
)

const (
	// publishEvery is how often the ledger is published, if it has changed. If it has not, it
	// is after renewEvery, in case the store has forgotten it.
	publishEvery = 10 * time.Second
	renewEvery   = time.Hour

	// keepPublished is how long the ledger of a Caddy is shown that is gone for good.
	keepPublished = 7 * 24 * time.Hour

	// leaveTime bounds the last publication, which a stop waits for.
	leaveTime = 5 * time.Second
)

// board is where the Caddys of a fleet show each other their ledgers; see [redis.Store].
type board interface {
	Publish(ctx context.Context, node string, data []byte, keep time.Duration) error
	Published(ctx context.Context, except string, tell func(node string, data []byte, err error)) error
}

// Publisher publishes the ledger of this process to the fleets that it is in, each time as a
// whole and under the same name, also after a restart: the ledger then holds what was
// published before. It adds up the ledgers of all, too. The exported fields are set before
// the first use and not changed after. It is safe for concurrent use.
type Publisher struct {
	Own      *compliance.Ledger     // of this process
	Complete func() bool            // what was stored before the restart is in it
	Revision func() uint64          // changes with it
	Name     func() (string, error) // of this Caddy in its fleets
	NameFile string                 // where the name is kept, for the log

	gathering singleflight.Group
	sum       atomic.Pointer[sum] // nil: none is remembered
	wrong     map[string]bool     // nodes whose ledger could not be read, as the log says; of the gathering goroutine

	mu      sync.Mutex // guards the fields below
	members []*member
	stop    context.CancelFunc
	done    chan struct{}
}

// member is this process as one of a fleet.
type member struct {
	board board
	lost  func() bool // the store cannot be asked at the moment
	log   func() *zap.Logger

	forgotten atomic.Bool // the store may have lost what was published

	mu       sync.Mutex // guards the fields below, and is held while the ledger is published
	at       time.Time  // when it last was; zero: never
	revision uint64     // which one that was
	failed   bool       // the log says that it could not be published
	doubled  bool       // the log says that another Caddy has the same name
}

// join begins to publish for a member; leave must follow.
func (p *Publisher) join(m *member) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.members = append(slices.Clip(p.members), m)
	if p.stop == nil {
		ctx, stop := context.WithCancel(context.Background())
		p.stop, p.done = stop, make(chan struct{})
		go p.run(ctx, p.done)
	}
}

// leave publishes a last time, if the member has published before: a config that was
// refused has not.
func (p *Publisher) leave(m *member) {
	p.mu.Lock()
	p.members = slices.DeleteFunc(slices.Clone(p.members), func(n *member) bool { return n == m })
	stop, done := p.stop, p.done
	if last := len(p.members) == 0; last {
		p.stop = nil
		defer func() { <-done }()
		stop()
	}
	p.mu.Unlock()

	m.mu.Lock()
	began := !m.at.IsZero()
	m.mu.Unlock()
	if began {
		ctx, cancel := context.WithTimeout(context.Background(), leaveTime)
		defer cancel()
		p.publish(ctx, m)
	}
}

// all returns the members, which nobody changes.
func (p *Publisher) all() []*member {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.members
}

func (p *Publisher) run(ctx context.Context, done chan<- struct{}) {
	defer close(done)
	storage.Every(publishEvery, ctx.Done(), func() { p.publish(ctx, p.all()...) })
}

// publish publishes the ledger for those members for whom it is time. A ledger that lacks what
// was stored would replace more than it has, so it waits for that.
func (p *Publisher) publish(ctx context.Context, members ...*member) {
	if !p.Complete() {
		return
	}
	revision := p.Revision()
	name := sync.OnceValues(p.Name)
	data := sync.OnceValue(p.Own.Marshal)
	var all sync.WaitGroup
	for _, m := range members {
		all.Go(func() { m.publish(ctx, revision, name, p.NameFile, data) })
	}
	all.Wait()
}

// publish publishes a revision of the ledger, if it is time.
func (m *member) publish(ctx context.Context, revision uint64, name func() (string, error), nameFile string, data func() []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.lost() {
		return
	}
	forgotten := m.forgotten.Swap(false)
	if !m.at.IsZero() && revision == m.revision && !forgotten && time.Since(m.at) < renewEvery {
		return
	}
	node, err := name()
	if err == nil {
		err = m.board.Publish(ctx, node, data(), keepPublished)
	}
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return // it is not the store's fault, and leave comes next
	case errors.Is(err, redis.ErrName):
		m.warn(&m.doubled, "another Caddy has the name of this one: the report of the fleet shows only one of them at a time; remove the file with the name on one of them and restart it",
			zap.String("file", nameFile), zap.Error(err))
	case err != nil:
		m.warn(&m.failed, "what robots did here cannot be shown to the fleet", zap.Error(err))
		m.forgotten.Store(true) // it is tried again
		return
	}
	m.failed, m.revision, m.at = false, revision, time.Now()
}

// warn logs a warning, unless it is in the log already.
func (m *member) warn(logged *bool, message string, fields ...zap.Field) {
	if !*logged {
		m.log().Warn(message, fields...)
	}
	*logged = true
}
