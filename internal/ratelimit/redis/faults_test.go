package redis_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/caddy-robots/caddy-robots/internal/ratelimit"
	"github.com/caddy-robots/caddy-robots/internal/ratelimit/redis/redistest"
)

// paced is a request that the tests of faults make.
var paced = ratelimit.Request{Key: figtree, Limit: slow}

// TestServerThatCannotAnswer has Take and Ping find out what is wrong, and say so.
func TestServerThatCannotAnswer(t *testing.T) {
	for name, test := range map[string]struct {
		args   []string
		url    func(*redistest.Server) string // nil: the server's own
		broken func(*testing.T, *redistest.Server, *goredis.Client)
		says   string
	}{
		"no password": {
			args: []string{"--requirepass", "geheim"}, says: "NOAUTH",
		},
		"wrong password": {
			args: []string{"--requirepass", "geheim"}, says: "WRONGPASS",
			url: func(server *redistest.Server) string { return "redis://:falsch@" + server.Addr() },
		},
		"no permission": {
			args: []string{"--user", "robots", "on", ">geheim", "~caddy-robots:*", "+@read"}, says: "NOPERM",
			url: func(server *redistest.Server) string { return "redis://robots:geheim@" + server.Addr() },
		},
		"full memory": {
			args: []string{"--maxmemory", "1", "--maxmemory-policy", "noeviction"}, says: "OOM",
		},
		"full disk": {
			args: []string{"--dbfilename", "taken.rdb", "--save", "3600", "1"}, says: "MISCONF",
			broken: func(t *testing.T, _ *redistest.Server, c *goredis.Client) {
				dir := c.ConfigGet(t.Context(), "dir").Val()["dir"]
				if err := os.Mkdir(filepath.Join(dir, "taken.rdb"), 0o700); err != nil {
					t.Fatal(err)
				}
				c.BgSave(t.Context())
				eventually(t, "saving fails", func() bool {
					return strings.Contains(c.Info(t.Context(), "persistence").Val(), "rdb_last_bgsave_status:err")
				})
			},
		},
		"read-only replica": {
			says: "READONLY",
			broken: func(t *testing.T, _ *redistest.Server, c *goredis.Client) {
				host, port, _ := net.SplitHostPort(redistest.Start(t, "--repl-diskless-sync-delay", "0").Addr())
				c.ReplicaOf(t.Context(), host, port)
				eventually(t, "the replica is in step", func() bool {
					return strings.Contains(c.Info(t.Context(), "replication").Val(), "master_link_status:up")
				})
			},
		},
		"killed": {
			says:   "refused",
			broken: func(_ *testing.T, server *redistest.Server, _ *goredis.Client) { server.Kill() },
		},
		"data of another program's": {
			says: ratelimit.ErrKey.Error(),
			broken: func(t *testing.T, _ *redistest.Server, c *goredis.Client) {
				c.LPush(t.Context(), "caddy-robots:{one.example/figtree/}:pace", "x")
				c.LPush(t.Context(), "caddy-robots:{ping}:pace", "x")
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := redistest.Start(t, test.args...)
			if test.broken != nil {
				test.broken(t, server, client(t, server))
			}
			url := server.URL()
			if test.url != nil {
				url = test.url(server)
			}
			store := open(t, url, patient)
			got, err := store.Take(t.Context(), paced, start)
			if err == nil || got != (ratelimit.Result{}) {
				t.Fatalf("Take: got %+v, %v, want an error", got, err)
			}
			for of, err := range map[string]error{"Take": err, "Ping": store.Ping(t.Context())} {
				if err == nil || !strings.Contains(err.Error(), test.says) || !strings.Contains(err.Error(), server.Addr()) {
					t.Errorf("%s: got error %v, want one that says %s and where", of, err, test.says)
				}
				if err != nil && strings.Contains(err.Error(), "geheim") || strings.Contains(fmt.Sprint(err), "falsch") {
					t.Errorf("%s: got error %v, with a password", of, err)
				}
				if isKey := errors.Is(err, ratelimit.ErrKey); isKey != (test.says == ratelimit.ErrKey.Error()) {
					t.Errorf("%s: got error %v, which is ErrKey: %v", of, err, isKey)
				}
			}
		})
	}
}

// TestLeastPermissions has a user who may do what the hint of NOPERM says, and no more.
func TestLeastPermissions(t *testing.T) {
	server := redistest.Start(t, strings.Fields("--user robots on >ge/heim ~caddy-robots:* +eval +evalsha +time +get +set +del "+
		"+lindex +llen +lpush +lset +rpop +pexpire +pttl +xadd +xread +ping +select")...)
	url := "redis://robots:ge%2Fheim@" + server.Addr() + "/1"
	store := open(t, url, simulated)
	if err := store.Ping(t.Context()); err != nil {
		t.Error(err)
	}
	random, now := rand.New(rand.NewPCG(3, 0)), start
	for range 300 {
		now = now.Add(stepOf(random))
		must(t, store, requestOf(random), now)
	}
	if err := store.Lift(t.Context(), ratelimit.Ban{Key: figtree}); err != nil {
		t.Error(err)
	}
	publish(t, store, "a", "a")
	publish(t, store, "a", "b")
	wantPublished(t, store, map[string]string{"a": "b"})
	if got := next(t, follow(t, store)); got.Ban.Rule == "" && !got.Lifted {
		t.Errorf("the first event: got %+v, want a ban or a lift", got)
	}
}

