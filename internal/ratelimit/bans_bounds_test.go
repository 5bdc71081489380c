package ratelimit

import (
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestOffendersAreBounded(t *testing.T) {
	o := newOffences()
	for client := range uint64(1_000_000) {
		o.add(client, start.UnixNano()+int64(client), int64(hour))
	}
	if got := len(o.of); got != maxOffenders || o.order.Len() != got {
		t.Errorf("offenders after a million: got %d, in order %d, want %d", got, o.order.Len(), maxOffenders)
	}
}

// TestOffencesAreBounded has half as many clients as may be remembered offend so often
// that not all of it can be.
func TestOffencesAreBounded(t *testing.T) {
	o := newOffences()
	for client := range uint64(maxOffenders/2 + 1000) {
		for range 17 { // there is then room for 32
			o.add(client, start.UnixNano(), int64(hour))
		}
	}
	room := 0
	for at := o.order.Front(); at != nil; at = at.Next() {
		room += cap(at.Value.(*offender).times)
	}
	if room != o.room || room > maxOffences || room < maxOffences*9/10 {
		t.Errorf("room for offences: got %d, reckoned %d, want at most %d and nearly as much", room, o.room, maxOffences)
	}
}

func TestBansAreBounded(t *testing.T) {
	m := NewMemory(1)
	for i := range 2 * maxBans {
		offendOnce(m, strconv.Itoa(i), &first, start.Add(time.Duration(i)))
	}
	b := m.Bans()
	if got := len(b.entries); got != maxBans || len(b.ends) != got {
		t.Errorf("bans after twice what there is room for: got %d, in order %d, want %d", got, len(b.ends), maxBans)
	}
	if got := len(b.offences.of); got != 0 {
		t.Errorf("offenders once all are banned: got %d, want 0", got)
	}
}

func TestBanTextIsBounded(t *testing.T) {
	m := NewMemory(1)
	rule := "Disallow: /" + strings.Repeat("x", 16<<10)
	text := 0
	for i := range 2 * maxBanText / len(rule) {
		m.Bans().Put(Ban{Key: figtree, Address: strconv.Itoa(i), Until: start.Add(hour), Rule: rule})
	}
	for _, h := range m.bans.entries {
		text += h.text()
	}
	if text != m.bans.text || text > maxBanText || text < maxBanText*9/10 {
		t.Errorf("bytes of text after twice what there is room for: got %d, reckoned %d, want at most %d and nearly as much", text, m.bans.text, maxBanText)
	}
}

// TestLongestBanOutlastsAFlood fills the table with bans that end sooner or later.
func TestLongestBanOutlastsAFlood(t *testing.T) {
	bans := NewMemory(1).Bans()
	long, short := ban("long", 0, 2*hour), ban("short", 0, hour)
	bans.Put(long)
	bans.Put(short)
	for i := range maxBans - 1 {
		bans.Put(ban("made-up-"+strconv.Itoa(i), 0, hour+s))
	}
	mustFind(t, bans, long, 0, 0, 2*hour)
	mustNotFind(t, bans, short, 0)
	last := ban("last", 0, s)
	bans.Put(last)
	mustFind(t, bans, last, 0, 0, s)
}

// TestLatestOffenderOutlastsAFlood has one client offend before and after another, and
// then a flood that drives out only that other.
func TestLatestOffenderOutlastsAFlood(t *testing.T) {
	m := NewMemory(1)
	offendOnce(m, "figtree", &third, start)
	offendOnce(m, "early", &third, start)
	offendOnce(m, "early", &third, start)
	offendOnce(m, "figtree", &third, start)
	for i := range maxOffenders - 1 {
		offendOnce(m, "made-up-"+strconv.Itoa(i), &third, start)
	}
	if got := len(m.bans.offences.of); got != maxOffenders {
		t.Errorf("offenders: got %d, want %d", got, maxOffenders)
	}
	if r := offendOnce(m, "figtree", &third, start); !r.New {
		t.Errorf("the third offence of one who offended twice before a flood: got %+v, want a ban", r)
	}
	if r := offendOnce(m, "early", &third, start); r.New {
		t.Errorf("the first offence since a flood drove its client out: got %+v, want no ban", r)
	}
}

// TestMemoryIsWithin64MiB fills what a Memory keeps besides its states.
func TestMemoryIsWithin64MiB(t *testing.T) {
	before := heapInUse()
	m := NewMemory(DefaultMaxKeys)
	for i := range maxBans {
		address := strconv.Itoa(i)
		rule := strings.Repeat("x", maxBanText/maxBans-len(figtree.Site)-len(figtree.Robot)-len(address))
		m.Bans().Put(Ban{Key: figtree, Address: address, Until: start.Add(hour), Rule: rule})
	}
	for client := range uint64(maxOffenders) {
		for range maxOffences/maxOffenders/2 + 1 { // there is then room for twice as many
			m.bans.offences.add(client, start.UnixNano(), int64(hour))
		}
	}
	if b := m.Bans(); len(b.entries) != maxBans || len(b.offences.of) != maxOffenders || b.text != maxBanText || b.offences.room != maxOffences {
		t.Fatalf("filled: got %d bans with %d bytes of text, %d offenders with room for %d offences", len(b.entries), b.text, len(b.offences.of), b.offences.room)
	}
	states := float64(fullTable(m)) / (1 << 20)
	rest := float64(heapInUse()-before) / (1 << 20)
	if states+rest > 64 {
		t.Errorf("MiB that a full Memory takes: got %.1f for states and %.1f for the rest, want at most 64", states, rest)
	}
	t.Logf("a full Memory takes %.1f MiB for states and %.1f MiB for the rest", states, rest)
	runtime.KeepAlive(m)
}
