package caddymodule

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-robots/caddy-robots/internal/compliance"
	"github.com/caddy-robots/caddy-robots/internal/policies"
)

// answering serves r, which takes a while to answer with so many bytes.
func (th *testHandler) answering(t *testing.T, r *http.Request, took time.Duration, answer func(w http.ResponseWriter) error) *httptest.ResponseRecorder {
	t.Helper()
	rec := httptest.NewRecorder()
	err := th.ServeHTTP(rec, r, caddyhttp.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) error {
		th.clock.advance(took)
		return answer(w)
	}))
	if _, failed := err.(caddyhttp.HandlerError); err != nil && !failed {
		t.Fatal(err)
	}
	return rec
}

// cost returns what the one robot of the ledger cost.
func (th *testHandler) cost(t *testing.T) compliance.Cost {
	t.Helper()
	sites := th.app.ledger.Snapshot(th.clock.now()).Sites
	if len(sites) != 1 || len(sites[0].Robots) != 1 {
		t.Fatalf("the ledger holds %+v, want one robot", sites)
	}
	return sites[0].Robots[0].Cost
}

func TestWhatRobotsCostIsMeasured(t *testing.T) {
	th := newTestHandler(t, "User-agent: *\nDisallow: /private/\n", &Handler{})
	page := strings.Repeat("x", 1000)
	answers := []func(w http.ResponseWriter) error{
		func(w http.ResponseWriter) error { _, err := io.WriteString(w, page); return err },
		func(w http.ResponseWriter) error {
			w.WriteHeader(http.StatusNotFound)
			_, err := w.Write([]byte(page[:500]))
			return err
		},
		func(w http.ResponseWriter) error {
			_, err := w.(io.ReaderFrom).ReadFrom(strings.NewReader(page))
			return err
		},
		func(http.ResponseWriter) error { return caddyhttp.Error(http.StatusBadGateway, io.EOF) },
		func(w http.ResponseWriter) error {
			w.WriteHeader(http.StatusEarlyHints)
			w.WriteHeader(http.StatusFound)
			return nil
		},
	}
	for _, answer := range answers {
		th.answering(t, newRequest("GET", "/", gptBot), 2*time.Second, answer)
	}
	th.ask("GET", "/private/", gptBot)
	got := th.cost(t)
	if got.Measured != 5 || got.Bytes != 2500 || got.Seconds != 10 || got.SavedBytes != 500 || got.SavedSeconds != 2 {
		t.Errorf("got %+v, want 2500 bytes and 10 s of 5 requests, of which one that was refused would have had a fifth", got)
	}
	for class, want := range map[string]uint64{"2xx": 2, "3xx": 1, "4xx": 2, "5xx": 1} {
		if got.Statuses[class] != want {
			t.Errorf("%s: got %d, want %d", class, got.Statuses[class], want)
		}
	}
}

func TestWhatIsOnlyObservedIsMeasuredToo(t *testing.T) {
	th := newTestHandler(t, "User-agent: *\nDisallow: /private/\n", &Handler{Observe: true})
	th.answering(t, newRequest("GET", "/private/", gptBot), time.Second, func(w http.ResponseWriter) error {
		_, err := io.WriteString(w, "hello")
		return err
	})
	if got := th.cost(t); got.Bytes != 5 || got.Seconds != 1 || got.SavedBytes != 0 {
		t.Errorf("got %+v, want 5 bytes and 1 s, and nothing saved", got)
	}
}

// Nothing stands between a person and the site.
func TestPeoplesAnswersAreNotLookedAt(t *testing.T) {
	th := newTestHandler(t, "User-agent: *\nDisallow: /private/\n", &Handler{})
	for _, agent := range []string{chrome, someApp} {
		rec := httptest.NewRecorder()
		err := th.ServeHTTP(rec, newRequest("GET", "/", agent), caddyhttp.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) error {
			if w != http.ResponseWriter(rec) {
				t.Errorf("%s: its answer is wrapped in a %T", agent, w)
			}
			return nil
		}))
		if err != nil {
			t.Fatal(err)
		}
	}
}

// A handler that breaks net/http's rule writes to nobody.
func TestAResponseIsOverWithItsRequest(t *testing.T) {
	rec := httptest.NewRecorder()
	m := newMeter(rec, 0)
	m.stop(0, nil)
	m.WriteHeader(http.StatusTeapot)
	if n, err := m.Write([]byte("late")); n != 0 || err == nil || rec.Body.Len() > 0 {
		t.Errorf("got %d bytes, %v, and %q was sent", n, err, rec.Body)
	}
}

// Caddy notes when a request came, and to ask again would cost more than most of what is done for it.
func TestARequestCameWhenCaddySays(t *testing.T) {
	h := &Handler{Sources: []policies.Source{{Text: closedAll}}}
	provision(t, h)
	state := stateOf(newRequest("GET", "/", gptBot))
	if at, noted := h.arrival(&state), state.vars[startKey]; noted == nil || at != noted {
		t.Errorf("got %s, want Caddy's %v", at, noted)
	}
	state.vars[startKey] = "what a directive vars has set"
	if ago := time.Since(h.arrival(&state)); ago < 0 || ago > time.Minute {
		t.Errorf("without it: got %s ago, want now", ago)
	}
	th := newTestHandler(t, closedAll, &Handler{})
	state = stateOf(newRequest("GET", "/", gptBot))
	if got := th.arrival(&state); !got.Equal(th.clock.now()) {
		t.Errorf("by another clock: got %s, want %s", got, th.clock.now())
	}
}
