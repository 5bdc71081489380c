package webbotauth

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/caddy-robots/caddy-robots/internal/enforce"
)

// stubDirectory is a directory whose answers a test sets; it counts its fetches.
type stubDirectory struct {
	mu      sync.Mutex
	status  int
	body    string
	err     error
	age     string
	gate    chan struct{} // fetches wait for it, if it is set
	fetches int
}

func (d *stubDirectory) RoundTrip(r *http.Request) (*http.Response, error) {
	d.mu.Lock()
	d.fetches++
	gate := d.gate
	d.mu.Unlock()
	if gate != nil {
		select {
		case <-gate:
		case <-r.Context().Done():
			return nil, r.Context().Err()
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return answer(d.status, d.body, "Cache-Control", d.age), d.err
}

func (d *stubDirectory) set(status int, body string, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.status, d.body, d.err = status, body, err
}

func (d *stubDirectory) count() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.fetches
}

// directoryTest is a stub and the cache in front of it, in a bubble with a clock of its own.
type directoryTest struct {
	*testing.T
	stub *stubDirectory
	kept *keyDirectories
}

// inBubble runs a test where sleeping moves the clock and takes no time.
func inBubble(t *testing.T, body string, run func(directoryTest)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		stub := &stubDirectory{status: 200, body: body, age: "max-age=3600"}
		o := Options{Client: &http.Client{Transport: stub}, Now: time.Now}
		run(directoryTest{t, stub, newKeyDirectories(o)})
	})
}

const anAgent = "https://agent.example"

var aPlace = place{url: anAgent + directoryPath}

// expect looks a key up, lets the background finish, and checks what came of it: "key", "no key"
// (the directory's word) or the error.
func (d directoryTest) expect(when, keyID, want string, fetches int) {
	d.Helper()
	got := "key"
	if _, err := d.kept.lookup(context.Background(), aPlace, keyID); errors.Is(err, errNoSuchKey) {
		got = "no key"
	} else if err != nil {
		got = err.Error()
	}
	synctest.Wait()
	if got != want || d.stub.count() != fetches {
		d.Errorf("%s: got %q after %d fetches, want %q after %d", when, got, d.stub.count(), want, fetches)
	}
}

func TestDirectoryIsKeptForItsAge(t *testing.T) {
	a := newTestAgent(anAgent, 1)
	inBubble(t, a.directory(), func(d directoryTest) {
		d.expect("first", a.keyID(), "key", 1)
		time.Sleep(time.Hour - time.Second)
		d.expect("within its age", a.keyID(), "key", 1)
		time.Sleep(time.Second)
		d.expect("past its age", a.keyID(), "key", 2) // refreshed in the background
		d.expect("refreshed", a.keyID(), "key", 2)
	})
}

// While the refresh is under way the old keys serve, and nobody waits.
func TestDirectoryIsRefreshedInTheBackground(t *testing.T) {
	a := newTestAgent(anAgent, 1)
	inBubble(t, a.directory(), func(d directoryTest) {
		d.expect("first", a.keyID(), "key", 1)
		d.stub.gate = make(chan struct{})
		time.Sleep(time.Hour)
		before := time.Now()
		d.expect("refreshing", a.keyID(), "key", 2)
		d.expect("still refreshing", a.keyID(), "key", 2)
		if waited := time.Since(before); waited != 0 {
			t.Errorf("waited %s for a refresh, want 0s", waited)
		}
		close(d.stub.gate)
	})
}

// A directory nobody asked for in days may have withdrawn its keys: the new one is waited for.
func TestDirectoryLongPastItsAgeIsWaitedFor(t *testing.T) {
	a, b := newTestAgent(anAgent, 1), newTestAgent(anAgent, 2)
	inBubble(t, a.directory(), func(d directoryTest) {
		d.expect("first", a.keyID(), "key", 1)
		d.stub.set(200, b.directory(), nil)
		time.Sleep(48 * time.Hour)
		d.expect("two days later", a.keyID(), "no key", 2)
	})
}

func TestFailedFetchDoesNotEvict(t *testing.T) {
	a := newTestAgent(anAgent, 1)
	for _, failure := range []func(*stubDirectory){
		func(s *stubDirectory) { s.set(500, "", nil) },
		func(s *stubDirectory) { s.set(404, "", nil) },
		func(s *stubDirectory) { s.set(200, "<html>", nil) },
		func(s *stubDirectory) { s.set(0, "", errors.New("connection refused")) },
	} {
		inBubble(t, a.directory(), func(d directoryTest) {
			d.expect("first", a.keyID(), "key", 1)
			failure(d.stub)
			time.Sleep(48 * time.Hour)
			d.expect("while it fails", a.keyID(), "key", 2)
			time.Sleep(59 * time.Second)
			d.expect("the failure is remembered", a.keyID(), "key", 2)
			time.Sleep(time.Second)
			d.expect("and forgotten", a.keyID(), "key", 3)
		})
	}
}

