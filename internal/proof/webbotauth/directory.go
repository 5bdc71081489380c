package webbotauth

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// How key directories are kept.
const (
	keptDirectories   = 256
	fetchesInFlight   = 16
	signaturePatience = 300 * time.Millisecond
	failureRemembered = time.Minute
	// recheckAfter is how old a directory may be to be believed when it lacks a key: a robot may
	// sign with a key it has just published.
	recheckAfter = time.Minute
	// staleAfter is how long past its time a directory is used without waiting for the new one.
	staleAfter = time.Hour
)

// Why the keys of an agent are not known.
var (
	errDirectoriesBusy = errors.New("too many key directories are being fetched")
	errDirectoryLate   = errors.New("the agent's key directory did not answer in time")
	errKeyUnsettled    = errors.New("the agent's key directory could not be asked again for this key")
)

// keyDirectories keeps the keys of agents, by origin: a key of one is worth nothing in the name of
// another. It is safe for concurrent use and bounded in memory and in fetches.
//
// A fetch that fails says nothing of the keys, so the known ones stay; a fetch that succeeds
// replaces them all, so a key that was withdrawn is gone.
type keyDirectories struct {
	fetcher  *directoryFetcher
	now      func() time.Time
	patience time.Duration
	limit    int

	mu       sync.Mutex // guards what follows, and the entries
	entries  map[string]*keyDirectory
	inFlight int
}

// keyDirectory is what is known of one origin.
type keyDirectory struct {
	set      *keySet       // nil until a fetch succeeded
	fetching chan struct{} // closed when the fetch under way ends; nil when none is
	failure  error         // of the last fetch
	retry    time.Time     // no fetch before
	used     time.Time
}

func newKeyDirectories(o Options) *keyDirectories {
	d := &keyDirectories{
		fetcher:  newDirectoryFetcher(o.Client, o.AllowPrivate),
		now:      o.Now,
		patience: o.Patience,
		limit:    o.Agents,
		entries:  make(map[string]*keyDirectory),
	}
	if d.patience <= 0 {
		d.patience = signaturePatience
	}
	if d.limit <= 0 {
		d.limit = keptDirectories
	}
	return d
}

// lookup returns the keys of an origin. An error means that it is not known whether the origin has
// the key, which says nothing of who asked. Keys past their time are refreshed in the background;
// lookup waits, with patience, where there are none yet, where they are long past it, or where
// they lack the key.
func (d *keyDirectories) lookup(ctx context.Context, origin, keyID string) (*keySet, error) {
	e, wait, err := d.enter(origin, keyID)
	if err != nil {
		return nil, err
	}
	if wait != nil {
		d.await(ctx, wait)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return e.settled(keyID, d.now())
}

// enter finds or makes the entry of an origin, starts a fetch if one is due, and returns what is
// to be waited for, if anything.
func (d *keyDirectories) enter(origin, keyID string) (*keyDirectory, <-chan struct{}, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.now()
	e := d.entries[origin]
	if e == nil {
		if d.inFlight >= fetchesInFlight || !d.makeRoom() {
			return nil, nil, errDirectoriesBusy
		}
		e = &keyDirectory{}
		d.entries[origin] = e
	}
	e.used = now
	lacking := !e.has(keyID, now)
	if e.due(lacking, now) && d.inFlight < fetchesInFlight {
		d.start(origin, e)
	}
	if lacking || now.Sub(e.set.expires) > staleAfter {
		return e, e.fetching, nil
	}
	return e, nil, nil
}

// makeRoom evicts an entry if there is no room for another, and reports whether there is then. It
// evicts the one that was unused the longest, those without keys first, so that made-up agents do
// not push out real ones. The caller holds the lock.
func (d *keyDirectories) makeRoom() bool {
	if len(d.entries) < d.limit {
		return true
	}
	var oldest *keyDirectory
	var name string
	for origin, e := range d.entries {
		if e.fetching == nil && (oldest == nil || e.isEvictedBefore(oldest)) {
			oldest, name = e, origin
		}
	}
	delete(d.entries, name)
	return oldest != nil
}

// start fetches a directory in the background. The caller holds the lock.
func (d *keyDirectories) start(origin string, e *keyDirectory) {
	d.inFlight++
	e.fetching = make(chan struct{})
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), directoryTimeout)
		defer cancel()
		keys, age, err := d.fetcher.fetch(ctx, origin)
		d.finish(e, keys, age, err)
	}()
}

func (d *keyDirectories) finish(e *keyDirectory, keys map[string]signingKey, age time.Duration, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.now()
	if e.failure = err; err != nil {
		e.retry = now.Add(failureRemembered)
	} else {
		e.set = &keySet{keys: keys, fetched: now, expires: now.Add(age)}
	}
	d.inFlight--
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

func (e *keyDirectory) has(keyID string, now time.Time) bool {
	if e.set == nil {
		return false
	}
	_, ok := e.set.key(keyID, now)
	return ok
}

// due reports whether the directory should be fetched.
func (e *keyDirectory) due(lacking bool, now time.Time) bool {
	switch {
	case e.fetching != nil || now.Before(e.retry):
		return false
	case e.set == nil:
		return true
	}
	return !now.Before(e.set.expires) || (lacking && now.Sub(e.set.fetched) >= recheckAfter)
}

// settled returns the keys if they can be judged by: there are some, and either they have the key
// or they are so fresh that its absence is the directory's word.
func (e *keyDirectory) settled(keyID string, now time.Time) (*keySet, error) {
	switch {
	case e.set == nil && e.failure != nil:
		return nil, fmt.Errorf("the agent's key directory could not be fetched: %w", e.failure)
	case e.set == nil:
		return nil, errDirectoryLate
	case !e.has(keyID, now) && now.Sub(e.set.fetched) >= recheckAfter:
		return nil, errKeyUnsettled
	}
	return e.set, nil
}

// isEvictedBefore orders entries by which makes room first.
func (e *keyDirectory) isEvictedBefore(other *keyDirectory) bool {
	if (e.set == nil) != (other.set == nil) {
		return e.set == nil
	}
	return e.used.Before(other.used)
}
