package redis

import (
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/ratelimit"
)

// FuzzParseBan reads what anybody may have written.
func FuzzParseBan(f *testing.F) {
	f.Add("1772366400000000 1772370000000000 7 Disallow: /private/")
	f.Add("-1 1 0 ")
	f.Add("1 2 3")
	f.Add("9007199254740993 1 1 x")
	f.Fuzz(func(t *testing.T, text string) {
		var ban ratelimit.Ban
		if parseBan(text, &ban) != nil {
			if ban != (ratelimit.Ban{}) {
				t.Errorf("what is no ban leaves nothing behind: %q gives %+v", text, ban)
			}
			return
		}
		if !ban.Since.Before(ban.Until) {
			t.Errorf("a ban ends after it begins: %q is from %v to %v", text, ban.Since, ban.Until)
		}
		var again ratelimit.Ban
		if err := parseBan(string(appendBan(nil, &ban)), &again); err != nil || len(ban.Rule) <= maxRule && again != ban {
			t.Errorf("a ban is read as it was written: %+v gives %+v, %v", ban, again, err)
		}
	})
}

// FuzzParseEvent reads an entry that anybody may have added to the stream.
func FuzzParseEvent(f *testing.F) {
	f.Add("one.example", "figtree", "", "192.0.2.1", "1 2 3 Disallow: /", uint8(0))
	f.Add("one.example", "figtree", "", "192.0.2.1", lifted, uint8(3))
	f.Fuzz(func(t *testing.T, site, robot, standing, address, ban string, missing uint8) {
		names := []string{fieldSite, fieldRobot, fieldStanding, fieldAddress, fieldBan}
		fields := make(map[string]any)
		for i, value := range []string{site, robot, standing, address, ban} {
			fields[names[i]] = value
		}
		delete(fields, names[int(missing)%8%len(names)])
		if int(missing)%8 < len(names) {
			if e, ok := parseEvent(fields); ok {
				t.Errorf("an event without one of its fields is none: %v gives %+v", fields, e)
			}
			fields[names[int(missing)%8]] = ban
		}
		if e, ok := parseEvent(fields); ok {
			if e.Lifted != (fields[fieldBan] == lifted) {
				t.Errorf("only what says so is a lift: %v gives %+v", fields, e)
			}
			if !e.Lifted && !e.Ban.Since.Before(e.Ban.Until) {
				t.Errorf("a ban ends after it begins: %v gives %+v", fields, e)
			}
		}
	})
}

// FuzzVerdict reads replies that the script does not give.
func FuzzVerdict(f *testing.F) {
	f.Add(int64(1), "1 2 3 Disallow: /", uint8(2))
	f.Add(int64(-1), "", uint8(0))
	f.Add(int64(1)<<62, "x", uint8(3))
	f.Fuzz(func(t *testing.T, wait int64, text string, length uint8) {
		r := &ratelimit.Request{Limit: ratelimit.Every(time.Second)}
		for _, reply := range []any{nil, wait, text, []any{wait, text, int64(1)}[:length%4], []any{text, wait}, []any{nil, nil}} {
			result, err := verdict(reply, r)
			if err != nil && result != (ratelimit.Result{}) {
				t.Errorf("an error goes with no verdict: %v gives %+v, %v", reply, result, err)
			}
			if result.RetryAfter < 0 || result.Ban == nil && result.RetryAfter > r.Limit.Interval {
				t.Errorf("nobody waits for longer than the interval, or for less than nothing: %v gives %+v", reply, result)
			}
		}
	})
}
