package webbotauth

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"sync"
	"time"
)

// How key directories are kept.
const (
	signaturePatience = 300 * time.Millisecond
	// failureRemembered is how long a directory that failed is not asked again. The draft allows
	// five minutes at the most.
	failureRemembered = time.Minute
	// recheckAfter is how old a directory must be to be asked again for a key that it lacks: a
	// robot may sign with a key it has just published.
	recheckAfter = time.Minute
	// staleAfter is how long past its time a directory is used without waiting for the new one.
	staleAfter = time.Hour
)

// Why a key is not known.
var (
	errDirectoryLate = errors.New("the signer's key directory did not answer in time")
	errNoSuchKey     = errors.New("the signer's key directory has no such key")
)

// keyDirectories keeps the keys of signers, by the URL that they are at: a key of one is worth
// nothing in the name of another. There is one entry for each signer that a config has named and
// that came, and one fetch at once for each. It is safe for concurrent use.
//
// A fetch that fails says nothing of the keys, so the known ones stay, however old; a fetch that
// succeeds replaces them all, so a key that was withdrawn is gone.
type keyDirectories struct {
	fetcher  *directoryFetcher
	now      func() time.Time
	patience time.Duration
	failed   func(url string, err error)

	mu      sync.Mutex // guards what follows, and the entries
	entries map[place]*keyDirectory
}

// place is where a key directory is, and whether that may be a private address.
type place struct {
	url    string
	inside bool
}

// keyDirectory is what is known of one place.
type keyDirectory struct {
	set      *keySet       // nil until a fetch succeeded
	fetching chan struct{} // closed when the fetch under way ends; nil when none is
	failure  error         // of the last fetch
	retry    time.Time     // no fetch before
}

func newKeyDirectories(o Options) *keyDirectories {
	d := &keyDirectories{
		fetcher:  newDirectoryFetcher(o.Client),
		now:      o.Now,
		patience: o.Patience,
		failed:   o.Failed,
		entries:  make(map[place]*keyDirectory),
	}
	if d.failed == nil {
		d.failed = func(string, error) {}
	}
	if d.patience <= 0 {
		d.patience = signaturePatience
	}
	return d
}

// lookup returns a key of the directory at a place. An error says why it is not known, which says
// nothing of who asked. Keys past their time are refreshed in the background; lookup waits, with
// patience, where there are none yet, where they are long past it, or where they lack the key.
func (d *keyDirectories) lookup(ctx context.Context, at place, keyID string) (ed25519.PublicKey, error) {
	e, wait := d.enter(at, keyID)
	if wait != nil {
		d.await(ctx, wait)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	key, ok := e.key(keyID, d.now())
	switch {
	case ok:
		return key, nil
	case e.set != nil:
		return nil, errNoSuchKey
	case e.failure != nil:
		return nil, fmt.Errorf("the signer's key directory could not be fetched: %w", e.failure)
	}
	return nil, errDirectoryLate
}

// enter finds or makes the entry of a place, starts a fetch if one is due, and returns what is to be
// waited for, if anything.
func (d *keyDirectories) enter(at place, keyID string) (*keyDirectory, <-chan struct{}) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.now()
	e := d.entries[at]
	if e == nil {
		e = &keyDirectory{}
		d.entries[at] = e
	}
	_, known := e.key(keyID, now)
	if e.due(known, now) {
		d.start(at, e)
	}
	if !known || now.Sub(e.set.expires) > staleAfter {
		return e, e.fetching
	}
	return e, nil
}

// start fetches a directory in the background. The caller holds the lock.
func (d *keyDirectories) start(at place, e *keyDirectory) {
	e.fetching = make(chan struct{})
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), directoryTimeout)
		defer cancel()
		keys, age, err := d.fetcher.fetch(ctx, at)
		d.finish(at, e, keys, age, err)
	}()
}

func (d *keyDirectories) finish(at place, e *keyDirectory, keys map[string]signingKey, age time.Duration, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.now()
	if err != nil && e.failure == nil {
		d.failed(at.url, err)
	}
	if e.failure = err; err != nil {
		e.retry = now.Add(failureRemembered)
	} else {
		e.set = &keySet{keys: keys, fetched: now, expires: now.Add(age)}
	}
	close(e.fetching)
	e.fetching = nil
}

// await waits for a fetch, with patience and within ctx.
func (d *keyDirectories) await(ctx context.Context, done <-chan struct{}) {
	patience := time.NewTimer(d.patience)
	defer patience.Stop()
	select {
	case <-done:
	case <-ctx.Done():
	case <-patience.C:
	}
}

func (e *keyDirectory) key(keyID string, now time.Time) (ed25519.PublicKey, bool) {
	if e.set == nil {
		return nil, false
	}
	return e.set.key(keyID, now)
}

// due reports whether the directory should be fetched for a key that is known or not.
func (e *keyDirectory) due(known bool, now time.Time) bool {
	switch {
	case e.fetching != nil || now.Before(e.retry):
		return false
	case e.set == nil:
		return true
	}
	return !now.Before(e.set.expires) || (!known && now.Sub(e.set.fetched) >= recheckAfter)
}
