package webbotauth

import (
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestNonceIsGoodOnceUntilItExpires(t *testing.T) {
	s := newNonceStore(8)
	at := func(seconds int) time.Time { return noon.Add(time.Duration(seconds) * time.Second) }
	for i, step := range []struct {
		agent, keyID, nonce string
		now                 int
		want                bool
	}{
		{"a", "k", "n", 0, true},
		{"a", "k", "n", 0, false},
		{"a", "k", "n", 9, false},
		{"a", "k", "m", 9, true},
		{"b", "k", "n", 9, true},
		{"a", "l", "n", 9, true},
		{"ak", "", "n", 9, true},
		{"a", "k", "n", 10, true}, // the first use has expired
		{"a", "k", "n", 11, false},
	} {
		if got := s.use(step.agent, step.keyID, step.nonce, at(step.now), at(step.now+10)); got != step.want {
			t.Errorf("step %d: use(%q, %q, %q) at %d s = %v, want %v", i, step.agent, step.keyID, step.nonce, step.now, got, step.want)
		}
	}
}

func TestNonceStoreIsBounded(t *testing.T) {
	s := newNonceStore(100)
	later := noon.Add(time.Hour)
	for i := range 1000 {
		if !s.use("a", "k", strconv.Itoa(i), noon, later) {
			t.Fatalf("nonce %d was used before, want free", i)
		}
	}
	if len(s.expires) != 100 || len(s.order) != 100 {
		t.Errorf("after 1000 nonces %d and %d are kept, want 100", len(s.expires), len(s.order))
	}
	for i := 900; i < 1000; i++ {
		if s.use("a", "k", strconv.Itoa(i), noon, later) {
			t.Errorf("nonce %d is free, want used: it is among the last 100", i)
		}
	}
}

func TestNonceIsTakenByOneOfMany(t *testing.T) {
	s := newNonceStore(8)
	var free atomic.Int32
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			if s.use("a", "k", "n", noon, noon.Add(time.Hour)) {
				free.Add(1)
			}
		})
	}
	wg.Wait()
	if got, want := free.Load(), int32(1); got != want {
		t.Errorf("%d of 16 took the nonce, want %d", got, want)
	}
}
