// Package fleet lets several Caddys count together: a [Fleet] is a store that they share, for
// paces and bans, and a [Publisher] shows each the ledgers of the others.
package fleet

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"

	"github.com/caddy-robots/caddy-robots/internal/ratelimit"
	"github.com/caddy-robots/caddy-robots/internal/ratelimit/redis"
	"github.com/caddy-robots/caddy-robots/internal/storage"
)

// Fleet is a store that is shared with other Caddys. While it is slow or gone, this Caddy goes on
// with what it knows itself. A Fleet is made by [Open] and safe for concurrent use.
type Fleet struct {
	// Place is where the store is, without user and password: the host and port of its URL,
	// the path of its socket, or the addresses of the Sentinels that know it.
	Place string

	// Limiter judges paces and bans, by the store or, while that is lost, by this process.
	Limiter *ratelimit.Failover

	// Logs has the loggers that the log is written to. Each config that uses the Fleet adds one.
	Logs storage.Latest[*zap.Logger]

	store     *redis.Store
	publisher *Publisher
	member    *member
	stop      context.CancelFunc
	done      chan struct{}
}

// Open joins the fleet whose store is at a URL, as [redis.Open] reads it, and publishes the
// ledger to it; Destruct must follow. A request waits no longer than timeout for the store, by
// default [redis.DefaultTimeout]. Memory is what holds while the store is lost, and log is
// told what happens before a config adds its logger. Open does not connect, so that a store
// which is down is no error. Errors do not repeat the password.
func Open(address string, timeout time.Duration, memory *ratelimit.Memory, p *Publisher, log *zap.Logger) (*Fleet, error) {
	store, err := redis.Open(address, redis.Options{Timeout: timeout})
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	f := &Fleet{Place: store.Place(), store: store, publisher: p, stop: stop, done: make(chan struct{})}
	f.Logs.Add(log)
	f.Limiter = ratelimit.NewFailover(store, memory, f.report)
	f.member = &member{board: store, lost: f.Limiter.Down, log: f.Logs.Get}
	p.join(f.member)
	go func() {
		defer close(f.done)
		f.Limiter.Run(ctx)
	}()
	return f, nil
}

// report logs what became of the store.
func (f *Fleet) report(err error) {
	log := f.Logs.Get()
	switch {
	case err == nil:
		f.member.forgotten.Store(true)
		log.Info("paces and bans are shared again")
	case errors.Is(err, ratelimit.ErrKey), errors.Is(err, ratelimit.ErrWatch):
		log.Warn("not everything is shared", zap.Error(err))
	default:
		log.Warn("paces and bans cannot be shared; this Caddy goes on with what it knows itself", zap.Error(err))
	}
}

// Destruct publishes a last time and closes the store. It makes a Fleet a caddy.Destructor.
func (f *Fleet) Destruct() error {
	f.publisher.leave(f.member)
	f.stop()
	<-f.done
	return f.store.Close()
}

const (
	minTimeout = time.Millisecond
	maxTimeout = 10 * time.Second
)

// Check returns an error for a URL that [Open] would refuse, and for a timeout that a config may
// not have; zero stands for the default. It opens nothing.
func Check(address string, timeout time.Duration) error {
	if timeout != 0 && (timeout < minTimeout || timeout > maxTimeout) {
		return fmt.Errorf("within %s: write a duration from %s to %s", timeout, minTimeout, maxTimeout)
	}
	return redis.Check(address)
}
