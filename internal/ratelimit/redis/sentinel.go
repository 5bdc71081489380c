package redis

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"sync"

	"github.com/redis/go-redis/v9"
)

const (
	// sentinelScheme follows the scheme in a URL that names Sentinels.
	sentinelScheme = "+sentinel"

	// sentinelPort is where a Sentinel listens unless the URL says otherwise.
	sentinelPort = "26379"
)

// errMaster says what is missing in a URL of Sentinels.
var errMaster = errors.New("these are Sentinels, and the URL does not say which master they watch over: " +
	"write its name behind their addresses, as redis+sentinel://host1:26379,host2:26379/mymaster")

// sentinels know which server is the master of a name. They are safe for concurrent use.
//
// go-redis has a client of its own for this, but it writes to a log by itself and connects on in
// the background when the Sentinels are away.
type sentinels struct {
	master  string
	clients []*redis.SentinelClient

	mu   sync.Mutex // guards last
	last string     // where the master was when moved was asked
}

// cutSentinels divides redis+sentinel://user:password@host1:port,host2:port/master/0?query into a
// URL of a server, which has the rest, the name of the master and the addresses. Any other URL is
// returned as it is, with no addresses. Whether the rest is a URL is not looked at.
func cutSentinels(address string) (server, master string, addrs []string, err error) {
	scheme, rest, _ := strings.Cut(address, "://")
	scheme, found := strings.CutSuffix(scheme, sentinelScheme)
	if !found {
		return address, "", nil, nil
	}
	if scheme != "redis" && scheme != "rediss" {
		return "", "", nil, errURL
	}
	authority, path, query := rest, "", ""
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		authority, path = rest[:i], rest[i:]
	}
	if i := strings.IndexAny(path, "?#"); i >= 0 {
		path, query = path[:i], path[i:]
	}
	user, hosts := "", authority
	if i := strings.LastIndexByte(authority, '@'); i >= 0 {
		user, hosts = authority[:i+1], authority[i+1:]
	}
	for host := range strings.SplitSeq(hosts, ",") {
		u, err := url.Parse("redis://" + host)
		if err != nil || u.Hostname() == "" || u.Host != host {
			return "", "", nil, errURL
		}
		port := u.Port()
		if port == "" {
			port = sentinelPort
		}
		addrs = append(addrs, net.JoinHostPort(u.Hostname(), port))
	}
	master, database, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	if master, err = url.PathUnescape(master); err != nil || master == "" {
		return "", "", nil, errMaster
	}
	return scheme + "://" + user + addrs[0] + "/" + database + query, master, addrs, nil
}

// newSentinels returns the Sentinels at some addresses. It does not connect.
func newSentinels(master string, addrs []string, o *redis.UniversalOptions) *sentinels {
	s := &sentinels{master: master}
	for _, addr := range addrs {
		one := o.Simple()
		one.Addr, one.DB, one.PoolSize = addr, 0, 1
		one.Username, one.Password = o.SentinelUsername, o.SentinelPassword
		one.PoolTimeout = dialTime
		s.clients = append(s.clients, redis.NewSentinelClient(one))
	}
	return s
}

// address returns where the master is. All Sentinels are asked at once, and the first that knows
// it is right: the others may be gone, too.
func (s *sentinels) address(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTime)
	defer cancel()
	type reply struct {
		addr []string
		err  error
	}
	replies := make(chan reply, len(s.clients))
	for _, c := range s.clients {
		go func() {
			addr, err := c.GetMasterAddrByName(ctx, s.master).Result()
			replies <- reply{addr, err}
		}()
	}
	errs := make([]error, 0, len(s.clients))
	for range s.clients {
		r := <-replies
		switch {
		case r.err == nil && len(r.addr) == 2:
			return net.JoinHostPort(r.addr[0], r.addr[1]), nil
		case errors.Is(r.err, redis.Nil):
			r.err = fmt.Errorf("it watches over no master %q: write the name that its config has in \"sentinel monitor\"", s.master)
		}
		errs = append(errs, r.err)
	}
	return "", fmt.Errorf("no Sentinel knows the master: %w", errors.Join(errs...))
}

// moved reports whether the master is elsewhere than when it was asked before.
func (s *sentinels) moved(ctx context.Context) (bool, error) {
	addr, err := s.address(ctx)
	if err != nil {
		return false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	moved := s.last != "" && s.last != addr
	s.last = addr
	return moved, nil
}

// dialer returns what connects to the master, wherever it is by then.
func (s *sentinels) dialer(dial dialFunc) dialFunc {
	return func(ctx context.Context, network, _ string) (net.Conn, error) {
		addr, err := s.address(ctx)
		if err != nil {
			return broken{err}, nil
		}
		return dial(ctx, network, addr)
	}
}

// close closes all connections.
func (s *sentinels) close() error {
	var errs []error
	for _, c := range s.clients {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}
