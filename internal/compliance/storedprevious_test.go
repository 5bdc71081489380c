package compliance

import (
	"os"
	"testing"
)

// TestTheLedgerOfTheVersionBeforeIsRead reads what a ledger stored in format 3: forty days of a robot that broke
// two rules. What it was allowed to ask for was not stored.
func TestTheLedgerOfTheVersionBeforeIsRead(t *testing.T) {
	data, err := os.ReadFile("testdata/format3.ledger")
	if err != nil {
		t.Fatal(err)
	}
	l := NewLedger(Options{})
	if err := l.Unmarshal(data); err != nil {
		t.Fatal(err)
	}
	got := only(t, l)
	if got.Requests != 40*14 || got.Disobedient != 40*4 || got.Bytes != 400_000 || got.Paths[0] != (Path{Path: disallowed("").Path, Requests: 120}) {
		t.Errorf("got %+v, %+v, want 560 requests, 160 of them disobedient, and 400 kB", got.Tally, got.Paths)
	}
	if len(got.AllowedPaths) != 0 || got.OtherAllowed != 400 || got.OtherAllowedByRule != nil {
		t.Errorf("allowed: got %+v and %d others, want 400 others", got.AllowedPaths, got.OtherAllowed)
	}
	note(l, allowed("figtree"), 3)
	again := NewLedger(Options{})
	if err := again.Unmarshal(l.Marshal()); err != nil {
		t.Fatal(err)
	}
	mustEqual(t, "stored in this format", asJSON(t, again.Snapshot(start)), asJSON(t, l.Snapshot(start)))
}

// TestTheLedgerOfTwoVersionsBeforeIsRead reads what a ledger stored in format 2: forty days of a robot that
// broke two rules and was banned in the end, and an impostor.
func TestTheLedgerOfTwoVersionsBeforeIsRead(t *testing.T) {
	data, err := os.ReadFile("testdata/format2.ledger")
	if err != nil {
		t.Fatal(err)
	}
	l := NewLedger(Options{})
	if err := l.Unmarshal(data); err != nil {
		t.Fatal(err)
	}
	got := byName(l)["figtree"]
	if got.Requests != 40*14+4 || got.Disobedient != 40*4 || got.Of(TooFast).Requests != 40 || got.Of(Banned).Refused != 4 || got.Fetches != 2 {
		t.Errorf("got %+v, want 564 requests, 160 of them disobedient, 40 too fast, 4 during a ban", got.Tally)
	}
	for _, e := range got.Evidence {
		if e.Verdict == Banned {
			t.Errorf("evidence: got %+v, a request during a ban", e)
		}
	}
	if len(got.Days) != 40 || len(got.Lines) != 2 || got.Lines[0].Requests != 120 {
		t.Errorf("got %d days and lines %+v, want 40 days, and 120 times the first line", len(got.Days), got.Lines)
	}
	days := uint64(0)
	for _, d := range got.Days {
		days += d.Requests
	}
	if days != got.Requests {
		t.Errorf("all days: got %d requests, want %d", days, got.Requests)
	}
	impostor := l.Snapshot(start).Select(Selection{Site: "b.example"}).Sites[0].Robots[0]
	if impostor.Standing != "impostor" || impostor.Observed != 2 {
		t.Errorf("got %+v, want an impostor with 2 observed", impostor)
	}
	again := NewLedger(Options{})
	if err := again.Unmarshal(l.Marshal()); err != nil {
		t.Fatal(err)
	}
	mustEqual(t, "stored in this format", asJSON(t, again.Snapshot(start)), asJSON(t, l.Snapshot(start)))
}
