package redis

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
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
	// broken network swallows to be over soon after it works again.
	dialTime = 2 * time.Second

	// bufferSize is that for reading and that for writing on a connection, in
	// bytes. What is exchanged is short.
	bufferSize = 4 << 10
)

// errURL does not repeat what was written, as a password may stand anywhere in it.
var errURL = errors.New("this is not the URL of a Redis server: write redis://user:password@host:6379/0, with rediss: for TLS, " +
	"unix:///path?db=0, or redis+sentinel://host1:26379,host2:26379/mymaster for Sentinels, and the characters / ? # [ ] @ : % in a password as %2F %3F %23 %5B %5D %40 %3A %25")

// Check returns the error that [Open] returns for a URL, without opening anything.
func Check(url string) error { return new(Store).open(url) }

// open sets up what makes clients for the server at a URL.
func (s *Store) open(address string) error {
	server, master, watchers, err := cutSentinels(address)
	if err != nil {
		return err
	}
	u, err := url.Parse(server)
	if err != nil || strings.Contains(u.Opaque+u.Path+u.RawQuery+u.Fragment, "@") {
		return errURL
	}
	o, err := options(u, len(watchers) > 0)
	if errors.Is(err, errFile) {
		return err
	}
	if err != nil {
		return fmt.Errorf("%w; %w", errURL, err)
	}
	s.place, s.where = cmp.Or(u.Host, u.Path), strings.Join(o.Addrs, ", ")
	if len(watchers) > 0 {
		s.place = strings.Join(watchers, ", ")
		s.where = fmt.Sprintf("the master %q of the Sentinels %s", master, s.place)
		s.watch = func() *sentinels { return newSentinels(master, watchers, o) }
	}
	s.connections = o.PoolSize
	s.dial = func(connections int) redis.UniversalClient {
		o := *o
		o.PoolSize = connections
		if s.sentinels != nil {
			o.Dialer = s.sentinels.dialer(o.Dialer)
		}
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
// long anything takes is for the Store to say. What go-redis does not know is taken out of the
// query.
func options(u *url.URL, bySentinels bool) (*redis.UniversalOptions, error) {
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return nil, errors.New("its query cannot be read")
	}
	take := func(name string) string {
		value := query.Get(name)
		query.Del(name)
		return value
	}
	authorities := take("ca_file")
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
	if bySentinels {
		o.SentinelUsername, o.SentinelPassword = take("sentinel_username"), take("sentinel_password")
	}
	u.RawQuery = query.Encode()
	if query.Has("addr") && !bySentinels {
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
	if bySentinels && o.TLSConfig != nil {
		o.TLSConfig.ServerName = "" // each is called by the address at which it is reached
	}
	if err := trust(o.TLSConfig, authorities); err != nil {
		return nil, err
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

// errFile is a file of certificates that is of no use.
var errFile = errors.New("ca_file")

// trust has a connection trust the authorities in a file and nobody else; "" is those of the system.
func trust(t *tls.Config, file string) error {
	if file == "" {
		return nil
	}
	if t == nil {
		return fmt.Errorf("%w is for TLS: write rediss: in place of redis:, which is without", errFile)
	}
	certificates, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("%w: %w; write the path of a file that this Caddy may read", errFile, err)
	}
	t.RootCAs = x509.NewCertPool()
	if !t.RootCAs.AppendCertsFromPEM(certificates) {
		return fmt.Errorf("%w: there is no certificate in %s; write the path of a PEM file with that of the authority", errFile, file)
	}
	return nil
}

// dialFunc opens a connection.
type dialFunc = func(ctx context.Context, network, addr string) (net.Conn, error)

// dialer returns what opens connections. One that cannot be opened is returned
// as one on which everything fails: go-redis logs a dial that fails, and after some
// it tries on in the background even when its client is closed.
func dialer(t *tls.Config) dialFunc {
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
