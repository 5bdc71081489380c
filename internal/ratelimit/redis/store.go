package redis

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/caddy-robots/caddy-robots/internal/ratelimit"
)

// DefaultTimeout is for how long a request waits for its verdict unless
// [Options] say otherwise.
const DefaultTimeout = 50 * time.Millisecond

// patience bounds what no visitor waits for: a Ping, a Lift, and each exchange of
// a Watch or on the board.
const patience = 5 * time.Second

// boardConnections are for one Publish and one Published at a time.
const boardConnections = 2

// Options are what a URL does not say. The zero Options suit a fleet.
type Options struct {
	// Timeout bounds one Take from beginning to end, a new connection included.
	// Zero or less means DefaultTimeout.
	Timeout time.Duration

	// CallersClock has Take go by the time that it is told, not by the clock of
	// the server. It is for tests and simulations.
	CallersClock bool
}

// Store is a [ratelimit.Limiter] that keeps its states in Redis, where all Stores
// of one database share them. Open makes one; it is safe for concurrent use.
type Store struct {
	dial        func(connections int) redis.UniversalClient
	watch       func() *sentinels // nil: the URL names none
	place       string            // as the URL has it, without user and password
	where       string            // for error messages: addresses
	connections int               // to each node
	timeout     time.Duration
	byCaller    bool // goes by the time that Take is told

	sentinels *sentinels // nil: none
	clients   atomic.Pointer[redis.UniversalClient]
	board     redis.UniversalClient // has connections of its own, for what takes longer than a decision

	published atomic.Bool // something, by this Store

	life context.Context // ends with Close
	end  context.CancelFunc
}

// Open returns the Store at a URL, such as redis://user:password@host:6379/0. The scheme rediss:
// is TLS, and unix:///path?db=0 a socket. The nodes of a cluster, or some of
// them, are named by addr: redis://host:6379?addr=host2:6379&addr=host3:6379.
// Sentinels are named with the master that they watch over: redis+sentinel://host1:26379,host2:26379/mymaster/0,
// with sentinel_username and sentinel_password for those of the Sentinels themselves. With TLS, ca_file names a file of
// authorities to be trusted instead of the system's.
// See [redis.ParseURL] for the rest of the query, of which client_name,
// pool_size (default 16), conn_max_idle_time, conn_max_lifetime and skip_verify
// have a meaning here.
//
// Open does not connect, so it does not fail because the server is down. Errors
// do not repeat the password.
func Open(url string, o Options) (*Store, error) {
	s := &Store{timeout: o.Timeout, byCaller: o.CallersClock}
	if s.timeout <= 0 {
		s.timeout = DefaultTimeout
	}
	if err := s.open(url); err != nil {
		return nil, err
	}
	if s.watch != nil {
		s.sentinels = s.watch()
	}
	s.renew()
	s.board = s.dial(boardConnections)
	s.life, s.end = context.WithCancel(context.Background())
	return s, nil
}

// Close closes all connections, which ends what goes on. A Store that is closed
// answers with errors.
func (s *Store) Close() error {
	s.end()
	errs := []error{s.client().Close(), s.board.Close()}
	if s.sentinels != nil {
		errs = append(errs, s.sentinels.close())
	}
	return errors.Join(errs...)
}

// Place returns where the server is: the host and port of the URL, the path of a socket, or the
// addresses of the Sentinels.
func (s *Store) Place() string { return s.place }

// client returns what decisions are asked of.
func (s *Store) client() redis.UniversalClient { return *s.clients.Load() }

// renew has decisions be asked over new connections, and closes those from before.
func (s *Store) renew() {
	client := s.dial(s.connections)
	if old := s.clients.Swap(&client); old != nil {
		_ = (*old).Close() // nothing is asked there any more
	}
}

// Take judges one request; see [ratelimit.Limiter]. It ends within the timeout,
// whatever the server does, and does not ask one where there is neither a pace nor
// a ban to keep. The time is the server's, unless Options say otherwise. That ctx is done
// counts only beforehand: a client that leaves must not look like a server that fails.
func (s *Store) Take(ctx context.Context, r ratelimit.Request, now time.Time) (ratelimit.Result, error) {
	if err := ctx.Err(); err != nil {
		return ratelimit.Result{}, err
	}
	banning := bans(r.Ban) && !r.Return
	if !banning && (r.Offence && !r.Return || r.Limit.Interval <= 0) {
		return ratelimit.Result{}, nil
	}
	c := newCall(s.timeout)
	defer c.free()
	if s.byCaller && !c.tell(now) {
		return ratelimit.Result{}, nil
	}
	if banning {
		c.judge(&r)
	} else {
		c.pace(&r)
	}
	reply, err := s.run(c, take, c.args)
	if err != nil {
		return ratelimit.Result{}, err
	}
	result, err := verdict(reply, &r)
	if err != nil {
		return ratelimit.Result{}, s.failure(err)
	}
	if result.New {
		// The ban holds even where nobody is told of it.
		_ = s.announce(c, ratelimit.BanEvent{Ban: *result.Ban})
	}
	return result, nil
}

var _ ratelimit.Shared = (*Store)(nil)

// Ping judges a request of nobody's, so that it finds out all that can keep Take
// from judging one: no server, a wrong password, a replica that is read only, a
// full disk or memory. It ends within five seconds.
//
// Then it opens all connections that the Store may use. To open one takes several
// round trips, which may be more than Take has time for.
func (s *Store) Ping(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if s.sentinels != nil {
		// A master that hangs does not end the connections to it when another one takes its place.
		moved, err := s.sentinels.moved(ctx)
		if err != nil {
			return s.failure(err)
		}
		if moved {
			s.renew()
		}
	}
	c := newCall(patience)
	defer c.free()
	c.limit(ratelimit.Limit{Interval: time.Millisecond, Leeway: time.Millisecond}) // admits, and writes
	c.keys[0] = pingKey
	if _, err := s.run(ctx, take, c.forPace); err != nil {
		return err
	}
	s.fill(ctx)
	return nil
}

// fill opens connections until each client has all that it may have. Those that
// cannot be opened are left to whoever needs them.
func (s *Store) fill(ctx context.Context) {
	switch client := s.client().(type) {
	case *redis.Client:
		_ = s.connect(ctx, client)
	case *redis.ClusterClient:
		_ = client.ForEachMaster(ctx, s.connect)
	}
}

// connect has a client use all its connections at the same time.
func (s *Store) connect(ctx context.Context, client *redis.Client) error {
	var all sync.WaitGroup
	for range s.connections {
		conn := client.Conn()
		defer conn.Close()
		all.Go(func() { conn.Ping(ctx) })
	}
	all.Wait()
	return nil
}
