package integration

import (
	"context"
	"fmt"
	"net"
	"testing"
	"time"
)

// clientSite has a page that is as long as anybody takes it.
const clientSite = `
http://:{$PORT} {
	robots {
		source text <<ROBOTS
			User-agent: TenthBot
			Crawl-delay: 0.1

			User-agent: *
			Disallow: /private/
			ROBOTS
		too_fast wait 1m
	}
	reverse_proxy {$UPSTREAM}
}
`

// startEndless runs clientSite. What is asked for as .txt pours.
func startEndless(t *testing.T, s *slow) *caddy {
	t.Helper()
	upstream := newFaulty(t)
	upstream.set("127.0.0.1", s.pour)
	return start(t, clientSite, map[string]string{"UPSTREAM": upstream.URL})
}

// held is how many requests Caddy says that it holds.
func (c *caddy) held(t *testing.T) int64 {
	t.Helper()
	return numberAfter(t, c.adminGet(t, "/metrics"), "\ncaddy_robots_held_requests ")
}

// mute sends one request over a connection of its own, which takes no more than a few
// bytes of the answer until it is read.
func (c *caddy) mute(t *testing.T, path, agent string) *net.TCPConn {
	t.Helper()
	address, err := net.ResolveTCPAddr("tcp", c.address())
	if err != nil {
		t.Fatal(err)
	}
	conn, err := net.DialTCP("tcp", nil, address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if err := conn.SetReadBuffer(4096); err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: 127.0.0.1\r\nUser-Agent: %s\r\n\r\n", path, agent); err != nil {
		t.Fatal(err)
	}
	return conn
}

func TestARobotThatLeavesBeforeItsRefusalIsCounted(t *testing.T) {
	t.Parallel()
	c := startEndless(t, new(slow))
	const clients = 200
	for range clients {
		conn := c.mute(t, "/private/", bingbot)
		// The request is there; its answer meets a connection that is gone, or going.
		if err := conn.CloseWrite(); err != nil {
			t.Fatal(err)
		}
		if err := conn.Close(); err != nil {
			t.Fatal(err)
		}
	}
	want := tally{Requests: clients, Disobedient: clients}
	eventually(t, "all are counted", func() bool { return c.seen(t) == want })
	for _, level := range []string{"warn", "error"} {
		if lines := c.log.all(field("level", level), field("logger", "http.handlers.robots")); len(lines) > 0 {
			t.Errorf("log: got %v, want nothing at level %s", lines[0], level)
		}
	}
	c.expect(t, "", "/page", chrome, 200)
}

func TestARobotThatLeavesWhileItIsServedIsCounted(t *testing.T) {
	t.Parallel()
	var s slow
	c := startEndless(t, &s)
	const clients = 20
	for range clients {
		ctx, leave := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_, _ = request{path: "/endless.txt", agent: bingbot}.tryUntil(ctx, client, "http://"+c.address())
		}()
		eventually(t, "it is served", func() bool { return s.open.Load() == 1 })
		leave()
		<-ended
		eventually(t, "its answer has ended", func() bool { return s.open.Load() == 0 })
	}
	eventually(t, "all are counted", func() bool { return c.seen(t) == tally{Requests: clients} })
}

func TestRobotsThatNeverReadTakeLittle(t *testing.T) {
	t.Parallel()
	var s slow
	c := startEndless(t, &s)
	const clients, paced = 100, 20
	before := c.memory(t)
	var mutes []*net.TCPConn
	for range clients - paced {
		mutes = append(mutes, c.mute(t, "/endless.txt", bingbot))
	}
	for n := range paced {
		// Each is served when its time has come, and stays.
		mutes = append(mutes, c.mute(t, "/endless.txt", "TenthBot/1.0"))
		eventually(t, "it is served", func() bool { return s.open.Load() == int64(clients-paced+n+1) })
	}
	if got := c.held(t); got != 0 {
		t.Errorf("requests that are held: got %d, want none of those that are served", got)
	}
	began := time.Now()
	c.expect(t, "", "/page", "TenthBot/1.0", 200)
	c.expect(t, "", "/page", bingbot, 200)
	c.expect(t, "", "/private/", bingbot, 403)
	c.expect(t, "", "/page", chrome, 200)
	if took := time.Since(began); took > slack {
		t.Errorf("four others took %s", took)
	}
	c.expectGrowth(t, before, 64)
	known := c.seen(t)
	for _, conn := range mutes {
		conn.Close()
	}
	eventually(t, "all are counted when they have left", func() bool {
		return c.seen(t) == known.plus(tally{Requests: clients})
	})
}

func TestARobotThatLeavesWhileItIsHeldLeavesNothing(t *testing.T) {
	t.Parallel()
	c := startWith(t, prelude+`
http://:{$PORT} {
	robots {
		source text <<ROBOTS
			User-agent: HourBot
			Crawl-delay: 60
			ROBOTS
		too_fast wait 5m
	}
	respond "page"
}
`, nil)
	c.expect(t, "", "/page", "HourBot/1.0", 200)
	var mutes []*net.TCPConn
	for range 4 {
		mutes = append(mutes, c.mute(t, "/page", "HourBot/1.0"))
	}
	eventually(t, "four are held", func() bool { return c.held(t) == 4 })
	for _, conn := range mutes {
		conn.Close()
	}
	eventually(t, "none is held", func() bool { return c.held(t) == 0 })
	eventually(t, "they are counted as too fast", func() bool { return c.seen(t) == tally{Requests: 5, Disobedient: 4} })
}
