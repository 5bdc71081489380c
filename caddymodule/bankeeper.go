package caddymodule

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/caddy-robots/caddy-robots/ratelimit"
)

const (
	// bansKey is where the bans are in Caddy's storage.
	bansKey = "robots/bans.json"

	// saveEvery is how much of the bans a Caddy that is killed can lose.
	saveEvery = time.Second

	// storageTime bounds what waits for the storage: to start and to stop.
	storageTime = 5 * time.Second
)

// banRecord is a ban as it is stored and listed.
type banRecord struct {
	Site     string    `json:"site"`
	Robot    string    `json:"robot"` // in small letters; a client without a name goes by its address
	Standing string    `json:"standing,omitempty"`
	Address  string    `json:"address,omitempty"` // none: wherever it comes from
	Since    time.Time `json:"since"`
	Until    time.Time `json:"until"`
	Line     int       `json:"line,omitempty"`
	Rule     string    `json:"rule"`
}

// banRecords returns the bans in force, the newest first.
func banRecords(bans *ratelimit.Bans, now time.Time) []banRecord {
	all := []banRecord{} // an empty list, not null, in JSON
	for _, b := range bans.List(now) {
		all = append(all, banRecord{
			Site: b.Key.Site, Robot: b.Key.Robot, Standing: b.Key.Standing, Address: b.Address,
			Since: b.Since.UTC(), Until: b.Until.UTC(), Line: b.Line, Rule: b.Rule,
		})
	}
	return all
}

func (rec banRecord) ban() ratelimit.Ban {
	return ratelimit.Ban{
		Key:     ratelimit.Key{Site: rec.Site, Robot: rec.Robot, Standing: rec.Standing},
		Address: rec.Address, Since: rec.Since, Until: rec.Until, Line: rec.Line, Rule: rec.Rule,
	}
}

// banKeeper keeps the bans of this process in Caddy's storage, so that a restart lifts none.
// It is safe for concurrent use.
type banKeeper struct {
	bans   *ratelimit.Bans
	now    func() time.Time
	places latest[banPlace]

	mu     sync.Mutex // guards the fields below
	saved  uint64     // the bans' revision that the storage has
	failed bool       // the storage did not take it, and the log says so
	stop   chan struct{}
	done   chan struct{}
}

// banPlace is where bans are kept, and where it is told that they cannot be.
type banPlace struct {
	storage storage
	log     *zap.Logger
}

// keep begins to keep the bans in this storage, after it has read what that has, unless they
// are kept already: then only the storage changes. The handler calls leave when it ends.
func (k *banKeeper) keep(where storage, log *zap.Logger) (leave func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	leave = k.places.add(banPlace{where, log})
	if k.stop == nil {
		k.load()
		k.stop, k.done = make(chan struct{}), make(chan struct{})
		go k.run(k.stop, k.done)
	}
	return leave
}

// close saves what is not saved yet and ends.
func (k *banKeeper) close() {
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

func (k *banKeeper) run(stop <-chan struct{}, done chan<- struct{}) {
	defer close(done)
	ticker := time.NewTicker(saveEvery)
	defer ticker.Stop()
	for {
		select {
		case <-stop:
			return
		case <-ticker.C:
			k.save()
		}
	}
}

// load reads the bans. What cannot be read is told, kept aside, and bans nobody. Callers
// hold mu.
func (k *banKeeper) load() {
	ctx, cancel := context.WithTimeout(context.Background(), storageTime)
	defer cancel()
	place := k.places.get()
	data, err := place.storage.Load(ctx, bansKey)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	var records []banRecord
	if err == nil {
		if err = json.Unmarshal(data, &records); err != nil {
			aside := bansKey + ".unreadable"
			err = errors.Join(err, place.storage.Store(ctx, aside, data))
			place.log.Warn("bans of before the restart cannot be read; they are kept aside and ban nobody",
				zap.String("storage_key", aside), zap.Error(err))
			return
		}
	}
	if err != nil {
		place.log.Warn("bans of before the restart could not be loaded", zap.String("storage_key", bansKey), zap.Error(err))
		return
	}
	now := k.now()
	for _, rec := range records {
		if now.Before(rec.Until) {
			k.bans.Put(rec.ban())
		}
	}
	k.saved = k.bans.Revision()
}

// save stores the bans if they have changed.
func (k *banKeeper) save() {
	k.mu.Lock()
	defer k.mu.Unlock()
	revision := k.bans.Revision()
	if revision == k.saved {
		return
	}
	place := k.places.get()
	data, err := json.Marshal(banRecords(k.bans, k.now()))
	if err == nil {
		ctx, cancel := context.WithTimeout(context.Background(), storageTime)
		defer cancel()
		err = place.storage.Store(ctx, bansKey, data)
	}
	switch {
	case err == nil:
		k.saved, k.failed = revision, false
	case !k.failed:
		k.failed = true
		place.log.Warn("bans could not be stored; a restart would lift them", zap.String("storage_key", bansKey), zap.Error(err))
	}
}
