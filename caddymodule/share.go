package caddymodule

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"
	"go.uber.org/zap"

	"github.com/caddy-robots/caddy-robots/internal/ratelimit"
	"github.com/caddy-robots/caddy-robots/internal/ratelimit/redis"
)

// Share is where a fleet of Caddys counts together. While it is slow or gone, each Caddy goes
// on with what it knows itself; no request waits longer than the timeout or fails for it.
type Share struct {
	// The Redis or Valkey, as a URL: redis://, rediss:// (TLS) or unix://, with user,
	// password and database where there are any, and with further nodes of a cluster as
	// `addr` in its query. Placeholders such as {env.REDIS_URL} are replaced.
	URL string `json:"url"`

	// How long a request waits for an answer, from 1ms to 10s. Default: 50ms.
	Timeout caddy.Duration `json:"timeout,omitempty"`
}

const (
	minShareTimeout = time.Millisecond
	maxShareTimeout = 10 * time.Second

	// liftTime bounds how long the admin API waits for fleets to be told of a lifted ban.
	liftTime = 5 * time.Second
)

// options returns the URL with its placeholders replaced, and the options of the store.
func (s *Share) options() (url string, o redis.Options, err error) {
	if d := time.Duration(s.Timeout); d != 0 && (d < minShareTimeout || d > maxShareTimeout) {
		return "", o, fmt.Errorf("share: within %s: write a duration from %s to %s", d, minShareTimeout, maxShareTimeout)
	}
	url, err = caddy.NewReplacer().ReplaceOrErr(s.URL, true, true)
	if err != nil {
		return "", o, fmt.Errorf("share: the URL cannot be read: %w; write one such as redis://127.0.0.1:6379 or {env.REDIS_URL}", err)
	}
	return url, redis.Options{Timeout: time.Duration(s.Timeout)}, nil
}

// check returns an error for what can be told from the config alone: not for a URL that
// placeholders make.
func (s *Share) check() error {
	if s == nil {
		return nil
	}
	if strings.Contains(s.URL, "{") {
		placeholder := Share{URL: "redis://127.0.0.1", Timeout: s.Timeout}
		return placeholder.check()
	}
	url, options, err := s.options()
	if err != nil {
		return err
	}
	store, err := redis.Open(url, options)
	if err != nil {
		return fmt.Errorf("share: %w", err)
	}
	return store.Close()
}

// fleet is a store that is shared with other Caddys. All handlers that name the same one use
// one, and it outlives a config reload.
type fleet struct {
	key      string // in fleets; it holds the password
	place    string // for metrics; it does not
	store    *redis.Store
	failover *ratelimit.Failover
	ledger   *publisher
	member   *member
	logs     latest[*zap.Logger]
	stop     context.CancelFunc
	done     chan struct{}
}

var fleets = caddy.NewUsagePool()

// chooseLimiter returns what judges the paces of this handler.
func (h *Handler) chooseLimiter() (ratelimit.Limiter, error) {
	if h.Share == nil {
		return h.shared.memory, nil
	}
	f, err := acquireFleet(h.Share, h.shared, h.notice)
	if err != nil {
		return nil, err
	}
	h.leave = append(h.leave, f.logs.add(h.notice), func() {
		if _, err := fleets.Delete(f.key); err != nil {
			h.notice.Error("letting go of a shared store", zap.Error(err))
		}
	})
	return f.failover, nil
}

// acquireFleet returns the fleet of this option; fleets.Delete must follow.
func acquireFleet(s *Share, sh *shared, log *zap.Logger) (*fleet, error) {
	url, options, err := s.options()
	if err != nil {
		return nil, err
	}
	key := fmt.Sprintf("%s %s", url, options.Timeout)
	value, _, err := fleets.LoadOrNew(key, func() (caddy.Destructor, error) {
		store, err := redis.Open(url, options)
		if err != nil {
			return nil, fmt.Errorf("share: %w", err)
		}
		f := &fleet{key: key, place: sharePlace(url), store: store, ledger: &sh.publisher, done: make(chan struct{})}
		f.logs.add(log) // for what is told before a handler has it
		f.failover = ratelimit.NewFailover(store, sh.memory, f.tell)
		f.member = &member{board: store, lost: f.failover.Down, log: f.logs.get}
		f.ledger.join(f.member)
		ctx, stop := context.WithCancel(context.Background())
		f.stop = stop
		go func() {
			defer close(f.done)
			f.failover.Run(ctx)
		}()
		return f, nil
	})
	if err != nil {
		return nil, err
	}
	return value.(*fleet), nil
}

// tell tells the log what became of the store.
func (f *fleet) tell(err error) {
	log := f.logs.get()
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

// Destruct implements caddy.Destructor.
func (f *fleet) Destruct() error {
	f.ledger.leave(f.member)
	f.stop()
	<-f.done
	return f.store.Close()
}

// lift ends a ban on this Caddy, and on all fleets that it is in.
func lift(ctx context.Context, memory *ratelimit.Memory, b ratelimit.Ban) error {
	ctx, cancel := context.WithTimeout(ctx, liftTime)
	defer cancel()
	var errs []error
	fleets.Range(func(_, value any) bool {
		if err := value.(*fleet).failover.Lift(ctx, b); err != nil {
			errs = append(errs, err)
		}
		return true
	})
	memory.Bans().Lift(b.Key, b.Address)
	return errors.Join(errs...)
}
