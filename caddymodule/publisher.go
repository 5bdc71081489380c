package caddymodule

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/caddyserver/caddy/v2"
	"go.uber.org/zap"

	"github.com/caddy-robots/caddy-robots/internal/ratelimit/redis"
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

// publisher publishes the ledger of this process to the fleets that it is in, each time as a
// whole and under the same name, also after a restart: the ledger then holds what was
// published before. It is safe for concurrent use. The zero publisher is in no fleet.
type publisher struct {
	ledger *ledger
	name   func() (string, error) // of this Caddy in its fleets

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

// nodeName is the name of this Caddy in its fleets.
func nodeName() (string, error) {
	id, err := caddy.InstanceID()
	if err != nil {
		return "", fmt.Errorf("this Caddy has no lasting name: %w; let it write to %s", err, caddy.AppDataDir())
	}
	return id.String(), nil
}

// join begins to publish for a member; leave must follow.
func (p *publisher) join(m *member) {
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
func (p *publisher) leave(m *member) {
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
func (p *publisher) all() []*member {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.members
}

func (p *publisher) run(ctx context.Context, done chan<- struct{}) {
	defer close(done)
	every(publishEvery, ctx.Done(), func() { p.publish(ctx, p.all()...) })
}

// publish publishes the ledger for those members for whom it is time. Before all that the
// storage has is in the ledger, it would replace more than it is.
func (p *publisher) publish(ctx context.Context, members ...*member) {
	if !p.ledger.complete() {
		return
	}
	revision := p.ledger.revision()
	name := sync.OnceValues(p.name)
	data := sync.OnceValue(p.ledger.Marshal)
	var all sync.WaitGroup
	for _, m := range members {
		all.Go(func() { m.publish(ctx, revision, name, data) })
	}
	all.Wait()
}

// publish publishes a revision of the ledger, if it is time.
func (m *member) publish(ctx context.Context, revision uint64, name func() (string, error), data func() []byte) {
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
		m.tell(&m.doubled, "another Caddy has the name of this one: the report of the fleet shows only one of them at a time; remove the file with the name on one of them and restart it",
			zap.String("file", filepath.Join(caddy.AppDataDir(), "instance.uuid")), zap.Error(err))
	case err != nil:
		m.tell(&m.failed, "what robots did here cannot be shown to the fleet", zap.Error(err))
		m.forgotten.Store(true) // it is tried again
		return
	}
	m.failed, m.revision, m.at = false, revision, time.Now()
}

// tell tells the log, unless that is already told.
func (m *member) tell(told *bool, message string, fields ...zap.Field) {
	if !*told {
		m.log().Warn(message, fields...)
	}
	*told = true
}
