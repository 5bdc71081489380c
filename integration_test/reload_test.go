package integration

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

const reloads = 25

// reloadable is a site whose answers say which config made them.
func reloadable(n int) string {
	return fmt.Sprintf(`
http://:{$PORT} {
	header X-Config %d
	robots
	reverse_proxy {$UPSTREAM}
}
`, n)
}

const reloadRules = `User-agent: GPTBot
Disallow: /

User-agent: PaceBot
Crawl-delay: 3600
`

// switchable is an upstream whose robots.txt can be taken away.
func switchable(t *testing.T) (url string, robotsTxt *atomic.Bool) {
	t.Helper()
	robotsTxt = new(atomic.Bool)
	robotsTxt.Store(true)
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path != "/robots.txt":
			_, _ = w.Write([]byte("page"))
		case robotsTxt.Load():
			_, _ = w.Write([]byte(reloadRules))
		default:
			http.Error(w, "out of order", http.StatusInternalServerError)
		}
	}))
	t.Cleanup(upstream.Close)
	return upstream.URL, robotsTxt
}

// reload puts config n in force.
func (c *caddy) reload(t *testing.T, n int) {
	t.Helper()
	if status, body, err := c.load(reloadable(n)); err != nil || status != 200 {
		t.Fatalf("reload %d: got status %d, error %v: %s", n, status, err, body)
	}
}

// crowd is clients that ask without a pause until they are told to stop.
type crowd struct {
	stop   chan struct{}
	done   sync.WaitGroup
	asked  atomic.Int64
	mu     sync.Mutex // guards the fields below
	wrong  []string   // at most a few
	served map[string]bool
}

// join adds a client that expects the same status always.
func (cr *crowd) join(c *caddy, agent string, want int, keepAlive bool) {
	visitor := &http.Client{Timeout: patience, Transport: &http.Transport{DisableKeepAlives: !keepAlive}}
	cr.done.Go(func() {
		defer visitor.CloseIdleConnections()
		for {
			select {
			case <-cr.stop:
				return
			default:
			}
			a, err := persistent(visitor, request{path: "/page", agent: agent}, "http://"+c.address())
			cr.asked.Add(1)
			cr.note(a, err, want, fmt.Sprintf("%q (keep-alive %t)", agent, keepAlive))
		}
	})
}

func (cr *crowd) note(a answer, err error, want int, who string) {
	cr.mu.Lock()
	defer cr.mu.Unlock()
	if err == nil {
		cr.served[a.header.Get("X-Config")] = true
	}
	if (err != nil || a.status != want) && len(cr.wrong) < 10 {
		cr.wrong = append(cr.wrong, fmt.Sprintf("%s: got %d %q, error %v, want %d", who, a.status, a.body, err, want))
	}
}

func TestReloadsUnderLoadDisturbNobody(t *testing.T) {
	url, _ := switchable(t)
	c := start(t, reloadable(0), map[string]string{"UPSTREAM": url})
	c.expect(t, "", "/page", gptbot, 403) // from here on the rules are known
	cr := &crowd{stop: make(chan struct{}), served: make(map[string]bool)}
	for _, keepAlive := range []bool{true, false} {
		cr.join(c, chrome, 200, keepAlive)
		cr.join(c, gptbot, 403, keepAlive)
		cr.join(c, bingbot, 200, keepAlive)
	}
	for n := 1; n <= reloads; n++ {
		before := cr.asked.Load()
		c.reload(t, n)
		eventually(t, "the crowd goes on", func() bool { return cr.asked.Load() >= before+20 })
	}
	close(cr.stop)
	cr.done.Wait()
	for _, wrong := range cr.wrong {
		t.Error(wrong)
	}
	if got, want := len(cr.served), reloads; got < want {
		t.Errorf("configs that answered the crowd: got %d, want at least %d", got, want)
	}
	t.Logf("%d requests during %d reloads", cr.asked.Load(), reloads)
}

func TestPaceSurvivesAReload(t *testing.T) {
	url, _ := switchable(t)
	c := start(t, reloadable(0), map[string]string{"UPSTREAM": url})
	for n := 1; n <= 5; n++ {
		agent := fmt.Sprintf("PaceBot%d/1.0", n)
		c.expect(t, "", "/page", agent, 200)
		c.reload(t, n)
		a := c.expect(t, "", "/page", agent, 429)
		if got, want := a.header.Get("X-Config"), fmt.Sprint(n); got != want {
			t.Errorf("answer after reload %d: got one of config %q", n, got)
		}
	}
}

func TestRulesSurviveAReloadWhileTheirSourceIsOutOfOrder(t *testing.T) {
	url, robotsTxt := switchable(t)
	c := start(t, reloadable(0), map[string]string{"UPSTREAM": url})
	c.expect(t, "", "/page", gptbot, 403)
	robotsTxt.Store(false)
	for n := 1; n <= 3; n++ {
		c.reload(t, n)
		c.expect(t, "", "/page", gptbot, 403)
		c.expect(t, "", "/page", bingbot, 200)
	}
}

func TestAWrongConfigIsRefusedAndTheOldOneGoesOn(t *testing.T) {
	url, _ := switchable(t)
	c := start(t, reloadable(0), map[string]string{"UPSTREAM": url})
	c.expect(t, "", "/page", "PaceBot/1.0", 200)
	for _, tt := range []struct{ options, mention string }{
		{"dialect klingon", "klingon"},
		{"refresh soon", "soon"},
		{"serve", "source"},
		{"frobnicate", "frobnicate"},
		{"source file {http.request.uri}", "{http.request.uri}"},
	} {
		status, body, err := c.load("http://:{$PORT} {\n\trobots {\n\t\t" + tt.options + "\n\t}\n}\n")
		if err != nil || status != 400 || !strings.Contains(body, tt.mention) {
			t.Errorf("loading a config with %q: got status %d, error %v, %s; want 400 and a mention of %q",
				tt.options, status, err, body, tt.mention)
		}
		c.expect(t, "", "/page", gptbot, 403)
		c.expect(t, "", "/page", chrome, 200)
		c.expect(t, "", "/page", "PaceBot/1.0", 429)
	}
}
