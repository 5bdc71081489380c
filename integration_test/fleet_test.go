package integration

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/caddy-robots/caddy-robots/internal/ratelimit/redis/redistest"
)

// Messages about what a fleet shares.
const (
	msgAlone       = "paces and bans cannot be shared; this Caddy goes on with what it knows itself"
	msgPartly      = "not everything is shared"
	msgSharedAgain = "paces and bans are shared again"
)

// The visitors of a fleet's site, and the host by which they know it.
const (
	fleetHost = "fleet.example"

	tenthBot = "TenthBot/1.0" // has to leave a tenth of a second between its requests
	burstBot = "BurstBot/1.0" // may fetch 20 documents a second
	rogueBot = "RogueBot/1.0" // has no pace, and a path that is closed to it
)

// fleetConfig is the Caddyfile of a fleet that shares as said, not at all if that is "", and
// whose site has these options of robots.
func fleetConfig(share string, options ...string) string {
	global := proxied
	if share != "" {
		global = withGlobal(proxied, "\trobots {\n\t\t"+share+"\n\t}\n")
	}
	return global + `
http://:{$PORT} {
	robots {
		source text <<ROBOTS
			User-agent: TenthBot
			Crawl-delay: 0.1

			User-agent: BurstBot
			Request-rate: 20/1s

			User-agent: HourBot # and HourBot1 and so on
			Crawl-delay: 3600

			User-agent: RogueBot
			Disallow: /private/
			ROBOTS
		` + strings.Join(options, "\n\t\t") + `
	}
	respond "page"
}
`
}

const (
	sharing = "share {env.REDIS_URL}"

	// calmly is sharing for tests in which no pause of a busy machine may be taken for
	// one of Redis.
	calmly = sharing + " within 5s"
)

// fleet is two Caddys that serve one site and share a redis-server.
type fleet struct {
	server *redistest.Server
	url    string        // of the server, as the Caddys know it
	redis  *redis.Client // ours
	a, b   *caddy
}

// startRedis runs a redis-server with these arguments until the test ends.
func startRedis(t *testing.T, args ...string) *redistest.Server {
	t.Helper()
	need(t, "redis-server")
	return redistest.Start(t, args...)
}

// startRedisTLS runs a redis-server that speaks TLS alone.
func startRedisTLS(t *testing.T) *redistest.Server {
	t.Helper()
	need(t, "redis-server")
	return redistest.StartTLS(t)
}

// startFleet runs a fleet until the test ends, as fleetConfig says, and returns when both
// share.
func startFleet(t *testing.T, share string, options ...string) *fleet {
	t.Helper()
	server := startRedis(t)
	f := startFleetAt(t, server, server.URL(), share, options...)
	watched(t, f.redis, 2)
	return f
}

// startFleetAt is startFleet for a server that is reached at a URL, and that need not
// answer.
func startFleetAt(t *testing.T, server *redistest.Server, url, share string, options ...string) *fleet {
	t.Helper()
	f := &fleet{server: server, url: url, redis: redisClient(t, url)}
	f.a, f.b = f.join(t, share, options...), f.join(t, share, options...)
	return f
}

// join runs one more Caddy.
func (f *fleet) join(t *testing.T, share string, options ...string) *caddy {
	t.Helper()
	return startWith(t, fleetConfig(share, options...), map[string]string{"REDIS_URL": f.url})
}

func (f *fleet) both() []*caddy { return []*caddy{f.a, f.b} }

// watched waits until so many Caddys share the server: each then waits there for news
// of bans.
func watched(t *testing.T, c *redis.Client, caddys int) {
	t.Helper()
	eventually(t, fmt.Sprintf("%d Caddys share", caddys), func() bool {
		return redisInfo(t, c, "clients", "blocked_clients:") == caddys
	})
}

// redisClient returns a client of the server, to look behind the Caddys' backs.
func redisClient(t *testing.T, url string) *redis.Client {
	t.Helper()
	options, err := redis.ParseURL(url)
	if err != nil {
		t.Fatal(err)
	}
	c := redis.NewClient(options)
	t.Cleanup(func() { c.Close() })
	return c
}

// redisInfo returns the number that follows a text in a section of INFO, 0 if it is not
// there.
func redisInfo(t *testing.T, c *redis.Client, section, before string) int {
	t.Helper()
	info, err := c.Info(t.Context(), section).Result()
	if err != nil {
		t.Fatal(err)
	}
	match := regexp.MustCompile(regexp.QuoteMeta(before) + `(\d+)`).FindStringSubmatch(info)
	if match == nil {
		return 0
	}
	n, err := strconv.Atoi(match[1])
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// judgements returns how many requests the server has judged.
func judgements(t *testing.T, c *redis.Client) int {
	t.Helper()
	return redisInfo(t, c, "commandstats", "cmdstat_evalsha:calls=") + redisInfo(t, c, "commandstats", "cmdstat_eval:calls=")
}

// said returns when Caddy logged a message.
func (c *caddy) said(msg string) []time.Time {
	var times []time.Time
	for _, l := range c.log.all(message(msg)) {
		seconds, _ := l["ts"].(float64)
		times = append(times, time.UnixMicro(int64(seconds*1e6)))
	}
	return times
}

// expectSaid fails the test unless Caddy has logged a message so many times.
func (c *caddy) expectSaid(t *testing.T, msg string, want int) {
	t.Helper()
	if got := len(c.said(msg)); got != want {
		t.Errorf("log lines %q: got %d, want %d", msg, got, want)
	}
}

// expectShared fails the test unless what a robot fetches from one Caddy counts at the
// other. The robot must not have been here before.
func (f *fleet) expectShared(t *testing.T, agent string) {
	t.Helper()
	f.a.expect(t, fleetHost, "/page", agent, 200)
	f.b.expect(t, fleetHost, "/page", agent, 429)
}

// expectAlone fails the test unless a Caddy paces a robot that it does not know yet by itself.
func (c *caddy) expectAlone(t *testing.T, agent string) {
	t.Helper()
	c.expect(t, fleetHost, "/page", agent, 200)
	c.expect(t, fleetHost, "/page", agent, 429)
}

// hourBotNumber returns a robot that may come once an hour.
func hourBotNumber(n int) string { return fmt.Sprintf("HourBot%d/1.0", n) }

// waitSaid waits until Caddy has logged a message so many times, and returns when it did
// so last.
func (c *caddy) waitSaid(t *testing.T, msg string, times int) time.Time {
	t.Helper()
	eventually(t, fmt.Sprintf("%q is logged %d times", msg, times), func() bool { return len(c.said(msg)) >= times })
	return c.said(msg)[times-1]
}
