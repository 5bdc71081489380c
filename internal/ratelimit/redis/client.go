package redis

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

const (
	// defaultConnections is how many connections are kept, to each node of a
	// cluster, where the URL does not say. Only as many are used as requests come
	// at once, and each carries some thousand of them a second.
	defaultConnections = 16
	maxConnections     = 1024

	// dialTime bounds one attempt to connect. It is short enough for those that a
	// broken network swallows to be over soon after it is mended.
	dialTime = 2 * time.Second

	// bufferSize is that for reading and that for writing on a connection, in
	// bytes. What is exchanged is short.
	bufferSize = 4 << 10
)

// errURL does not repeat what was written, as a password may stand anywhere in it.
var errURL = errors.New("this is not the URL of a Redis server: write redis://user:password@host:6379/0, with rediss: for TLS, " +
	"or unix:///path?db=0, and the characters / ? # [ ] @ : % in a password as %2F %3F %23 %5B %5D %40 %3A %25")

// Check returns the error that [Open] returns for a URL, without opening anything.
func Check(url string) error { return new(Store).open(url) }

// open sets up what makes clients for the server at a URL.
func (s *Store) open(address string) error {
	u, err := url.Parse(address)
	if err != nil || strings.Contains(u.Opaque+u.Path+u.RawQuery+u.Fragment, "@") {
		return errURL
	}
	o, err := options(u)
	if err != nil {
		return fmt.Errorf("%w; %w", errURL, err)
	}
	s.where = strings.Join(o.Addrs, ", ")
	s.connections = o.PoolSize
	s.dial = func(connections int) redis.UniversalClient {
		o := *o
		o.PoolSize = connections
		if !o.IsClusterMode {
			return redis.NewClient(o.Simple())
		}
		c := o.Cluster()
		c.DisableRoutingPolicies = true // all that is asked has a key
		return redis.NewClusterClient(c)
	}
	return nil
}

// options returns what the URL says of where the server is and who asks. How
// long anything takes is for the Store to say.
func options(u *url.URL) (*redis.UniversalOptions, error) {
	o := &redis.UniversalOptions{
		MaxRetries:               -1,
		DialTimeout:              dialTime,
		DialerRetries:            1,
		ReadTimeout:              patience,
		WriteTimeout:             patience,
		PoolTimeout:              patience,
		ContextTimeoutEnabled:    true,
		ReadBufferSize:           bufferSize,
		WriteBufferSize:          bufferSize,
		PipelinePoolSize:         -1,
		Protocol:                 2, // nothing is pushed to us
		DisableIdentity:          true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	}
	if u.Query().Has("addr") {
		c, err := redis.ParseClusterURL(u.String())
		if err != nil {
			return nil, err
		}
		o.IsClusterMode = true
		o.Addrs, o.Username, o.Password, o.ClientName, o.TLSConfig = c.Addrs, c.Username, c.Password, c.ClientName, c.TLSConfig
		o.PoolSize, o.ConnMaxIdleTime, o.ConnMaxLifetime = c.PoolSize, c.ConnMaxIdleTime, c.ConnMaxLifetime
	} else {
		c, err := redis.ParseURL(u.String())
		if err != nil {
			return nil, err
		}
		o.Addrs, o.Username, o.Password, o.ClientName, o.TLSConfig = []string{c.Addr}, c.Username, c.Password, c.ClientName, c.TLSConfig
		o.PoolSize, o.ConnMaxIdleTime, o.ConnMaxLifetime = c.PoolSize, c.ConnMaxIdleTime, c.ConnMaxLifetime
		o.DB = c.DB
	}
	if o.PoolSize <= 0 {
		o.PoolSize = defaultConnections
	}
	if o.ConnMaxIdleTime == 0 {
		o.ConnMaxIdleTime = -1 // what is far away may take longer to reach than a decision may take
	}
	o.PoolSize = min(o.PoolSize, maxConnections)
	o.Dialer = dialer(o.TLSConfig)
	return o, nil
}

// dialer returns what opens connections. One that cannot be opened is returned
// as one on which everything fails: go-redis logs a dial that fails, and after some
// it tries on in the background even when its client is closed.
func dialer(t *tls.Config) func(ctx context.Context, network, addr string) (net.Conn, error) {
	dial := redis.NewDialer(&redis.Options{DialTimeout: dialTime, TLSConfig: t})
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := dial(ctx, network, addr)
		if err != nil {
			return broken{err}, nil
		}
		return conn, nil
	}
}

// broken is a connection that could not be opened. Its SyscallConn has go-redis
// drop one that comes too late for whoever asked for it, instead of keeping it.
type broken struct{ err error }

func (b broken) Read([]byte) (int, error)              { return 0, b.err }
func (b broken) Write([]byte) (int, error)             { return 0, b.err }
func (b broken) SyscallConn() (syscall.RawConn, error) { return nil, b.err }

func (broken) Close() error                     { return nil }
func (broken) LocalAddr() net.Addr              { return &net.TCPAddr{} }
func (broken) RemoteAddr() net.Addr             { return &net.TCPAddr{} }
func (broken) SetDeadline(time.Time) error      { return nil }
func (broken) SetReadDeadline(time.Time) error  { return nil }
func (broken) SetWriteDeadline(time.Time) error { return nil }
