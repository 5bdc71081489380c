package compliance

import "testing"

func TestDoorCountsVisits(t *testing.T) {
	d := newDoor(100)
	for i := range uint64(3) {
		for _, stranger := range []uint64{1, 1 << 63, 12345} {
			if got := d.knock(stranger); got != i+1 {
				t.Errorf("visit %d of %d: got %d", i+1, stranger, got)
			}
		}
	}
}

// TestDoorForgetsWhoCameLongestAgo has nine strangers with fingerprints so alike that only
// eight are remembered.
func TestDoorForgetsWhoCameLongestAgo(t *testing.T) {
	d := newDoor(100)
	for stranger := range uint64(8) {
		d.knock(stranger + 1)
	}
	d.knock(1) // which makes the second one that of longest ago
	d.knock(9)
	for stranger, want := range map[uint64]uint64{1: 3, 9: 2, 8: 2} {
		if got := d.knock(stranger); got != want {
			t.Errorf("visits of %d: got %d, want %d", stranger, got, want)
		}
	}
	if got := d.knock(2); got != 1 {
		t.Errorf("visits of who was forgotten: got %d, want 1", got)
	}
}

// TestDoorLooksInsideOnceAnHour counts how often the lightest is asked for, which takes a look
// at every row.
func TestDoorLooksInsideOnceAnHour(t *testing.T) {
	d := newDoor(100)
	looks := 0
	ask := func(weight uint64, at int64, want bool) {
		t.Helper()
		if got := d.opens(weight, at, func() uint64 { looks++; return 5 }); got != want {
			t.Errorf("weight %d at %d: got %v, want %v", weight, at, got, want)
		}
	}
	for range 1000 {
		ask(1, hourLong, false)
		ask(5, 2*hourLong-1, false)
		ask(1, 0, false) // the clock steps back
	}
	if looks != 1 {
		t.Errorf("looks within an hour: got %d, want 1", looks)
	}
	ask(1, 2*hourLong, false)
	ask(6, 2*hourLong, true)
	if looks != 3 {
		t.Errorf("looks after an hour, and for one who gets in: got %d, want 3", looks)
	}
}
