package index

import (
	"math/rand/v2"
	"strings"
	"testing"
)

func TestWordsAreFoundAsTheTwinFindsThem(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	alphabet := []string{"a", "b", "c", "-"}
	for range 200 {
		var words []Word
		ranks := make(map[string]uint32)
		for range r.IntN(60) {
			if text := word(r, alphabet, 5); text != "" && ranks[text] == 0 {
				ranks[text] = uint32(len(words) + 1)
				words = append(words, Word{text, ranks[text]})
			}
		}
		w := NewWords(words)
		for range 100 {
			text := word(r, []string{"a", "B", "c", "A", "-", "x"}, 12)
			in, is := NoWord, NoWord
			for word, rank := range ranks {
				if strings.Contains(strings.ToLower(text), word) {
					in = min(in, rank)
				}
				if strings.ToLower(text) == word {
					is = rank
				}
			}
			if got := w.Search(text); got != in {
				t.Fatalf("%v: Search(%q) = %d, want %d", ranks, text, got, in)
			}
			if got := w.Exact(text); got != is {
				t.Fatalf("%v: Exact(%q) = %d, want %d", ranks, text, got, is)
			}
		}
	}
}
