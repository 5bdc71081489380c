package integration

import (
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// adminPages are what an owner may ask for at the admin endpoint, all of it JSON.
var adminPages = []string{"/robots/sites", "/robots/robots", "/robots/evidence", "/robots/bans", "/robots/trapped"}

func TestTheAdminEndpointAnswersWhileRobotsTxtIsLoaded(t *testing.T) {
	t.Parallel()
	upstream := newFaulty(t)
	c := start(t, faultSite, map[string]string{"UPSTREAM": upstream.URL})
	const host = "site.test"
	upstream.set(host, upstream.hanging)
	c.expect(t, host, "/page", chrome, 200) // Caddy knows itself
	waiting := make(chan answer, 1)
	go func() {
		a, _ := request{host: host, path: "/page", agent: gptbot}.try(client, "http://"+c.address())
		waiting <- a
	}()
	eventually(t, "a load is under way", func() bool { return upstream.times(host) > 0 })
	given := upstream.hung.Load()
	for _, page := range adminPages {
		began := time.Now()
		if text := c.adminGet(t, page); !json.Valid([]byte(text)) {
			t.Errorf("admin %s: got %s, want JSON", page, text)
		}
		if took := time.Since(began); took > slack {
			t.Errorf("admin %s: took %s while robots.txt is loaded", page, took)
		}
	}
	if got := upstream.hung.Load(); got != given {
		t.Errorf("loads that were given up meanwhile: got %d, want none", got-given)
	}
	if a := <-waiting; a.status != 200 {
		t.Errorf("GET /page of the robot that waited: got %d, want 200", a.status)
	}
}

func TestTheAdminEndpointAnswersWhileTheConfigIsLoaded(t *testing.T) {
	t.Parallel()
	url, _ := switchable(t)
	c := start(t, reloadable(0), map[string]string{"UPSTREAM": url})
	c.expect(t, "", "/page", gptbot, 403)
	var answered atomic.Int64
	wrong := make(chan string, len(adminPages))
	stop := make(chan struct{})
	var owners sync.WaitGroup
	for _, page := range adminPages {
		owners.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				// A reload closes the admin endpoint and opens another: that a connection ends is Caddy's.
				a, err := request{path: page}.try(client, "http://"+c.env["ADMIN"])
				if err == nil && (a.status != 200 || !json.Valid([]byte(a.body))) {
					wrong <- fmt.Sprintf("admin %s: got %d %s, want JSON", page, a.status, a.body)
					return
				}
				if err == nil {
					answered.Add(1)
				}
			}
		})
	}
	for n := 1; n <= reloads; n++ {
		before := answered.Load()
		c.reload(t, n)
		eventually(t, "owners are answered", func() bool { return answered.Load() > before || len(wrong) > 0 })
	}
	close(stop)
	owners.Wait()
	close(wrong)
	for text := range wrong {
		t.Error(text)
	}
	c.expect(t, "", "/page", gptbot, 403)
	t.Logf("%d answers during %d reloads", answered.Load(), reloads)
}
