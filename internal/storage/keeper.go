package storage

import (
	"context"
	"errors"
	"io/fs"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"
)

// Keeper keeps something that this process remembers in a [Store], so that a restart loses
// nothing of it and a process that is killed loses little. The exported fields are set before
// Keep and not changed after. It is safe for concurrent use.
type Keeper struct {
	What  string        // that is kept, in the plural, for the log: "bans"
	Loses string        // what a restart means while it is not: "a restart would lift them"
	Key   func() string // where the Store has it
	Every time.Duration // how often it is stored, if it has changed
	First bool          // it is read before Keep returns, not in the background

	Revision func() uint64 // changes with what is kept
	Encode   func() ([]byte, error)
	Decode   func([]byte) error // adds what was stored; an error changes nothing
	Now      func() time.Time

	targets Latest[target]
	savedAt atomic.Int64 // when it was last stored, in Unix milliseconds; 0: never

	mu     sync.Mutex // guards the fields below
	loaded bool       // what the Store had is in
	saved  uint64     // the revision that the Store has
	failed bool       // the log says that the Store could not be used
	stop   chan struct{}
	done   chan struct{}
}

// target pairs a Store with the logger for its trouble.
type target struct {
	store Store
	log   *zap.Logger
}

// Keep begins to keep it in a Store, after what that has was read, unless it is kept already:
// then only the Store changes. Each config that calls Keep calls leave when it ends.
func (k *Keeper) Keep(store Store, log *zap.Logger) (leave func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	leave = k.targets.Add(target{store, log})
	if k.stop == nil {
		if k.First {
			k.load()
		}
		k.stop, k.done = make(chan struct{}), make(chan struct{})
		go k.run(k.stop, k.done)
	}
	return leave
}

// Close saves what is not saved yet and ends. It may be called again, and when there was no Keep.
func (k *Keeper) Close() {
	k.mu.Lock()
	stop, done := k.stop, k.done
	k.stop = nil
	k.mu.Unlock()
	if stop != nil {
		close(stop)
		<-done
		k.save()
	}
}

func (k *Keeper) run(stop <-chan struct{}, done chan<- struct{}) {
	defer close(done)
	k.save() // which reads first
	Every(k.Every, stop, k.save)
}

// Complete reports whether what the Store had is in. It may wait for the Store.
func (k *Keeper) Complete() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.loaded
}

// SavedAt returns when it was last stored, to the millisecond; ok is false if it never was.
func (k *Keeper) SavedAt() (at time.Time, ok bool) {
	ms := k.savedAt.Load()
	return time.UnixMilli(ms), ms != 0
}

// load reads what the Store has, once. What cannot be decoded is set aside; while the Store
// cannot be read, nothing is written over what it may hold. Callers hold mu.
func (k *Keeper) load() {
	if k.loaded {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	key, to := k.Key(), k.targets.Get()
	data, err := to.store.Load(ctx, key)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		k.loaded = true
		return
	case err != nil:
		k.fail(to, k.What+" from before the restart could not be loaded yet, and none are stored until they are; "+k.Loses, key, err)
		return
	}
	if err := k.Decode(data); err != nil {
		aside, failure := setAside(ctx, to.store, key, data, k.Now())
		if failure != nil {
			k.fail(to, k.What+" from before the restart cannot be read, nor set aside", key, failure)
			return
		}
		to.log.Warn(k.What+" from before the restart cannot be read; they are set aside",
			zap.String("storage_key", aside), zap.Error(err))
	}
	k.loaded = true
}

// save stores what has changed.
func (k *Keeper) save() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.load()
	revision := k.Revision()
	if !k.loaded || revision == k.saved {
		return
	}
	key, to := k.Key(), k.targets.Get()
	data, err := k.Encode()
	if err == nil {
		ctx, cancel := context.WithTimeout(context.Background(), timeout)
		defer cancel()
		err = to.store.Store(ctx, key, data)
	}
	if err != nil {
		k.fail(to, k.What+" could not be stored; "+k.Loses, key, err)
		return
	}
	k.saved, k.failed = revision, false
	k.savedAt.Store(k.Now().UnixMilli())
}

// fail logs trouble with the Store, once until it is over.
func (k *Keeper) fail(to target, message, key string, err error) {
	if !k.failed {
		to.log.Warn(message, zap.String("storage_key", key), zap.Error(err))
	}
	k.failed = true
}