// TestDataThatIsNotOurs stands under each kind of key, is an error of that key alone, and is
// left as it is.
func TestDataThatIsNotOurs(t *testing.T) {
	const stem = "caddy-robots:{one.example/figtree/}:"
	server := redistest.Start(t)
	store, c := open(t, server.URL(), patient), client(t, server)
	banning := offence(figtree, "192.0.2.1")
	for _, test := range []struct {
		key, kind string
		values    []any
		request   ratelimit.Request
	}{
		{"pace", "hash", []any{"x", "y"}, paced},
		{"pace", "string", []any{"not a time"}, paced},
		{"pace", "string", []any{"nan"}, paced},
		{"pace", "string", []any{"99999999999999999999"}, paced},
		{"ban:192.0.2.1", "list", []any{"x"}, banning},
		{"ban:192.0.2.1", "string", []any{"not a ban"}, banning},
		{"ban:192.0.2.1", "string", []any{"1 2"}, banning},
		{"ban:192.0.2.1", "string", []any{"0 9007199254740991 99999999999999999999 /"}, banning},
		{"ban:192.0.2.1", "string", []any{"0 99999999999999999999 1 /"}, banning},
		{"offences:192.0.2.1", "string", []any{"x"}, banning},
		{"offences:192.0.2.1", "list", []any{"not a time"}, banning},
	} {
		name := fmt.Sprint(test.key, test.kind, test.values)
		if err := c.FlushDB(t.Context()).Err(); err != nil {
			t.Fatal(err)
		}
		key := stem + test.key
		switch test.kind {
		case "hash":
			c.HSet(t.Context(), key, test.values...)
		case "string":
			c.Set(t.Context(), key, test.values[0], 0)
		case "list":
			c.LPush(t.Context(), key, test.values...)
		}
		before := c.Dump(t.Context(), key).Val()
		if before == "" {
			t.Fatalf("%s is not stored", name)
		}
		if got, err := store.Take(t.Context(), test.request, start); !errors.Is(err, ratelimit.ErrKey) || got != (ratelimit.Result{}) {
			t.Errorf("%s: got %+v, %v, want ErrKey", name, got, err)
		}
		if after := c.Dump(t.Context(), key).Val(); after != before {
			t.Errorf("%s: got %q, want %q as before", name, after, before)
		}
		must(t, store, ratelimit.Request{Key: ratelimit.Key{Site: "two.example"}, Limit: slow}, start)
	}
}

// TestLiftLeavesDataThatIsNotOurs tries to lift a ban that is another program's hash.
func TestLiftLeavesDataThatIsNotOurs(t *testing.T) {
	server := redistest.Start(t)
	store, c := open(t, server.URL(), patient), client(t, server)
	const key = "caddy-robots:{one.example/figtree/}:ban:"
	c.HSet(t.Context(), key, "x", "y")
	if err := store.Lift(t.Context(), ratelimit.Ban{Key: figtree}); !errors.Is(err, ratelimit.ErrKey) {
		t.Errorf("Lift: got %v, want ErrKey", err)
	}
	if got := c.HGet(t.Context(), key, "x").Val(); got != "y" {
		t.Errorf("the other program's data: got %q, want it as before", got)
	}
}

// TestBanThatIsNotAnnounced has a stream that nothing can be added to.
func TestBanThatIsNotAnnounced(t *testing.T) {
	server := redistest.Start(t)
	store := open(t, server.URL(), patient)
	client(t, server).Set(t.Context(), "caddy-robots:bans", "x", 0)
	if got := must(t, store, offence(figtree, ""), start); !got.New {
		t.Errorf("the offence that brings a ban: got %+v, want it to", got)
	}
	if err := store.Watch(t.Context(), func(ratelimit.BanEvent) {}); !errors.Is(err, ratelimit.ErrKey) {
		t.Errorf("Watch: got %v, want ErrKey", err)
	}
}

// TestRestart has every connection of a Store closed while it is idle.
func TestRestart(t *testing.T) {
	for name, start := range map[string]func(testing.TB, ...string) *redistest.Server{
		"plain": redistest.Start, "TLS": redistest.StartTLS,
	} {
		t.Run(name, func(t *testing.T) {
			server := start(t)
			store := open(t, server.URL(), patient)
			if err := store.Ping(t.Context()); err != nil {
				t.Fatal(err)
			}
			server.Restart(t)
			if _, err := store.Take(t.Context(), paced, time.Time{}); err != nil {
				t.Errorf("the first Take after a restart: %v", err)
			}
			server.Kill()
			if _, failed := takeAtOnce(t, store, 50); failed != 50 {
				t.Errorf("failures of 50 requests without a server: got %d, want all", failed)
			}
			server.Restart(t)
			if _, err := store.Take(t.Context(), paced, time.Time{}); err != nil {
				t.Errorf("the first Take after some have failed to connect: %v", err)
			}
		})
	}
}

// records keeps what go-redis logs.
type records struct {
	mu   sync.Mutex
	text strings.Builder
}

func (r *records) Printf(_ context.Context, format string, values ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	fmt.Fprintf(&r.text, format+"\n", values...)
}

// TestLostServerIsNotLogged leaves it to the caller to say that a server is lost.
func TestLostServerIsNotLogged(t *testing.T) {
	server := redistest.Start(t)
	store := open(t, server.URL(), patient)
	server.Kill()
	logged := new(records)
	goredis.SetLogger(logged)
	takeAtOnce(t, store, 50)
	logged.mu.Lock()
	defer logged.mu.Unlock()
	if strings.Contains(logged.text.String(), server.Addr()) {
		t.Errorf("logged while the server is lost: got\n%s\nwant nothing", logged.text.String())
	}
}
