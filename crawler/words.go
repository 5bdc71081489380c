package crawler

import (
	"bufio"
	_ "embed" // for words.txt
	"errors"
	"fmt"
	"strings"
)

//go:embed words.txt
var wordsFile string

// known is the content of words.txt. Were the file malformed, errKnown would say so
// and known would be empty: nobody would be taken for a robot by its words, which
// harms no visitor. A test keeps errKnown nil.
var known, errKnown = parseVocabulary(wordsFile)

// A vocabulary holds the words and names that identification goes by. It is
// immutable once parsed.
type vocabulary struct {
	words       finder
	openers     list
	notRobots   list
	afterGecko  list
	firsts      list
	browsers    list
	nameNobody  list
	sectionSeen map[string]bool
}

// markOf says which sections of words.txt are looked for anywhere in a User-Agent,
// and what finding one of their entries means.
var markOf = map[string]mark{
	"robot words":                  robotWord,
	"trade words":                  robotWord,
	"robot names":                  robotName,
	"robots in a platform comment": platformRobot,
	"engines":                      engineMark,
	"apps":                         appMark,
	"old phones":                   phoneMark,
}

// lists says which sections of words.txt are compared with a beginning.
func (v *vocabulary) lists() map[string]*list {
	return map[string]*list{
		"platform openers":                     &v.openers,
		"not a robot after compatible":         &v.notRobots,
		"after like gecko":                     &v.afterGecko,
		"phones and browsers by first product": &v.firsts,
		"names of browsers":                    &v.browsers,
		"words that name nobody":               &v.nameNobody,
	}
}

// parseVocabulary reads a file of the form of words.txt. It always returns a usable
// vocabulary: an empty one with the error that names the first bad line.
func parseVocabulary(text string) (*vocabulary, error) {
	v := &vocabulary{sectionSeen: map[string]bool{}}
	if err := v.parse(text); err != nil {
		return &vocabulary{}, err
	}
	return v, nil
}

func (v *vocabulary) parse(text string) error {
	section := ""
	lines := bufio.NewScanner(strings.NewReader(text))
	for number := 1; lines.Scan(); number++ {
		line := strings.TrimSpace(lines.Text())
		var err error
		switch {
		case line == "" || line[0] == '#':
		case line[0] == '[':
			section, err = v.open(line)
		default:
			err = v.add(section, line)
		}
		if err != nil {
			return fmt.Errorf("words.txt line %d: %w", number, err)
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("reading words.txt: %w", err)
	}
	return v.complete()
}

// open returns the name of the section that line opens.
func (v *vocabulary) open(line string) (string, error) {
	name, ok := strings.CutSuffix(line[1:], "]")
	if !ok {
		return "", fmt.Errorf("section %q is not closed", line)
	}
	if _, isMark := markOf[name]; !isMark && v.lists()[name] == nil {
		return "", fmt.Errorf("unknown section %q", name)
	}
	if v.sectionSeen[name] {
		return "", fmt.Errorf("section %q stands twice", name)
	}
	v.sectionSeen[name] = true
	return name, nil
}

// add puts one entry where its section belongs.
func (v *vocabulary) add(section, line string) error {
	if line != strings.ToLower(line) {
		return fmt.Errorf("entry %q is not in lower case", line)
	}
	if section == "" {
		return fmt.Errorf("entry %q stands before any section", line)
	}
	if l := v.lists()[section]; l != nil {
		return l.add(line)
	}
	w, err := parseWord(line, markOf[section])
	if err != nil {
		return err
	}
	v.words.add(w)
	return nil
}

// complete reports a section that is missing, since identification would silently
// go by less than it should.
func (v *vocabulary) complete() error {
	var missing []error
	for name := range markOf {
		if !v.sectionSeen[name] {
			missing = append(missing, fmt.Errorf("words.txt: section %q is missing", name))
		}
	}
	for name := range v.lists() {
		if !v.sectionSeen[name] {
			missing = append(missing, fmt.Errorf("words.txt: section %q is missing", name))
		}
	}
	return errors.Join(missing...)
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
