package crawler

import (
	"fmt"
	"strings"
)

// A mark is what finding a word means; marks of several words are combined.
type mark uint8

const (
	robotWord     mark = 1 << iota // what robots say of themselves, outside platform comments
	robotName                      // a robot's name, outside platform comments
	platformRobot                  // the same, inside a platform comment
	engineMark                     // a browser engine
	appMark                        // an app
	phoneMark                      // an old phone's browser
)

// A word is one entry that is looked for anywhere in a User-Agent.
type word struct {
	text                      string
	mark                      mark
	noLetterBefore            bool
	noLetterAfter, digitAfter bool
	except                    []exception
}

// An exception is a longer text in which a word does not count; offset is where
// the word stands in it.
type exception struct {
	text   string
	offset int
}

// parseWord reads an entry such as "bot| except cubot".
func parseWord(line string, m mark) (word, error) {
	entry, excepted, _ := strings.Cut(line, " except ")
	w := word{mark: m}
	w.text, w.noLetterBefore = strings.CutPrefix(entry, "|")
	w.text, w.noLetterAfter = strings.CutSuffix(w.text, "|")
	if strings.HasSuffix(w.text, "/0") {
		w.text, w.digitAfter = strings.TrimSuffix(w.text, "0"), true
	}
	if len(w.text) < 2 {
		return word{}, fmt.Errorf("entry %q is shorter than two characters", line)
	}
	for _, text := range strings.Fields(excepted) {
		offset := strings.Index(text, w.text)
		if offset < 0 {
			return word{}, fmt.Errorf("exception %q does not contain %q", text, w.text)
		}
		w.except = append(w.except, exception{text, offset})
	}
	return w, nil
}

// at reports whether w stands at position i of lower.
func (w *word) at(lower []byte, i int) bool {
	end := i + len(w.text)
	if end > len(lower) || string(lower[i:end]) != w.text {
		return false
	}
	if w.noLetterBefore && i > 0 && isLetter(lower[i-1]) {
		return false
	}
	if w.noLetterAfter && end < len(lower) && isLetter(lower[end]) {
		return false
	}
	if w.digitAfter && (end == len(lower) || !isDigit(lower[end])) {
		return false
	}
	return !w.excepted(lower, i)
}

func (w *word) excepted(lower []byte, i int) bool {
	for _, e := range w.except {
		from := i - e.offset
		to := from + len(e.text)
		if from >= 0 && to <= len(lower) && string(lower[from:to]) == e.text {
			return true
		}
	}
	return false
}

// A finder looks for many words in one pass: a bitmap of the pairs of octets with
// which words begin sends nearly every position on its way at once. The zero value
// finds nothing.
type finder struct {
	pairs   [1 << 16 / 64]uint64
	byFirst [256][]word
}

func (f *finder) add(w word) {
	pair := uint(w.text[0])<<8 | uint(w.text[1])
	f.pairs[pair/64] |= 1 << (pair % 64)
	f.byFirst[w.text[0]] = append(f.byFirst[w.text[0]], w)
}

// starts reports whether a word may begin at position i of lower.
func (f *finder) starts(lower []byte, i int) bool {
	pair := uint(lower[i])<<8 | uint(lower[i+1])
	return f.pairs[pair/64]&(1<<(pair%64)) != 0
}

// find returns the marks of all words in lower. Robots' words and names count
// outside the masked spans, platform robots inside them, everything else in both.
func (f *finder) find(lower []byte, masked *spans) mark {
	var found mark
	for i := 0; i+1 < len(lower); i++ {
		if !f.starts(lower, i) {
			continue
		}
		candidates := f.byFirst[lower[i]]
		for k := range candidates {
			w := &candidates[k]
			if found&w.mark == 0 && w.at(lower, i) && counts(w.mark, masked.contain(i)) {
				found |= w.mark
			}
		}
	}
	return found
}

func counts(m mark, masked bool) bool {
	switch m {
	case robotWord, robotName:
		return !masked
	case platformRobot:
		return masked
	default:
		return true
	}
}

// carries reports whether a word with one of the marks in want begins in
// lower[from:to]; what stands around it counts as its surroundings.
func (f *finder) carries(lower []byte, from, to int, want mark) bool {
	for i := from; i < to && i+1 < len(lower); i++ {
		if !f.starts(lower, i) {
			continue
		}
		candidates := f.byFirst[lower[i]]
		for k := range candidates {
			w := &candidates[k]
			if w.mark&want != 0 && i+len(w.text) <= to+1 && w.at(lower, i) {
				return true
			}
		}
	}
	return false
}
