package integration

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// A slow upstream sends a little again and again, and ends only when it cannot.
type slow struct{ open atomic.Int64 } // answers that have not ended

// drip sends a line of a robots.txt ten times a second.
func (s *slow) drip(w http.ResponseWriter, r *http.Request) {
	s.open.Add(1)
	defer s.open.Add(-1)
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			_, _ = w.Write([]byte("Disallow: /drip/\n"))
			_ = http.NewResponseController(w).Flush()
		case <-r.Context().Done():
			return
		}
	}
}

// pour sends as much as is taken.
func (s *slow) pour(w http.ResponseWriter, r *http.Request) {
	s.open.Add(1)
	defer s.open.Add(-1)
	lines := []byte(strings.Repeat("Disallow: /poured/\n", 1000))
	for r.Context().Err() == nil {
		if _, err := w.Write(lines); err != nil {
			return
		}
	}
}

// headers sends a header field ten times a second, and never a body.
func (s *slow) headers(w http.ResponseWriter, _ *http.Request) {
	s.open.Add(1)
	defer s.open.Add(-1)
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer conn.Close()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	text := "HTTP/1.1 200 OK\r\n"
	for n := 0; err == nil; n++ {
		_, err = fmt.Fprintf(conn, "%sX-Header-%d: of very many\r\n", text, n)
		text = ""
		<-tick.C
	}
}

// onwards redirects to an address that nobody has seen.
func onwards(w http.ResponseWriter, r *http.Request) {
	http.Redirect(w, r, strings.TrimSuffix(r.URL.Path, ".txt")+"x.txt", http.StatusFound)
}

// sourcesSite takes its rules from an upstream in the two ways that there are.
const sourcesSite = `
http://own.test:{$PORT} {
	robots {
		refresh 1s
	}
	reverse_proxy {$UPSTREAM} {
		header_up Host {upstream_hostport}
	}
}
http://url.test:{$PORT} {
	robots {
		source url {$UPSTREAM}/robots.txt
		refresh 1s
	}
	respond "page"
}
`

var sourcesHosts = []string{"own.test", "url.test"}

// startSources runs sourcesSite, with the first rules in force, and returns its upstream.
func startSources(t *testing.T) (*caddy, *faulty) {
	t.Helper()
	upstream := newFaulty(t)
	upstream.set("127.0.0.1", plain(firstRules))
	c := start(t, sourcesSite, map[string]string{"UPSTREAM": upstream.URL})
	for _, host := range sourcesHosts {
		c.expect(t, host, "/first/", gptbot, 403)
	}
	return c, upstream
}

// expectRecovery has the upstream answer again, and nothing of what it did before stay.
func (s *slow) expectRecovery(t *testing.T, c *caddy, upstream *faulty) {
	t.Helper()
	upstream.set("127.0.0.1", plain(secondRules))
	for _, host := range sourcesHosts {
		eventually(t, "the new rules hold", func() bool { return c.status(t, host, "/second/") == 403 })
	}
	eventually(t, "nothing that was given up is left open", func() bool { return s.open.Load() == 0 })
}

func TestAnUpstreamThatNeverEndsIsGivenUp(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]func(*slow, http.ResponseWriter, *http.Request){
		"a body that drips": (*slow).drip, "headers that drip": (*slow).headers,
		"redirects": func(_ *slow, w http.ResponseWriter, r *http.Request) { onwards(w, r) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var s slow
			c, upstream := startSources(t)
			upstream.set("127.0.0.1", func(w http.ResponseWriter, r *http.Request) { fault(&s, w, r) })
			c.robotsCome(t, sourcesHosts...)
			eventually(t, "both sites tell that their rules cannot be loaded", func() bool {
				return len(c.log.all(message(msgUnavailable))) == len(sourcesHosts)
			})
			for _, host := range sourcesHosts {
				c.expect(t, host, "/first/", gptbot, 403)
				c.expect(t, host, "/second/", gptbot, 200)
				c.expect(t, host, "/first/", chrome, 200)
			}
			s.expectRecovery(t, c, upstream)
		})
	}
}

func TestAnUpstreamThatPoursTakesNoMemory(t *testing.T) {
	t.Parallel()
	var s slow
	c, upstream := startSources(t)
	before := c.memory(t)
	upstream.set("127.0.0.1", s.pour)
	// Of a URL the head is read, as of any large one. What this server answers itself is
	// read to its end, and has none.
	eventually(t, "the head of what the URL pours holds", func() bool { return c.status(t, "url.test", "/first/") == 200 })
	c.robotsCome(t, "own.test")
	c.log.wait(t, "the own rules cannot be loaded", c.ended, message(msgUnavailable), field("host", "own.test"))
	c.expect(t, "own.test", "/first/", gptbot, 403)
	c.expectGrowth(t, before, 64)
	s.expectRecovery(t, c, upstream)
}
