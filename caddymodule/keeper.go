package caddymodule

import (
	"context"
	"errors"
	"io/fs"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"
)

// keeper keeps something that this process remembers in Caddy's storage, so that a restart
// loses nothing of it and a Caddy that is killed loses little. It is safe for concurrent use.
type keeper struct {
	what   string // that is kept, for the log
	loses  string // what a restart means while it is not
	key    func() string
	every  time.Duration // how often it is stored, if it has changed
	atOnce bool          // it is read before keep returns, not in the background

	revision func() uint64 // changes with it
	encode   func() ([]byte, error)
	decode   func([]byte) error // an error changes nothing
	now      func() time.Time

	places  latest[place]
	savedAt atomic.Int64 // when it was last stored, in Unix milliseconds; 0: never

	mu     sync.Mutex // guards the fields below
	loaded bool       // what the storage had is in
	saved  uint64     // the revision that the storage has
	failed bool       // the storage could not be used, and the log says so
	stop   chan struct{}
	done   chan struct{}
}

// place is where something is kept, and where it is told that it cannot be.
type place struct {
	storage storage
	log     *zap.Logger
}

// keep begins to keep it in this storage, after what that has was read, unless it is kept
// already: then only the storage changes. The handler calls leave when it ends.
func (k *keeper) keep(where storage, log *zap.Logger) (leave func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	leave = k.places.add(place{where, log})
	if k.stop == nil {
		if k.atOnce {
			k.load()
		}
		k.stop, k.done = make(chan struct{}), make(chan struct{})
		go k.run(k.stop, k.done)
	}
	return leave
}

// close saves what is not saved yet and ends.
func (k *keeper) close() {
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

func (k *keeper) run(stop <-chan struct{}, done chan<- struct{}) {
	defer close(done)
	k.save() // which reads first
	every(k.every, stop, k.save)
}

// complete tells whether what the storage had is in. It may wait for the storage.
func (k *keeper) complete() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.loaded
}

// load reads what the storage has. What cannot be understood is told and set aside; while
// the storage cannot be read, nothing is written over what it may hold. Callers hold mu.
func (k *keeper) load() {
	if k.loaded {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), storageTime)
	defer cancel()
	key, place := k.key(), k.places.get()
	data, err := place.storage.Load(ctx, key)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		k.loaded = true
		return
	case err != nil:
		k.fail(place, k.what+" from before the restart could not be loaded yet, and none are stored until they are; "+k.loses, key, err)
		return
	}
	if err := k.decode(data); err != nil {
		aside, failure := setAside(ctx, place.storage, key, data, k.now())
		if failure != nil {
			k.fail(place, k.what+" from before the restart cannot be read, nor set aside", key, failure)
			return
		}
		place.log.Warn(k.what+" from before the restart cannot be read; they are set aside",
			zap.String("storage_key", aside), zap.Error(err))
	}
	k.loaded = true
}

// save stores what has changed.
func (k *keeper) save() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.load()
	revision := k.revision()
	if !k.loaded || revision == k.saved {
		return
	}
	key, place := k.key(), k.places.get()
	data, err := k.encode()
	if err == nil {
		ctx, cancel := context.WithTimeout(context.Background(), storageTime)
		defer cancel()
		err = place.storage.Store(ctx, key, data)
	}
	if err != nil {
		k.fail(place, k.what+" could not be stored; "+k.loses, key, err)
		return
	}
	k.saved, k.failed = revision, false
	k.savedAt.Store(k.now().UnixMilli())
}

// fail tells the log of trouble with the storage, once until it is over.
func (k *keeper) fail(place place, message, key string, err error) {
	if !k.failed {
		place.log.Warn(message, zap.String("storage_key", key), zap.Error(err))
	}
	k.failed = true
}