func TestWithdrawnKeyIsGone(t *testing.T) {
	a := newTestAgent(anAgent, 1)
	inBubble(t, a.directory(), func(d directoryTest) {
		d.expect("first", a.keyID(), "key", 1)
		d.stub.set(200, `{"keys":[]}`, nil)
		time.Sleep(time.Hour)
		d.expect("refreshing", a.keyID(), "key", 2)
		d.expect("refreshed", a.keyID(), "no key", 2)
	})
}

// A robot may sign with a key it has published since: a directory without the key is asked again,
// but not more than once a minute.
func TestUnknownKeyIsAskedForAgain(t *testing.T) {
	a, b := newTestAgent(anAgent, 1), newTestAgent(anAgent, 2)
	inBubble(t, a.directory(), func(d directoryTest) {
		d.expect("first", a.keyID(), "key", 1)
		d.expect("unknown, and the directory is fresh", b.keyID(), "no key", 1)
		time.Sleep(time.Minute)
		d.expect("unknown, asked again", b.keyID(), "no key", 2)
		d.expect("unknown, just asked", b.keyID(), "no key", 2)
		time.Sleep(time.Minute)
		d.stub.set(200, `{"keys":[`+a.jwk()+`,`+b.jwk()+`]}`, nil)
		d.expect("published", b.keyID(), "key", 3)
		d.expect("the old one holds", a.keyID(), "key", 3)
	})
}

func TestUnknownKeyIsNotAskedForAgainAtOnceWhileTheDirectoryFails(t *testing.T) {
	a, b := newTestAgent(anAgent, 1), newTestAgent(anAgent, 2)
	inBubble(t, a.directory(), func(d directoryTest) {
		d.expect("first", a.keyID(), "key", 1)
		d.stub.set(503, "", nil)
		time.Sleep(time.Minute)
		d.expect("unknown", b.keyID(), "no key", 2)
		d.expect("unknown, the failure is remembered", b.keyID(), "no key", 2)
		d.expect("the known one holds", a.keyID(), "key", 2)
	})
}

// Who runs the site is told of an outage once.
func TestAFailureIsToldOnce(t *testing.T) {
	a := newTestAgent(anAgent, 1)
	inBubble(t, a.directory(), func(d directoryTest) {
		var told []string
		d.kept.failed = func(url string, err error) { told = append(told, url+": "+err.Error()) }
		for i, status := range []int{500, 500, 200, 404, 404} {
			d.stub.set(status, a.directory(), nil)
			_, _ = d.kept.lookup(context.Background(), aPlace, "unknown")
			synctest.Wait()
			if want := []int{1, 1, 1, 2, 2}[i]; len(told) != want {
				t.Errorf("after answer %d, %d: told %q, want %d lines", i, status, told, want)
			}
			time.Sleep(time.Minute)
		}
		if want := anAgent + directoryPath + ": it answered 500 instead of 200"; told[0] != want {
			t.Errorf("told %q, want %q", told[0], want)
		}
	})
}

func TestFailureIsRememberedForAMinute(t *testing.T) {
	a := newTestAgent(anAgent, 1)
	const failed = "the signer's key directory could not be fetched: it answered 500 instead of 200"
	inBubble(t, a.directory(), func(d directoryTest) {
		d.stub.set(500, "", nil)
		d.expect("first", a.keyID(), failed, 1)
		time.Sleep(59 * time.Second)
		d.expect("a minute has not passed", a.keyID(), failed, 1)
		time.Sleep(time.Second)
		d.stub.set(200, a.directory(), nil)
		d.expect("a minute has passed", a.keyID(), "key", 2)
	})
}

func TestOneFetchHoweverManyWait(t *testing.T) {
	a := newTestAgent(anAgent, 1)
	inBubble(t, a.directory(), func(d directoryTest) {
		d.stub.gate = make(chan struct{})
		var wg sync.WaitGroup
		for range 100 {
			wg.Go(func() {
				if _, err := d.kept.lookup(context.Background(), aPlace, a.keyID()); err != nil {
					t.Errorf("lookup() = %v, want the key", err)
				}
			})
		}
		synctest.Wait()
		close(d.stub.gate)
		wg.Wait()
		if got, want := d.stub.count(), 1; got != want {
			t.Errorf("got %d fetches for 100 waiters, want %d", got, want)
		}
	})
}

func TestLookupWaitsForItsPatienceOnly(t *testing.T) {
	a := newTestAgent(anAgent, 1)
	inBubble(t, a.directory(), func(d directoryTest) {
		d.stub.gate = make(chan struct{})
		before := time.Now()
		d.expect("slow", a.keyID(), errDirectoryLate.Error(), 1)
		if got, want := time.Since(before), 300*time.Millisecond; got != want {
			t.Errorf("waited %s, want %s", got, want)
		}
		close(d.stub.gate) // the fetch went on without its waiter
		synctest.Wait()
		d.expect("later", a.keyID(), "key", 1)
	})
}

