package storage

import (
	"context"
	"errors"
	"io/fs"
	"sync/atomic"
	"testing"
	"time"
)

// memory is a Store for one goroutine.
type memory map[string][]byte

func (m memory) Load(_ context.Context, key string) ([]byte, error) {
	if value, ok := m[key]; ok {
		return value, nil
	}
	return nil, fs.ErrNotExist
}

func (m memory) Store(_ context.Context, key string, value []byte) error {
	m[key] = value
	return nil
}

// disk is the Store that a broken one stands for.
type disk = Store

// brokenStore is a Store whose disk cannot be read.
type brokenStore struct{ disk }

func (brokenStore) Load(context.Context, string) ([]byte, error) {
	return nil, errors.New("input/output error")
}

// fullStore is a Store whose disk is full.
type fullStore struct{ disk }

func (fullStore) Store(context.Context, string, []byte) error {
	return errors.New("no space left on device")
}

// testClock is a clock that the test sets.
type testClock struct{ nanos atomic.Int64 }

func newTestClock() *testClock {
	c := new(testClock)
	c.nanos.Store(time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC).UnixNano())
	return c
}

func (c *testClock) now() time.Time          { return time.Unix(0, c.nanos.Load()).UTC() }
func (c *testClock) advance(d time.Duration) { c.nanos.Add(int64(d)) }

func TestTheNewestValueCountsUntilItsHandlerLeaves(t *testing.T) {
	var l Latest[string]
	first := l.Add("old config")
	refused := l.Add("refused config")
	if got := l.Get(); got != "refused config" {
		t.Errorf("while there are two: got %q", got)
	}
	refused()
	if got := l.Get(); got != "old config" {
		t.Errorf("after the newest left: got %q", got)
	}
	first()
	if got := l.Get(); got != "old config" {
		t.Errorf("after the last left: got %q, want what it left behind", got)
	}
}
