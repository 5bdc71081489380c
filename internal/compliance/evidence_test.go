package compliance

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

func TestEvidenceIsTheNewestAndTheFirst(t *testing.T) {
	l := NewLedger(Options{})
	var want []string
	for i := range 30 {
		e := disallowed("figtree")
		e.Time, e.Path = start.Add(time.Duration(i)*time.Second), fmt.Sprint("/", i)
		l.Note(&e)
		if i == 0 || i >= 20 {
			want = append([]string{e.Path}, want...)
		}
		note(l, allowed("figtree"), 1)
	}
	var got []string
	for _, e := range only(t, l).Evidence {
		got = append(got, e.Path)
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestTheFirstIsNotShownTwice(t *testing.T) {
	l := NewLedger(Options{})
	note(l, disallowed("figtree"), 1)
	if got := only(t, l).Evidence; len(got) != 1 {
		t.Errorf("of one request: got %+v, want it once", got)
	}
}

func TestEvidenceSaysWhatWasAskedAndAnswered(t *testing.T) {
	l := NewLedger(Options{})
	note(l, disallowed("figtree"), 1)
	want := Evidence{
		Time: start, Method: "GET", Path: "/private/", Status: 403, Verdict: Disallowed,
		Line: 3, Rule: "Disallow: /private/", Address: "203.0.113.0/24",
	}
	if got := only(t, l).Evidence[0]; got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestQueriesAreKeptIfSomebodyAsksForThem(t *testing.T) {
	for _, c := range []struct {
		path  string
		whole bool
		want  string
	}{
		{"/reset?token=secret", false, "/reset?"}, {"/reset?token=secret", true, "/reset?token=secret"},
		{"/reset", false, "/reset"}, {"?", false, "?"}, {"/a?b?c", false, "/a?"},
	} {
		l, e := NewLedger(Options{}), disallowed("figtree")
		e.Path, e.WholeQuery = c.path, c.whole
		note(l, e, 1)
		if r := only(t, l); r.Evidence[0].Path != c.want || r.Paths[0].Path != c.want {
			t.Errorf("%s, whole %t: got %q and %q, want %q", c.path, c.whole, r.Evidence[0].Path, r.Paths[0].Path, c.want)
		}
	}
}

func TestAddresses(t *testing.T) {
	for _, c := range []struct{ address, masked, whole string }{
		{"203.0.113.9", "203.0.113.0/24", "203.0.113.9"},
		{"203.0.113.9:443", "203.0.113.0/24", "203.0.113.9"},
		{"::ffff:203.0.113.9", "203.0.113.0/24", "203.0.113.9"},
		{"2001:db8:1:2::9", "2001:db8:1::/48", "2001:db8:1:2::9"},
		{"[2001:db8:1:2::9]:443", "2001:db8:1::/48", "2001:db8:1:2::9"},
		{"fe80::9%eth0", "fe80::/48", "fe80::9"},
		{"", "", ""},
		{"not an address", "", ""},
	} {
		for whole, want := range map[bool]string{false: c.masked, true: c.whole} {
			l := NewLedger(Options{})
			e := disallowed("figtree")
			e.Address, e.WholeAddress = c.address, whole
			l.Note(&e)
			if got := only(t, l).Evidence[0].Address; got != want {
				t.Errorf("%q, whole %v: got %q, want %q", c.address, whole, got, want)
			}
		}
	}
}

// TestAWholeAddressStaysWhole brings it to other ledgers, beside one of which the network is kept.
func TestAWholeAddressStaysWhole(t *testing.T) {
	from := NewLedger(Options{})
	e := disallowed("figtree")
	note(from, e, 1)
	e.WholeAddress = true
	note(from, e, 1)
	merged, read := NewLedger(Options{}), NewLedger(Options{})
	merged.Merge(from)
	if err := read.Unmarshal(from.Marshal()); err != nil {
		t.Fatal(err)
	}
	for what, l := range map[string]*Ledger{"noted": from, "Merge": merged, "Unmarshal": read} {
		got := only(t, l).Evidence
		if got[0].Address != "203.0.113.9" || got[1].Address != "203.0.113.0/24" {
			t.Errorf("%s: got %q and %q, want the whole address and the network", what, got[0].Address, got[1].Address)
		}
	}
}

func TestALineIsItsNumberAndItsText(t *testing.T) {
	l := NewLedger(Options{})
	e := disallowed("figtree")
	note(l, e, 3)
	e.Line = 4
	note(l, e, 2)
	e.Rule = "Crawl-delay: 5"
	note(l, e, 1)
	e.Line, e.Rule = 0, ""
	note(l, e, 1)
	want := []Line{{3, "Disallow: /private/", 3, false}, {4, "Disallow: /private/", 2, false}, {4, "Crawl-delay: 5", 1, false}}
	if got := only(t, l).Lines; !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