func TestLookupWaitsNoLongerThanItsContext(t *testing.T) {
	a := newTestAgent(anAgent, 1)
	inBubble(t, a.directory(), func(d directoryTest) {
		d.stub.gate = make(chan struct{})
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
		defer cancel()
		before := time.Now()
		if _, err := d.kept.lookup(ctx, aPlace, a.keyID()); !errors.Is(err, errDirectoryLate) {
			t.Errorf("lookup() = %v, want %v", err, errDirectoryLate)
		}
		if got, want := time.Since(before), 10*time.Millisecond; got != want {
			t.Errorf("waited %s, want %s", got, want)
		}
		close(d.stub.gate)
	})
}

func TestFetchEndsAfterFiveSeconds(t *testing.T) {
	a := newTestAgent(anAgent, 1)
	inBubble(t, a.directory(), func(d directoryTest) {
		d.stub.gate = make(chan struct{})
		d.expect("slow", a.keyID(), errDirectoryLate.Error(), 1)
		time.Sleep(5 * time.Second)
		synctest.Wait()
		d.expect("given up", a.keyID(), "the signer's key directory could not be fetched: context deadline exceeded", 1)
	})
}

// A directory on a real server, over TLS on loopback.
func TestDirectoryServer(t *testing.T) {
	const failed = "unverified: the signer's key directory could not be fetched: "
	text := newTestAgent("", 1).directory()
	for name, test := range map[string]struct {
		serve http.HandlerFunc
		want  string
	}{
		"good":              {serveDirectory(200, directoryType, text), "verified"},
		"plain JSON":        {serveDirectory(200, "application/json", text), "verified"},
		"500":               {serveDirectory(500, directoryType, text), failed + "it answered 500 instead of 200"},
		"404":               {serveDirectory(404, directoryType, text), failed + "it answered 404 instead of 200"},
		"203":               {serveDirectory(203, directoryType, text), failed + "it answered 203 instead of 200"},
		"huge":              {serveDirectory(200, directoryType, strings.Repeat(" ", maxDirectorySize)+text), failed + "it is longer than 64 KiB"},
		"HTML":              {serveDirectory(200, "text/html", text), failed + "it is not served as JSON"},
		"text that is HTML": {serveDirectory(200, directoryType, "<!doctype html>"), failed + "it is not JSON"},
		"redirect": {func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != directoryPath {
				serveDirectory(200, directoryType, text)(w, r)
				return
			}
			http.Redirect(w, r, "/elsewhere", http.StatusFound)
		}, failed + "it answered 302 instead of 200"},
	} {
		t.Run(name, func(t *testing.T) { expectOfServer(t, test.serve, 10*time.Second, test.want) })
	}
}

func TestSlowDirectoryServer(t *testing.T) {
	serve := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	server := expectOfServer(t, serve, time.Millisecond, "unverified: the signer's key directory did not answer in time")
	server.CloseClientConnections()
}

func TestDirectoryIsAskedForAsTheDraftSays(t *testing.T) {
	var got string
	expectOfServer(t, func(w http.ResponseWriter, r *http.Request) {
		got = r.Method + " " + r.URL.String() + " " + r.Header.Get("Accept")
		serveDirectory(200, directoryType, newTestAgent("", 1).directory())(w, r)
	}, 10*time.Second, "verified")
	if want := "GET /.well-known/http-message-signatures-directory application/http-message-signatures-directory+json, application/jwk-set+json, application/json"; got != want {
		t.Errorf("the server was asked %q, want %q", got, want)
	}
}

func serveDirectory(status int, contentType, text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(status)
		fmt.Fprint(w, text)
	}
}

// expectOfServer verifies a request that is signed for an agent on a server of its own.
func expectOfServer(t *testing.T, serve http.HandlerFunc, patience time.Duration, want string) *httptest.Server {
	t.Helper()
	server := httptest.NewTLSServer(serve)
	t.Cleanup(server.Close)
	a := newTestAgent(server.URL, 1)
	s := verifierFor{New(Options{Client: server.Client(), Now: atNoon, Patience: patience}), signersOf(server.URL)}
	agent, status, reason := s.Verify(context.Background(), a.sign(t, a.message(), dictionaryInput+a.params()))
	if got := verdict("", status, reason); got != want || agent != server.URL+directoryPath {
		t.Errorf("Verify() = %q of %s, want %q of %s", got, agent, want, server.URL)
	}
	return server
}

// A server whose certificate is not trusted says nothing about the agent it is named for.
func TestDirectoryServerWithoutTrust(t *testing.T) {
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.Config.ErrorLog = discardLog
	server.StartTLS()
	defer server.Close()
	a := newTestAgent(server.URL, 1)
	s := verifierFor{New(Options{Now: atNoon, Patience: 10 * time.Second}), signersOf(server.URL)}
	_, status, reason := s.Verify(context.Background(), a.sign(t, a.message(), dictionaryInput+a.params()))
	if status != enforce.Unverified || !strings.Contains(reason, "certificate") {
		t.Errorf("Verify() = %s: %s, want unverified for its certificate", status, reason)
	}
}

var discardLog = log.New(io.Discard, "", 0)
