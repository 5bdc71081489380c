package crawler

import (
	_ "embed" // for words.txt
	"errors"
	"fmt"
	"strings"
)

//go:embed words.txt
var wordsFile string

// known is the content of words.txt. If the file is malformed, errKnown says so and known is
// empty: nobody is then taken for a robot by its words, which harms no visitor. A test keeps
// errKnown nil.
var known, errKnown = parseVocabulary(wordsFile)

// A vocabulary holds the words and names that identification goes by. It is
// immutable once parsed.
type vocabulary struct {
	words        finder
	trades       finder   // words of services
	products     products // services by name
	openers      list     // how a platform comment begins
	platforms    list     // systems in a comment of a browser that says "compatible;"
	notRobots    list     // what may follow "compatible;"
	afterGecko   list     // what may follow "(KHTML, like Gecko"
	firsts       list     // first products of phones and browsers
	browsers     list     // names of browsers
	browserWords set      // the same, but for browsers that only programs run
	libraries    list     // names of libraries below a robot of another name
	nameNobody   list     // words that name no robot by themselves
}

// parseVocabulary reads a file of the form of words.txt. It always returns a usable
// vocabulary: an empty one with the error that names the first bad line.
func parseVocabulary(text string) (*vocabulary, error) {
	v := &vocabulary{browserWords: set{}}
	driven := set{}
	err := parseSections(text, map[string]func(string) error{
		"robot words":                            v.words.adder(robotWord),
		"crawling words":                         v.words.adder(robotWord | crawlMark),
		"trade words":                            v.words.adder(tradeWord),
		"robot names":                            v.words.adder(robotName),
		"robots in a platform comment":           v.words.adder(platformRobot),
		"engines":                                v.words.adder(engineMark),
		"services that call themselves browsers": v.words.adder(serviceMark),
		"handsets":                               v.words.adder(handsetMark),
		"apps":                                   v.words.adder(appMark),
		"made of a browser":                      v.words.adder(shellMark),
		"programs with an address":               v.words.adder(programMark),
		"service words":                          v.trades.adder(serviceMark),
		"services by product":                    v.products.add,
		"old phones":                             v.words.adder(phoneMark),
		"platform openers":                       v.openers.add,
		"not a robot after compatible":           v.notRobots.add,
		"after like gecko":                       v.afterGecko.add,
		"phones and browsers by first product":   v.firsts.add,
		"platforms in a comment":                 v.platforms.add,
		"names of browsers":                      v.browsers.add,
		"browsers driven by programs":            driven.add,
		"libraries":                              v.libraries.add,
		"words that name nobody":                 v.nameNobody.add,
	})
	if err != nil {
		return &vocabulary{}, fmt.Errorf("words.txt: %w", err)
	}
	for _, b := range v.browsers {
		if !driven[b.text] {
			v.browserWords[b.text] = true
		}
	}
	return v, nil
}

// A set holds whole words.
type set map[string]bool

func (s set) add(line string) error {
	s[line] = true
	return nil
}

// parseSections reads a data file of sections, each opened by its name in brackets, and hands
// each entry to the function that adds it to its section. The error names the first bad line,
// or the sections that are missing: without one, identification would silently go by less.
func parseSections(text string, adders map[string]func(entry string) error) error {
	var add func(string) error
	seen, number := make(map[string]bool), 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimSpace(line)
		key, _, _ := strings.Cut(line, " = ")
		var err error
		switch {
		case line == "" || line[0] == '#':
		case line[0] == '[':
			name, closed := strings.CutSuffix(line[1:], "]")
			add = adders[name]
			switch {
			case !closed:
				err = fmt.Errorf("section %q is not closed", line)
			case add == nil:
				err = fmt.Errorf("unknown section %q", name)
			case seen[name]:
				err = fmt.Errorf("section %q stands twice", name)
			}
			seen[name] = true
		case key != strings.ToLower(key):
			err = fmt.Errorf("entry %q is not in lower case", line)
		case add == nil:
			err = fmt.Errorf("entry %q stands before any section", line)
		default:
			err = add(line)
		}
		if err != nil {
			return fmt.Errorf("line %d: %w", number, err)
		}
	}
	var missing []error
	for name := range adders {
		if !seen[name] {
			missing = append(missing, fmt.Errorf("section %q is missing", name))
		}
	}
	return errors.Join(missing...)
}

