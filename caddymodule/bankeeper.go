package caddymodule

import (
	"encoding/json"
	"time"

	"github.com/caddy-robots/caddy-robots/internal/ratelimit"
)

// bansKey is where the bans are in Caddy's storage.
const bansKey = "robots/bans.json"

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

// newBanKeeper keeps bans, so that a restart lifts none.
func newBanKeeper(bans *ratelimit.Bans, now func() time.Time) *keeper {
	return &keeper{
		what: "bans", loses: "a restart would lift them",
		key: func() string { return bansKey }, every: time.Second, atOnce: true,
		revision: bans.Revision, now: now,
		encode: func() ([]byte, error) { return json.Marshal(banRecords(bans, now())) },
		decode: func(data []byte) error {
			var records []banRecord
			if err := json.Unmarshal(data, &records); err != nil {
				return err
			}
			for _, rec := range records {
				if now().Before(rec.Until) {
					bans.Put(rec.ban())
				}
			}
			return nil
		},
	}
}
