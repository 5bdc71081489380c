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

// writer is where a log goes whose lines a test waits for.
type writer chan<- string

func (w writer) Write(p []byte) (int, error) { w <- string(p); return len(p), nil }
func (w writer) Sync() error                 { return nil }

// A request is not held longer for it that its Redis does not answer.
func TestHeldRequestsWithoutRedis(t *testing.T) {
	th := newTestHandler(t, "User-agent: *\nCrawl-delay: 10\n", &Handler{Share: &Share{URL: nowhere}, TooFast: "wait", MaxWait: 5e9})
	th.follow(t, []visit{{0, "/", gptBot, 200, 0}, {1 * time.Second, "/", gptBot, 429, 9}})
}
