package robotsrules

import (
	"testing"
	"time"
)

func TestParseRate(t *testing.T) {
	for text, want := range map[string]Rate{
		"1/10s":  {Documents: 1, Period: 10 * time.Second},
		"10/1m":  {Documents: 10, Period: time.Minute},
		"3/2":    {Documents: 3, Period: 2 * time.Second},
		"1/1.5h": {Documents: 1, Period: 90 * time.Minute},
	} {
		want.Text = text
		if got, ok := ParseRate(text); !ok || got != want {
			t.Errorf("%q: got %+v, %t; want %+v", text, got, ok, want)
		}
	}
	for _, text := range []string{"", "10s", "1", "1/", "/1", "0/10s", "1/0", "-1/10s", "1/-10s", "1/10s 0600-0700", "1/10w", "x/10s", "1/NaN", "9999999999999/1s", "1/10000d"} {
		if got, ok := ParseRate(text); ok {
			t.Errorf("%q: got %+v, want no rate", text, got)
		}
	}
}
