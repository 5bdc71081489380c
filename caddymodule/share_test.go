package caddymodule

import (
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// nowhere is a Redis that is not there: no server listens at the port.
const nowhere = "redis://127.0.0.1:1"

func TestARequestDoesNotFailForARedisThatIsGone(t *testing.T) {
	th := newTestHandler(t, "User-agent: *\nCrawl-delay: 10\nDisallow: /private/\n", &Handler{Share: &Share{URL: nowhere}, Ban: thrice()})
	th.follow(t, []visit{
		{0, "/", gptBot, 200, 0}, {0, "/", gptBot, 429, 10}, {0, "/private/", gptBot, 403, 0}, {0, "/private/", gptBot, 403, 0},
		{0, "/", gptBot, 403, 3600}, {0, "/", chrome, 200, 0},
	})
}

func TestTheNewestValueCountsUntilItsHandlerLeaves(t *testing.T) {
	var l latest[string]
	first := l.add("old config")
	refused := l.add("refused config")
	if got := l.get(); got != "refused config" {
		t.Errorf("while there are two: got %q", got)
	}
	refused()
	if got := l.get(); got != "old config" {
		t.Errorf("after the newest left: got %q", got)
	}
	first()
	if got := l.get(); got != "old config" {
		t.Errorf("after the last left: got %q, want what it left behind", got)
	}
}

func TestHandlersWithTheSameURLShareOneStore(t *testing.T) {
	one := newTestHandler(t, closedAll, &Handler{Share: &Share{URL: nowhere}})
	two := newTestHandler(t, closedAll, &Handler{Share: &Share{URL: nowhere}})
	other := newTestHandler(t, closedAll, &Handler{Share: &Share{URL: nowhere + "/1"}})
	if one.limiter != two.limiter {
		t.Error("the same URL: got two stores, want one")
	}
	if one.limiter == other.limiter {
		t.Error("another database: got the same store, want another")
	}
}

func TestTheLogNeverHoldsThePassword(t *testing.T) {
	t.Setenv("ROBOTS_TEST_REDIS_URL", "redis://user:tr0ub4dor@127.0.0.1:1")
	for _, url := range []string{"redis://user:tr0ub4dor@127.0.0.1:1", "{env.ROBOTS_TEST_REDIS_URL}", "redis://user:tr0ub4dor@[::1:1", "redis://user:tr0ub4dor@host:port", "http://user:tr0ub4dor@host"} {
		h := &Handler{Share: &Share{URL: url}}
		if err := h.Share.check(); err != nil && strings.Contains(err.Error(), "tr0ub4dor") {
			t.Errorf("%s: the error tells the password: %v", url, err)
		}
	}
	told := make(chan string, 16)
	encoder := zapcore.NewJSONEncoder(zapcore.EncoderConfig{MessageKey: "msg"})
	log := zap.New(zapcore.NewCore(encoder, writer(told), zap.DebugLevel))
	sh, err := acquireShared()
	if err != nil {
		t.Fatal(err)
	}
	defer releaseShared()
	f, err := acquireFleet(&Share{URL: "{env.ROBOTS_TEST_REDIS_URL}"}, sh, log)
	if err != nil {
		t.Fatal(err)
	}
	defer fleets.Delete(f.key)
	if got := <-told; !strings.Contains(got, "cannot be shared") || !strings.Contains(got, "127.0.0.1:1") || strings.Contains(got, "tr0ub4dor") {
		t.Errorf("log: got %s, want that the server cannot be had, and no password", got)
	}
}

// writer is where a log goes whose lines a test waits for.
type writer chan<- string

func (w writer) Write(p []byte) (int, error) { w <- string(p); return len(p), nil }
func (w writer) Sync() error                 { return nil }

// A request is not held longer for it that its Redis does not answer.
func TestHeldRequestsWithoutRedis(t *testing.T) {
	th := newTestHandler(t, "User-agent: *\nCrawl-delay: 10\n", &Handler{Share: &Share{URL: nowhere}, TooFast: "wait", MaxWait: 5e9})
	th.follow(t, []visit{{0, "/", gptBot, 200, 0}, {1 * time.Second, "/", gptBot, 429, 9}})
}
