package index

import (
	"math/rand/v2"
	"testing"
)

func TestPatternsMatchAloneAsTheTwinSays(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200_000 {
		p := twinPattern{word(r, patternParts, 5), r.IntN(2) == 0}
		target := word(r, targetParts, 6)
		if got, want := Split(p.text, p.anchor).Matches(target), p.matches(target); got != want {
			t.Fatalf("%+v matches %q: %t, want %t", p, target, got, want)
		}
	}
}
