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

const (
	firstRules  = "User-agent: GPTBot\nDisallow: /first/\n"
	secondRules = "User-agent: GPTBot\nDisallow: /second/\n"
)

// faulty is an upstream whose robots.txt is, for each host, in a state of its own. All
// else that it is asked for is a page.
type faulty struct {
	*httptest.Server
	hung atomic.Int64 // requests for robots.txt that were left hanging until somebody gave up

	mu     sync.Mutex // guards the fields below
	states map[string]http.HandlerFunc
	asked  map[string]int // how often robots.txt was
}

func newFaulty(t *testing.T) *faulty {
	t.Helper()
	f := &faulty{states: make(map[string]http.HandlerFunc), asked: make(map[string]int)}
	f.Server = httptest.NewServer(f)
	t.Cleanup(f.Close)
	return f
}

// ServeHTTP implements http.Handler.
func (f *faulty) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !strings.HasSuffix(r.URL.Path, ".txt") {
		_, _ = w.Write([]byte("page"))
		return
	}
	host, _, _ := strings.Cut(r.Host, ":")
	f.mu.Lock()
	f.asked[host]++
	answer := f.states[host]
	f.mu.Unlock()
	answer(w, r)
}

// set puts the robots.txt of a host into a state.
func (f *faulty) set(host string, state http.HandlerFunc) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.states[host] = state
}

// times tells how often the robots.txt of a host was asked for.
func (f *faulty) times(host string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.asked[host]
}

// plain is the state of answering with a text.
func plain(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(text)) }
}

func broken(w http.ResponseWriter, _ *http.Request) {
	http.Error(w, "out of order", http.StatusInternalServerError)
}

func (f *faulty) hanging(_ http.ResponseWriter, r *http.Request) {
	<-r.Context().Done()
	f.hung.Add(1)
}

// cut announces more than it sends.
func cut(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Length", "1000")
	_, _ = w.Write([]byte("User-agent: *\nDisallow:\n"))
	panic(http.ErrAbortHandler)
}

// cutChunks ends before the last chunk.
func cutChunks(w http.ResponseWriter, _ *http.Request) {
	_, _ = w.Write([]byte("User-agent: *\nDisallow:\n"))
	_ = http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}

// closed breaks the connection without an answer.
func closed(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

// circle redirects to another address and back.
func circle(w http.ResponseWriter, r *http.Request) {
	to := "/robots.txt"
	if r.URL.Path == to {
		to = "/rules.txt"
	}
	http.Redirect(w, r, to, http.StatusFound)
}

const faultSite = `
http://:{$PORT} {
	robots {
		refresh 1s
	}
	reverse_proxy {$UPSTREAM}
}
http://:{$PORT2} {
	robots {
		refresh 1s
		unreachable deny
	}
	reverse_proxy {$UPSTREAM}
}
`

// status is the status of a GET of GPTBot.
func (c *caddy) status(t *testing.T, host, path string) int {
	t.Helper()
	return c.ask(t, request{host: host, path: path, agent: gptbot}).status
}

func TestAFaultOfRobotsTxtKeepsTheLastGoodRules(t *testing.T) {
	t.Parallel()
	upstream := newFaulty(t)
	c := start(t, faultSite, map[string]string{"UPSTREAM": upstream.URL})
	for _, tt := range []struct {
		host      string
		fault     http.HandlerFunc
		stretches int
	}{
		{"hanging.test", upstream.hanging, 1}, // the slowest first
		{"page.test", plain("<!doctype html>\n<html><body>\nUser-agent: *\nDisallow: /\n</body></html>\n"), 1},
		{"busy.test", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTooManyRequests) }, 1},
		{"broken.test", broken, 2},
		{"cut.test", cut, 1},
		{"chunks.test", cutChunks, 1},
		{"closed.test", closed, 1},
		{"circle.test", circle, 1},
	} {
		t.Run(tt.host, func(t *testing.T) {
			t.Parallel()
			host, fault := tt.host, tt.fault
			upstream.set(host, plain(firstRules))
			c.expect(t, host, "/first/", gptbot, 403)

			for stretch := 1; stretch <= tt.stretches; stretch++ {
				upstream.set(host, fault)
				of := field("host", host)
				eventually(t, "the log says that robots.txt cannot be loaded", func() bool {
					c.robotComes(t, host)
					return len(c.log.all(message(msgUnavailable), of)) >= stretch
				})
				before := upstream.times(host)
				c.expect(t, host, "/first/", gptbot, 403)
				c.expect(t, host, "/second/", gptbot, 200)
				c.expect(t, host, "/first/", chrome, 200)
				eventually(t, "two more loads", func() bool {
					c.robotComes(t, host)
					return upstream.times(host) >= before+2
				})
				c.expect(t, host, "/first/", gptbot, 403)

				upstream.set(host, plain(secondRules))
				eventually(t, "the new rules hold", func() bool { return c.status(t, host, "/second/") == 403 })
				eventually(t, "the log says that robots.txt can be loaded", func() bool {
					c.robotComes(t, host)
					return len(c.log.all(message(msgAvailable), of)) >= stretch
				})
				for _, msg := range []string{msgUnavailable, msgAvailable} {
					if got := len(c.log.all(message(msg), of)); got != stretch {
						t.Errorf("lines %q after %d stretches of faults: got %d", msg, stretch, got)
					}
				}
				upstream.set(host, plain(firstRules))
				eventually(t, "the first rules hold", func() bool { return c.status(t, host, "/first/") == 403 })
			}
		})
	}
}

