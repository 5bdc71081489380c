package index

import (
	"bytes"
	"slices"
	"strings"
)

// NoWord is the rank of no word, worse than every other.
const NoWord = ^uint32(0)

// denseBase is how many entries the table of a Words may have however few
// states there are.
const denseBase = 4096

// Word is a word in small letters, and its rank; the lower rank wins.
type Word struct {
	Text string
	Rank uint32
}

// Words finds words in a text in one pass, however many there are: it is the machine of
// Aho and Corasick. Case does not matter in ASCII. Words is immutable and safe for
// concurrent use.
//
// Its states are numbered by their depth, so that the children of a state are side by
// side, and the first states, which are visited most, have a table of all their next
// states.
type Words struct {
	class  [256]uint8 // small number of a byte, case folded; 0: in no word
	width  uint32     // how many classes there are
	table  []uint32   // next state by state and class, for the first states
	tabled uint32     // how many states the table has
	label  []uint8    // class that leads into the state
	first  []uint32   // first child of the state; its last one comes before the next state's first
	fail   []uint32   // longest proper suffix of the state that is a state
	own    []uint32   // rank of the word that the state spells
	best   []uint32   // best rank of a word that the state ends with
}

// NewWords makes Words of words that are all different and not empty. It reorders them.
func NewWords(words []Word) *Words {
	a := &Words{}
	slices.SortFunc(words, func(x, y Word) int { return strings.Compare(x.Text, y.Text) })
	total := a.classify(words)
	a.grow(words, total+1)
	a.link()
	a.tabulate()
	return a
}

// classify numbers the bytes that the words have, and returns how many bytes
// the words have together.
func (a *Words) classify(words []Word) int {
	var used [256]bool
	total := 0
	for _, w := range words {
		total += len(w.Text)
		for i := range len(w.Text) {
			used[w.Text[i]] = true
		}
	}
	a.width = 1
	for c, u := range used {
		if u {
			a.class[c] = uint8(a.width)
			a.width++
		}
	}
	for c := byte('a'); c <= 'z'; c++ {
		a.class[c-'a'+'A'] = a.class[c]
	}
	return total
}

// grow makes the states, level by level. Each is the run of sorted words
// that begin with what it spells.
func (a *Words) grow(words []Word, most int) {
	a.label = append(make([]uint8, 0, most), 0)
	a.own = append(make([]uint32, 0, most), NoWord)
	a.first = make([]uint32, 0, most+1)
	type run struct{ from, to uint32 }
	runs := append(make([]run, 0, most), run{0, uint32(len(words))})
	depth, level := -1, 0
	for s := 0; s < len(a.label); s++ {
		if s == level {
			depth, level = depth+1, len(a.label)
		}
		a.first = append(a.first, uint32(len(a.label)))
		i, to := runs[s].from, runs[s].to
		if i < to && len(words[i].Text) == depth {
			a.own[s] = words[i].Rank
			i++
		}
		for i < to {
			c, from := words[i].Text[depth], i
			for i < to && words[i].Text[depth] == c {
				i++
			}
			a.label = append(a.label, a.class[c])
			a.own = append(a.own, NoWord)
			runs = append(runs, run{from, i})
		}
	}
	a.first = append(a.first, uint32(len(a.label)))
	a.label, a.own, a.first = fit(a.label), fit(a.own), fit(a.first)
}

// link finds for each state where to go on when no child fits. Along each word
// the links are followed at most as often as the word is long.
func (a *Words) link() {
	a.fail = make([]uint32, len(a.label))
	a.best = slices.Clone(a.own)
	for s := range uint32(len(a.label)) {
		for c := a.first[s]; c < a.first[s+1]; c++ {
			for f := s; f != 0; {
				f = a.fail[f]
				if next := a.child(f, a.label[c]); next != 0 {
					a.fail[c] = next
					break
				}
			}
			a.best[c] = min(a.best[c], a.best[a.fail[c]])
		}
	}
}

// child returns the child of s for the class, 0 when there is NoWord.
func (a *Words) child(s uint32, class uint8) uint32 {
	from := a.first[s]
	if i := bytes.IndexByte(a.label[from:a.first[s+1]], class); i >= 0 {
		return from + uint32(i)
	}
	return 0
}

// tabulate fills the table of the first states: all of them when they are few.
func (a *Words) tabulate() {
	states := uint32(len(a.label))
	a.tabled = min(states, max(1, (denseBase+states/2)/a.width))
	a.table = make([]uint32, a.tabled*a.width)
	for s := range a.tabled {
		row := a.table[s*a.width:][:a.width]
		if s > 0 {
			copy(row, a.table[a.fail[s]*a.width:][:a.width])
		}
		for c := a.first[s]; c < a.first[s+1]; c++ {
			row[a.label[c]] = c
		}
	}
}

// Search returns the best rank of a word that occurs in text, NoWord when none does. It
// does not allocate.
func (a *Words) Search(text string) uint32 {
	best, s := NoWord, uint32(0)
	for i := range len(text) {
		class := a.class[text[i]]
		if class == 0 {
			s = 0
			continue
		}
		s = a.step(s, class)
		best = min(best, a.best[s])
	}
	return best
}

func (a *Words) step(s uint32, class uint8) uint32 {
	for s >= a.tabled {
		if next := a.child(s, class); next != 0 {
			return next
		}
		s = a.fail[s]
	}
	return a.table[s*a.width+uint32(class)]
}

// Exact returns the rank of the word that is text, NoWord when none is. It does not
// allocate.
func (a *Words) Exact(text string) uint32 {
	s := uint32(0)
	for i := range len(text) {
		class := a.class[text[i]]
		if class == 0 {
			return NoWord
		}
		if s = a.child(s, class); s == 0 {
			return NoWord
		}
	}
	return a.own[s]
}
