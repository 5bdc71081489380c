package integration

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

func TestAReloadDoesNotEndTheFirstLoadThatARobotWaitsFor(t *testing.T) {
	asked, release := make(chan struct{}, 100), make(chan struct{})
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			asked <- struct{}{}
			<-release
			_, _ = w.Write([]byte(reloadRules))
		}
	}))
	defer upstream.Close()
	c := start(t, reloadable(0), map[string]string{"UPSTREAM": upstream.URL})
	answers := make(chan answer, 1)
	go func() {
		a, _ := request{path: "/page", agent: gptbot}.try(client, "http://"+c.address())
		answers <- a
	}()
	select {
	case <-asked:
	case <-time.After(patience):
		t.Fatal("robots.txt was never asked for")
	}
	c.reload(t, 1)
	close(release)
	if a := <-answers; a.status != 403 {
		t.Errorf("GET /page for %q, asked before the reload: got %d, want 403", gptbot, a.status)
	}
}
