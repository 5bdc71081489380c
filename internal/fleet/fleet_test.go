package fleet

import (
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/caddy-robots/caddy-robots/internal/compliance"
	"github.com/caddy-robots/caddy-robots/internal/ratelimit"
)

// open opens the fleet at a URL for a process that knows nothing.
func open(address string, log *zap.Logger) (*Fleet, error) {
	p := &Publisher{Own: compliance.NewLedger(compliance.Options{}), Complete: func() bool { return false }}
	return Open(address, 0, ratelimit.NewMemory(1), p, log)
}

func TestTheLogNeverHoldsThePassword(t *testing.T) {
	for _, url := range []string{"redis://user:tr0ub4dor@[::1:1", "redis://user:tr0ub4dor@host:port", "http://user:tr0ub4dor@host"} {
		if _, err := open(url, zap.NewNop()); err == nil || strings.Contains(err.Error(), "tr0ub4dor") {
			t.Errorf("%s: got error %v, want one without the password", url, err)
		}
	}
	told := make(chan string, 16)
	encoder := zapcore.NewJSONEncoder(zapcore.EncoderConfig{MessageKey: "msg"})
	f, err := open("redis://user:tr0ub4dor@127.0.0.1:1", zap.New(zapcore.NewCore(encoder, writer(told), zap.DebugLevel)))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Destruct()
	if got := <-told; !strings.Contains(got, "cannot be shared") || !strings.Contains(got, "127.0.0.1:1") || strings.Contains(got, "tr0ub4dor") {
		t.Errorf("log: got %s, want that the server cannot be had, and no password", got)
	}
}

// writer is where a log goes whose lines a test waits for.
type writer chan<- string

func (w writer) Write(p []byte) (int, error) { w <- string(p); return len(p), nil }
func (w writer) Sync() error                 { return nil }

func TestTheNameOfAShareHoldsNoPassword(t *testing.T) {
	for address, want := range map[string]string{
		"redis://user:secret@127.0.0.1:1/2": "127.0.0.1:1", "rediss://:p%40ss@127.0.0.1": "127.0.0.1",
		"unix://user:secret@/nonexistent/redis.sock?db=1": "/nonexistent/redis.sock",
	} {
		f, err := open(address, zap.NewNop())
		if err != nil {
			t.Errorf("%s: %v", address, err)
			continue
		}
		if f.Place != want {
			t.Errorf("%s: got %q, want %q", address, f.Place, want)
		}
		if err := f.Destruct(); err != nil {
			t.Errorf("%s: %v", address, err)
		}
	}
}

func TestAConfigIsCheckedWithoutAStore(t *testing.T) {
	const address = "redis://192.0.2.1"
	for _, c := range []struct {
		address string
		timeout time.Duration
		ok      bool
	}{
		{address, 0, true}, {address, time.Millisecond, true}, {address, 10 * time.Second, true}, {"redis://:secret@h", 0, true},
		{address, -1, false}, {address, time.Microsecond, false}, {address, 11 * time.Second, false}, {"http://:secret@h", 0, false},
	} {
		if err := Check(c.address, c.timeout); (err == nil) != c.ok || err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%s within %s: got %v, want it accepted: %t", c.address, c.timeout, err, c.ok)
		}
	}
}
