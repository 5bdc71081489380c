package robotsrules

import (
	"strings"
	"testing"
)

// TestEightBytesAreLookedAtAsOne has each byte at each place among plain ones.
func TestEightBytesAreLookedAtAsOne(t *testing.T) {
	for _, around := range []string{"!!!!!!!!", "~~~~~~~~", "/a-b_c.d", "$$$$$$$$", "&&&&&&&&"} {
		for i := range 8 {
			for c := range 256 {
				s := around[:i] + string([]byte{byte(c)}) + around[i+1:]
				if got := arePlain(s + "\x00"); got != plain[c] {
					t.Errorf("%q: got %t, want %t", s, got, plain[c])
				}
			}
		}
	}
}

func TestCanonicalIsWhatIsNotRewritten(t *testing.T) {
	for _, part := range []string{"%2F", "%2f", "%41", "%", "%2", "%zz", "%00", "%20", "%C3%A9", "%c3%a9", "é", " ", "~", "a"} {
		for before := range 18 {
			for _, after := range []int{0, 1, 7, 8, 9} {
				s := strings.Repeat("x", before) + part + strings.Repeat("y", after)
				if got, want := isCanonical(s), string(appendCanonical(nil, s)) == s; got != want {
					t.Errorf("%q: got %t, want %t", s, got, want)
				}
			}
		}
	}
}