// A mark is what finding a word means; marks of several words are combined.
type mark uint16

const (
	robotWord     mark = 1 << iota // what robots call themselves, outside platform comments
	tradeWord                      // what robots do, outside platform comments
	robotName                      // a robot's name, outside platform comments
	platformRobot                  // the same, inside a platform comment
	engineMark                     // a browser engine
	serviceMark                    // a service, outside platform comments
	handsetMark                    // an app on a handset
	appMark                        // an app
	programMark                    // a library, or a program whose address is its home page
	phoneMark                      // an old phone's browser
	shellMark                      // a program of the desktop that is made of a browser
	crawlMark                      // that a robot crawls, which not all robots' words say
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
	text          string
	offset        int
	noLetterAfter bool
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
		e := exception{}
		e.text, e.noLetterAfter = strings.CutSuffix(strings.ReplaceAll(text, "+", " "), "|")
		if e.offset = strings.Index(e.text, w.text); e.offset < 0 {
			return word{}, fmt.Errorf("exception %q does not contain %q", text, w.text)
		}
		w.except = append(w.except, e)
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
		if from >= 0 && to <= len(lower) && string(lower[from:to]) == e.text &&
			!(e.noLetterAfter && to < len(lower) && isLetter(lower[to])) {
			return true
		}
	}
	return false
}

// A finder looks for many words in one pass: a bitmap of the pairs of bytes with
// which words begin rules out nearly every position at once. The zero value
// finds nothing.
type finder struct {
	pairs   [1 << 16 / 64]uint64
	byFirst [256][]word
}

// adder returns a function that adds entries such as "bot| except cubot", which mean m.
func (f *finder) adder(m mark) func(entry string) error {
	return func(entry string) error {
		w, err := parseWord(entry, m)
		if err != nil {
			return err
		}
		pair := uint(w.text[0])<<8 | uint(w.text[1])
		f.pairs[pair/64] |= 1 << (pair % 64)
		f.byFirst[w.text[0]] = append(f.byFirst[w.text[0]], w)
		return nil
	}
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
			if found&w.mark == 0 && w.at(lower, i) && counts(w.mark, masked.contains(i)) {
				found |= w.mark
			}
		}
	}
	return found
}

func counts(m mark, masked bool) bool {
	switch {
	case m&(robotWord|tradeWord|robotName|serviceMark) != 0:
		return !masked
	case m == platformRobot:
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

// A list holds ways in which a text may begin. The zero value matches nothing.
type list []beginning

type beginning struct {
	text  string
	whole bool // neither letter nor digit may follow
}

func (l *list) add(line string) error {
	text, whole := strings.CutSuffix(line, "|")
	if text == "" {
		return fmt.Errorf("entry %q is empty", line)
	}
	*l = append(*l, beginning{text, whole})
	return nil
}

// products are names of services, by their first byte. The zero value matches nothing.
type products [256]list

func (p *products) add(line string) error { return p[line[0]].add(line) }

// match reports whether name, which is in lower case, is an entry or begins with one that no
// letter follows.
func (p *products) match(name []byte) bool {
	if len(name) == 0 {
		return false
	}
	for _, b := range p[name[0]] {
		n := len(b.text)
		if len(name) == n && string(name) == b.text {
			return true
		}
		if !b.whole && len(name) > n && !isLetter(name[n]) && string(name[:n]) == b.text {
			return true
		}
	}
	return false
}

// match reports whether lower, which is in lower case, begins with an entry.
func (l list) match(lower []byte) bool {
	for _, b := range l {
		n := len(b.text)
		if len(lower) < n || lower[0] != b.text[0] || string(lower[:n]) != b.text {
			continue
		}
		if !b.whole || n == len(lower) || !isLetter(lower[n]) && !isDigit(lower[n]) {
			return true
		}
	}
	return false
}

func isLetter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }
func isDigit(c byte) bool  { return '0' <= c && c <= '9' }
func isBlank(c byte) bool  { return c == ' ' || c == '\t' }
