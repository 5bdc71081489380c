package redis

import (
	"context"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/caddy-robots/caddy-robots/internal/ratelimit"
)

// Ping judges a request of nobody's, so that it finds out all that can keep Take
// from judging one: no server, a wrong password, a replica that is read only, a
// full disk or memory. It ends within five seconds.
//
// Then it opens all connections that the Store may use. To open one takes several
// round trips, which may be more than Take has time for.
func (s *Store) Ping(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
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
	switch client := s.client.(type) {
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
