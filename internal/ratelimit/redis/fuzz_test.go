package redis

import (
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/internal/ratelimit"
)

// FuzzParseEvent reads a ban, and an entry of the stream of bans, that anybody may have written. It holds
// five properties:
//
//   - nothing left behind: what is no ban changes nothing;
//   - order: a ban begins before it ends;
//   - as written: a ban is read as it was written;
//   - missing: an event without one of its fields is none;
//   - lifted: a lift is only what says so.
func FuzzParseEvent(f *testing.F) {
	for _, ban := range []string{
		"1 2 3 Disallow: /", lifted, "1772366400000000 1772370000000000 7 Disallow: /private/", "-1 1 0 ", "1 2 3", "9007199254740993 1 1 x",
	} {
		f.Add("one.example", "figtree", "", "192.0.2.1", ban, uint8(len(ban)))
	}
	f.Fuzz(func(t *testing.T, site, robot, standing, address, ban string, missing uint8) {
		checkBan(t, ban)
		names := []string{fieldSite, fieldRobot, fieldStanding, fieldAddress, fieldBan}
		fields := make(map[string]any)
		for i, value := range []string{site, robot, standing, address, ban} {
			fields[names[i]] = value
		}
		if e, ok := parseEvent(fields); ok {
			if e.Lifted != (ban == lifted) {
				t.Errorf("lifted: %v gives %+v", fields, e)
			}
			if !e.Lifted && !e.Ban.Since.Before(e.Ban.Until) {
				t.Errorf("order: %v gives %+v", fields, e)
			}
		}
		delete(fields, names[int(missing)%len(names)])
		if e, ok := parseEvent(fields); ok {
			t.Errorf("missing: %v gives %+v", fields, e)
		}
	})
}

func checkBan(t *testing.T, text string) {
	t.Helper()
	var ban, again ratelimit.Ban
	if parseBan(text, &ban) != nil {
		if ban != (ratelimit.Ban{}) {
			t.Errorf("nothing left behind: %q gives %+v", text, ban)
		}
		return
	}
	if !ban.Since.Before(ban.Until) {
		t.Errorf("order: %q is from %v to %v", text, ban.Since, ban.Until)
	}
	if err := parseBan(string(appendBan(nil, &ban)), &again); err != nil || len(ban.Rule) <= maxRule && again != ban {
		t.Errorf("as written: %+v gives %+v, %v", ban, again, err)
	}
}

// FuzzVerdict reads replies that the script does not give. It holds two properties:
//
//   - no verdict: there is none with an error;
//   - within the interval: nobody waits for longer than that for a pace, or for less than nothing.
func FuzzVerdict(f *testing.F) {
	f.Add(int64(1), "1 2 3 Disallow: /", uint8(2))
	f.Add(int64(-1), "", uint8(0))
	f.Add(int64(1)<<62, "x", uint8(3))
	f.Fuzz(func(t *testing.T, wait int64, text string, length uint8) {
		r := &ratelimit.Request{Limit: ratelimit.PerPeriod(1, time.Second)}
		for _, reply := range []any{nil, wait, text, []any{wait, text, int64(1)}[:length%4], []any{text, wait}, []any{nil, nil}} {
			result, err := verdict(reply, r)
			if err != nil && result != (ratelimit.Result{}) {
				t.Errorf("no verdict: %v gives %+v, %v", reply, result, err)
			}
			if result.RetryAfter < 0 || result.Ban == nil && result.RetryAfter > r.Limit.Interval {
				t.Errorf("within the interval: %v gives %+v", reply, result)
			}
		}
	})
}