func TestNobodyWaitsWhileRobotsTxtHangs(t *testing.T) {
	t.Parallel()
	upstream := newFaulty(t)
	c := start(t, faultSite, map[string]string{"UPSTREAM": upstream.URL})
	const host = "site.test"
	upstream.set(host, plain(firstRules))
	c.expect(t, host, "/first/", gptbot, 403)
	upstream.set(host, upstream.hanging)

	// Whoever waited for a load would be answered after it was given up. Between two
	// loads nobody can wait, so more than one attempt may be needed to meet one.
	met := false
	for range 5 {
		before := upstream.times(host)
		eventually(t, "a load", func() bool {
			c.robotComes(t, host)
			return upstream.times(host) > before
		})
		given := upstream.hung.Load()
		for range 10 {
			c.expect(t, host, "/first/", gptbot, 403)
			c.expect(t, host, "/first/", chrome, 200)
		}
		if upstream.hung.Load() == given {
			met = true
			break
		}
	}
	if !met {
		t.Error("visitors were answered only after the load of robots.txt that hung was given up")
	}
}

func TestABrowserNeverWaitsForTheFirstLoad(t *testing.T) {
	upstream := newFaulty(t)
	c := start(t, faultSite, map[string]string{"UPSTREAM": upstream.URL})
	const host = "site.test"
	upstream.set(host, upstream.hanging)
	c.expect(t, host, "/page", chrome, 200)
	if got := upstream.hung.Load(); got != 0 {
		t.Errorf("loads that were given up before the browser was answered: got %d, want none", got)
	}
}

func TestUnreachableDecidesUntilTheFirstGoodLoad(t *testing.T) {
	t.Parallel()
	upstream := newFaulty(t)
	c := start(t, faultSite, map[string]string{"UPSTREAM": upstream.URL})
	for host, fault := range map[string]http.HandlerFunc{
		"broken.test": broken, "hanging.test": upstream.hanging, "closed.test": closed, "circle.test": circle,
	} {
		t.Run(host, func(t *testing.T) {
			t.Parallel()
			upstream.set(host, fault)
			for port, want := range map[string]int{"PORT": 200, "PORT2": 403} {
				base := "http://127.0.0.1:" + c.env[port]
				for agent, want := range map[string]int{gptbot: want, chrome: 200, curl: 200} {
					a, err := request{host: host, path: "/page", agent: agent}.try(client, base)
					if err != nil || a.status != want {
						t.Errorf("GET /page for %q on {$%s}: got %d, error %v, want %d", agent, port, a.status, err, want)
					}
				}
			}
			upstream.set(host, plain(firstRules))
			for _, port := range []string{"PORT", "PORT2"} {
				for path, want := range map[string]int{"/first/": 403, "/page": 200} {
					eventually(t, fmt.Sprintf("the rules hold: %d for %s on {$%s}", want, path, port), func() bool {
						a, err := request{host: host, path: path, agent: gptbot}.try(client, "http://127.0.0.1:"+c.env[port])
						return err == nil && a.status == want
					})
				}
			}
		})
	}
}

