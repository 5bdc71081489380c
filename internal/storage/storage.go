// Package storage keeps in Caddy's storage what is to outlive a restart. There are two ways: a
// [Keeper] keeps one thing that this process remembers and that changes all the time, such as
// its bans; [Documents] keep texts that were fetched from addresses, such as lists.
//
// Both hold to the same rules. What is stored is read before anything is written over it. What
// cannot be read is stored again under a name of its own, so that a later version finds it, but
// for what is fetched anew at once. A storage that does not take anything is in the log once until
// it works again, and nothing else fails for it.
package storage

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"sync"
	"time"
)

// Store is as much of Caddy's storage (certmagic.Storage) as is needed here. Load returns an
// error that is [io/fs.ErrNotExist] for a key that it does not have. It is safe for concurrent use.
type Store interface {
	Load(ctx context.Context, key string) ([]byte, error)
	Store(ctx context.Context, key string, value []byte) error
}

// timeout bounds one exchange with a Store, for which a start or a stop may wait.
const timeout = 5 * time.Second

// setAside stores what cannot be read under a name of its own, so that nothing is ever lost.
func setAside(ctx context.Context, store Store, key string, data []byte, now time.Time) (aside string, err error) {
	aside = key + ".unreadable-" + now.UTC().Format("20060102T150405.000")
	return aside, store.Store(ctx, aside, data)
}

func hexSum(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// Every calls do after each interval, until done is closed.
func Every(interval time.Duration, done <-chan struct{}, do func()) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-done:
			return
		case <-ticker.C:
			do()
		}
	}
}

// Latest serves what outlives a config: each config adds a value, such as its logger, and the
// newest is the one to use, so that a config which is refused leaves nothing behind. The zero
// Latest is empty. It is safe for concurrent use.
type Latest[T any] struct {
	mu     sync.Mutex // guards values
	values []*T
}

// Add makes v the newest value, until remove is called. The last value of all stays.
func (l *Latest[T]) Add(v T) (remove func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := &v
	l.values = append(l.values, p)
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if len(l.values) > 1 {
			l.values = slices.DeleteFunc(l.values, func(q *T) bool { return q == p })
		}
	}
}

// Get returns the newest value. It panics if none was ever added.
func (l *Latest[T]) Get() T {
	l.mu.Lock()
	defer l.mu.Unlock()
	return *l.values[len(l.values)-1]
}
