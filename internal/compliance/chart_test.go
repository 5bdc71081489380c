package compliance

import (
	"testing"
	"time"
)

// TestAnHourThatComesTwiceIsShownOnce sets clocks back within the week.
func TestAnHourThatComesTwiceIsShownOnce(t *testing.T) {
	hours := []Period{
		{Time: time.Date(2026, time.October, 25, 0, 0, 0, 0, time.UTC), Requests: 3, Disobedient: 3},
		{Time: time.Date(2026, time.October, 25, 1, 0, 0, 0, time.UTC), Requests: 4, Disobedient: 4},
	}
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	v := newHeat(hours, time.Date(2026, time.October, 26, 0, 0, 0, 0, berlin))
	if day := v.Days[5]; day.Name != "Sun 25 Oct" || day.Requests.Value != 7 || day.Worst != "02:00" || v.Most != "7" {
		t.Errorf("got %+v, peak %s, want 7 requests on Sunday at 2", day, v.Most)
	}
}
