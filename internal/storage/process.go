package storage

import (
	"encoding/json"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/caddy-robots/caddy-robots/internal/compliance"
	"github.com/caddy-robots/caddy-robots/internal/ratelimit"
)

const (
	// LedgerKey is where the ledger is in a Store. Behind it stands which Caddy's, since several
	// may have one Store.
	LedgerKey = "robots/ledger"

	// bansKey is where the bans are.
	bansKey = "robots/bans.json"

	// saveLedgerEvery is how often the ledger is stored: with the time that this takes, a Caddy
	// that is killed loses less than a minute.
	saveLedgerEvery = 30 * time.Second
)

// Ledger is what this process knows of what robots did; its Keeper keeps it over a restart. It is
// safe for concurrent use. NewLedger makes one.
type Ledger struct {
	*compliance.Ledger
	Keeper *Keeper

	changed atomic.Bool // since somebody last asked for its revision

	mu    sync.Mutex // guards asked
	asked uint64     // how often it had changed by then
}

// NewLedger returns an empty ledger that is kept under a key.
func NewLedger(key func() string) *Ledger {
	l := &Ledger{Ledger: compliance.NewLedger(compliance.Options{})}
	l.Keeper = &Keeper{
		What: "the figures of the report", Loses: "a restart would forget them",
		Key: key, Every: saveLedgerEvery,
		Revision: l.Revision, Now: time.Now,
		Encode: func() ([]byte, error) { return l.Marshal(), nil },
		Decode: l.Unmarshal,
	}
	return l
}

// Revision returns a number that is another one when something was noted since.
func (l *Ledger) Revision() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.changed.Swap(false) {
		l.asked++
	}
	return l.asked
}

// Note notes an event. To set a flag that is set already would take its cache line from the
// other cores, for nothing.
func (l *Ledger) Note(e *compliance.Event) {
	l.Ledger.Note(e)
	if !l.changed.Load() {
		l.changed.Store(true)
	}
}

// BanRecord is a ban as it is stored and listed.
type BanRecord struct {
	Site     string    `json:"site"`           // its host
	Port     string    `json:"port,omitempty"` // that Caddy listens at, where it is no default one
	Robot    string    `json:"robot"`          // in small letters; a client without a name goes by its address
	Standing string    `json:"standing,omitempty"`
	Address  string    `json:"address,omitempty"` // none: wherever it comes from
	Since    time.Time `json:"since"`
	Until    time.Time `json:"until"`
	Line     int       `json:"line,omitempty"`
	Rule     string    `json:"rule"`
}

// BanRecords returns the bans in force, the newest first.
func BanRecords(bans *ratelimit.Bans, now time.Time) []BanRecord {
	all := []BanRecord{} // an empty list, not null, in JSON
	for _, b := range bans.List(now) {
		host, port := cutPort(b.Key.Site)
		all = append(all, BanRecord{
			Site: host, Port: port, Robot: b.Key.Robot, Standing: b.Key.Standing, Address: b.Address,
			Since: b.Since.UTC(), Until: b.Until.UTC(), Line: b.Line, Rule: b.Rule,
		})
	}
	return all
}

// cutPort splits a site into its host and port.
func cutPort(site string) (host, port string) {
	if i := strings.LastIndexByte(site, ':'); i > strings.LastIndexByte(site, ']') && i+1 < len(site) {
		return site[:i], site[i+1:]
	}
	return site, ""
}

// Ban returns the ban of a record.
func (rec BanRecord) Ban() ratelimit.Ban {
	site := rec.Site
	if rec.Port != "" {
		site += ":" + rec.Port
	}
	return ratelimit.Ban{
		Key:     ratelimit.Key{Site: site, Robot: rec.Robot, Standing: rec.Standing},
		Address: rec.Address, Since: rec.Since, Until: rec.Until, Line: rec.Line, Rule: rec.Rule,
	}
}

// NewBanKeeper keeps bans, so that a restart lifts none.
func NewBanKeeper(bans *ratelimit.Bans, now func() time.Time) *Keeper {
	return &Keeper{
		What: "bans", Loses: "a restart would lift them",
		Key: func() string { return bansKey }, Every: time.Second, First: true,
		Revision: bans.Revision, Now: now,
		Encode: func() ([]byte, error) { return json.Marshal(BanRecords(bans, now())) },
		Decode: func(data []byte) error {
			var records []BanRecord
			if err := json.Unmarshal(data, &records); err != nil {
				return err
			}
			for _, rec := range records {
				if now().Before(rec.Until) {
					bans.Put(rec.Ban())
				}
			}
			return nil
		},
	}
}
