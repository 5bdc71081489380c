package index

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// The slow twin: a pattern is its bytes, in which a Star is any text, and it says by
// recursion what it matches. Here a target is its bytes as well, an encoded one among them
// counting as one.

func twinMatches(pattern, target []string) bool {
	switch {
	case len(pattern) == 0:
		return len(target) == 0
	case pattern[0] == Star:
		for i := range len(target) + 1 {
			if twinMatches(pattern[1:], target[i:]) {
				return true
			}
		}
		return false
	}
	return len(target) > 0 && pattern[0] == target[0] && twinMatches(pattern[1:], target[1:])
}

// bytesOf takes canonical text apart.
func bytesOf(text string) []string {
	var all []string
	for text != "" {
		n := 1
		if text[0] == '%' {
			n = len("%XX")
		}
		all, text = append(all, text[:n]), text[n:]
	}
	return all
}

type twinPattern struct {
	text   string
	anchor bool
}

func (p twinPattern) matches(target string) bool {
	elements := bytesOf(p.text)
	if !p.anchor {
		elements = append(elements, Star)
	}
	return twinMatches(elements, bytesOf(target))
}

func word(r *rand.Rand, alphabet []string, most int) string {
	var b strings.Builder
	for range r.IntN(most + 1) {
		b.WriteString(alphabet[r.IntN(len(alphabet))])
	}
	return b.String()
}

var (
	patternParts = []string{"a", "b", "a", "b", "0", "2", "%20", Star}
	targetParts  = patternParts[:len(patternParts)-1]
)

func TestTreesFindWhatTheTwinFinds(t *testing.T) {
	r := rand.New(rand.NewPCG(9309, 1996))
	found := 0
	for range 300 {
		b := NewBuilder(r.IntN(100), r.IntN(100))
		var trees [4]Tree
		var patterns [len(trees)][]twinPattern
		for i := range trees {
			for range r.IntN(2 << r.IntN(11)) {
				p := twinPattern{"/" + word(r, patternParts, 8), r.IntN(3) == 0}
				b.Add(Split(p.text, p.anchor), Rank(len(patterns[i])*len(trees)+i))
				patterns[i] = append(patterns[i], p)
			}
			trees[i] = b.Tree()
			if (trees[i] == 0) != (len(patterns[i]) == 0) {
				t.Fatalf("tree %d of %d patterns", trees[i], len(patterns[i]))
			}
		}
		some := trees[r.IntN(len(trees)):]
		all := b.Together(some)
		x := b.Index()
		for range 30 {
			target := "/" + word(r, targetParts, 10)
			want := NoRank
			for i := len(trees) - len(some); i < len(trees); i++ {
				for n, p := range patterns[i] {
					if p.matches(target) {
						want = min(want, Rank(n*len(trees)+i))
						break
					}
				}
			}
			if got := x.Find(all, target); got != want {
				t.Fatalf("Find(%q) = %d, want %d", target, got, want)
			}
			if want != NoRank {
				found++
			}
		}
	}
	if want := 1000; found < want {
		t.Errorf("%d targets matched, want at least %d", found, want)
	}
}

// The cost is at least one for each pattern that the search had to try, and ends above the
// limit without counting on.
func TestTheCostOfASearchIsBounded(t *testing.T) {
	b := NewBuilder(0, 0)
	const patterns = 5000
	for i := range patterns {
		b.Add(Split("/"+Star+"ab"+strings.Repeat(Star+"a", i%7)+Star+"x", true), Rank(i))
	}
	trees := b.Together([]Tree{b.Tree()})
	x := b.Index()
	target := "/" + strings.Repeat("ab", 100)
	if got := x.Cost(trees, target, 1<<30); got < patterns*costOfPattern {
		t.Errorf("Cost = %d, want at least %d", got, patterns*costOfPattern)
	}
	if got := x.Cost(trees, "/y", 1<<30); got > patterns {
		t.Errorf("Cost of a target without their pairs = %d, want at most %d", got, patterns)
	}
	if got := x.Cost(trees, target, 10); got <= 10 {
		t.Errorf("Cost with a limit of 10 = %d, want more", got)
	}
}