func TestAnAnswerThatIsNoRobotsTxtMeansNoRules(t *testing.T) {
	t.Parallel()
	upstream := newFaulty(t)
	c := start(t, faultSite, map[string]string{"UPSTREAM": upstream.URL})
	for host, state := range map[string]http.HandlerFunc{
		"missing.test": http.NotFound,
		"empty.test":   plain(""),
		"garbage.test": plain("\x00\xff\x13\x37 : \x00\n:::\n\xfe\xff"),
	} {
		t.Run(host, func(t *testing.T) {
			t.Parallel()
			upstream.set(host, plain(firstRules))
			c.expect(t, host, "/first/", gptbot, 403)
			upstream.set(host, state)
			eventually(t, "no rules hold", func() bool { return c.status(t, host, "/first/") == 200 })
			upstream.set(host, plain(secondRules))
			eventually(t, "the new rules hold", func() bool { return c.status(t, host, "/second/") == 403 })
			of := field("host", host)
			changes := func() int { return len(c.log.all(message(msgChanged), of)) + len(c.log.all(message(msgLost), of)) }
			eventually(t, "the log tells of two changes", func() bool { return changes() >= 2 })
			if got := changes(); got != 2 {
				t.Errorf("lines %q and %q: got %d, want 2", msgChanged, msgLost, got)
			}
			if got := len(c.log.all(message(msgUnavailable), of)); got != 0 {
				t.Errorf("lines %q: got %d, want none", msgUnavailable, got)
			}
		})
	}
}

func TestOnlyTheHeadOfAHugeRobotsTxtIsRead(t *testing.T) {
	t.Parallel()
	upstream := newFaulty(t)
	c := start(t, faultSite, map[string]string{"UPSTREAM": upstream.URL})
	const host = "huge.test"
	upstream.set(host, plain(firstRules))
	c.expect(t, host, "/first/", gptbot, 403)
	huge := secondRules + strings.Repeat("Disallow: /filler/of/ten/megabytes\n", 10<<20/35) + "Disallow: /last/\n"
	upstream.set(host, plain(huge))
	eventually(t, "its first rules hold", func() bool { return c.status(t, host, "/second/") == 403 })
	c.expect(t, host, "/first/", gptbot, 200)
	c.expect(t, host, "/last/", gptbot, 200)
	if a := c.expect(t, host, "/robots.txt", gptbot, 200); len(a.body) != len(huge) {
		t.Errorf("GET /robots.txt: got %d bytes, want all %d", len(a.body), len(huge))
	}
}

func TestRulesHoldWhileTheUpstreamIsDown(t *testing.T) {
	t.Parallel()
	port := holdPort(t)
	address := "127.0.0.1:" + port
	site := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			plain(firstRules)(w, r)
		}
	})
	upstream := &httptest.Server{Listener: listenAt(t, port), Config: &http.Server{Handler: site}}
	upstream.Start()
	c := start(t, faultSite, map[string]string{"UPSTREAM": address})
	c.expect(t, "site.test", "/first/", gptbot, 403)
	c.expect(t, "site.test", "/first/", chrome, 200)

	upstream.Close()
	c.robotsCome(t, "site.test")
	c.log.wait(t, "robots.txt cannot be loaded", c.ended, message(msgUnavailable))
	c.expect(t, "site.test", "/first/", gptbot, 403)
	c.expect(t, "site.test", "/first/", chrome, 502) // Caddy's own answer

	upstream = &httptest.Server{Listener: listenAt(t, port), Config: &http.Server{Handler: site}}
	upstream.Start()
	defer upstream.Close()
	c.log.wait(t, "robots.txt can be loaded again", c.ended, message(msgAvailable))
	c.expect(t, "site.test", "/first/", gptbot, 403)
	c.expect(t, "site.test", "/first/", chrome, 200)
}
