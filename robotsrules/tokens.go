package robotsrules

import (
	"bytes"
	"cmp"
	"slices"
	"sort"
	"strings"

	"github.com/caddy-robots/caddy-robots/robotsrules/internal/index"
)

// Tokens are product tokens (RFC 9309, section 2.2.1) by which robots are found, for callers that
// have names of robots but no robots.txt. It is immutable and safe for concurrent use. The zero
// value and nil name no robot.
type Tokens struct {
	match  Match
	words  *index.Words // the names of robots by rank; nil for none
	common *index.Words // the tokens that are common words, by rank; nil for none
	lines  userAgentLines
	place  []int // of each rank, the place among the values of NewTokens
}

// NewTokens makes Tokens of the values. Each is like the value of a User-agent line: a version
// after a slash is left out, and "*" and "" name no robot. (A value is one token: only robots.txt
// may have lists with commas.) If tokens are equal, the first counts.
func NewTokens(values []string, m Match) *Tokens {
	var all []index.Word
	seen := make(map[string]bool)
	for i, value := range values {
		text := fold(tokenOf(value))
		if text != "" && text != "*" && !seen[text] {
			seen[text] = true
			all = append(all, index.Word{Text: text, Rank: uint32(i)})
		}
	}
	slices.SortStableFunc(all, func(a, b index.Word) int { return cmp.Compare(len(b.Text), len(a.Text)) })
	t := &Tokens{match: m, place: make([]int, len(all))}
	for rank := range all {
		t.place[rank], all[rank].Rank = int(all[rank].Rank), uint32(rank)
	}
	t.index(all)
	return t
}

// index makes the tokens ready to be found. Words that are no robot's name are kept apart.
func (t *Tokens) index(all []index.Word) {
	names := make([]index.Word, 0, len(all))
	var common []index.Word
	for _, w := range all {
		if isCommonWord(w.Text) {
			common = append(common, w)
		} else {
			names = append(names, w)
		}
	}
	t.words = index.NewWords(names)
	if common != nil {
		t.common = index.NewWords(common)
	}
}

// exact returns the rank of the token that is text, without regard to case.
func (t *Tokens) exact(text string) uint32 {
	if t.words == nil {
		return index.NoWord
	}
	return min(t.words.Exact(text), t.called(text))
}

// called returns the rank of the common word that is text.
func (t *Tokens) called(text string) uint32 {
	if t.common == nil {
		return index.NoWord
	}
	return t.common.Exact(text)
}

// Find returns the place, among the values of NewTokens, of the token that names r, as
// [Policy.Find] finds a record in RFC9309: the longest that matches, and of those the
// first. It returns false when none does. It does not allocate.
func (t *Tokens) Find(r Robot) (place int, ok bool) {
	if t == nil {
		return 0, false
	}
	rank := t.find(r)
	if rank == index.NoWord {
		return 0, false
	}
	return t.place[rank], true
}

// find returns the best rank of a token that names r, index.NoWord when no token does.
func (t *Tokens) find(r Robot) uint32 {
	if t.words == nil {
		return index.NoWord
	}
	best := min(t.called(r.Name), t.called(r.UserAgent))
	if t.match == MatchToken {
		for _, product := range r.Products {
			best = min(best, t.words.Exact(product))
		}
		return best
	}
	return t.lines.find(r.Name, min(best, t.words.Search(r.UserAgent)))
}

// program returns the best rank of a token that names the app, library or service r: one that
// equals a product token or, with MatchSubstring and unless only the whole counts, is its
// beginning before a hyphen.
func (t *Tokens) program(r Robot, whole bool) uint32 {
	if t.words == nil {
		return index.NoWord
	}
	best := t.called(r.Name)
	for _, product := range r.Products {
		best = min(best, t.words.Exact(product))
		for i := 1; i < len(product) && !whole && t.match == MatchSubstring; i++ {
			if product[i] == '-' {
				best = min(best, t.words.Exact(product[:i]))
			}
		}
	}
	return best
}

// userAgentLines are the values of all User-agent lines in small letters, in file order,
// each followed by a line feed. In the 1996 draft, section 3.2.1, a record also binds a
// robot whose name its value contains. The zero value has none.
type userAgentLines struct {
	text   []byte
	begins []int // where each value begins
}

func newUserAgentLines(values []string) userAgentLines {
	var lines userAgentLines
	for _, value := range values {
		lines.begins = append(lines.begins, len(lines.text))
		lines.text = append(append(lines.text, fold(value)...), '\n')
	}
	return lines
}

// maxName is the longest name that is looked for; longer ones are nobody's.
const maxName = 256

// find returns the first value that contains name, if it comes before best, and
// else best.
func (l *userAgentLines) find(name string, best uint32) uint32 {
	var buf [maxName]byte
	if len(l.text) == 0 || name == "" || len(name) > len(buf) || strings.IndexByte(name, '\n') >= 0 {
		return best
	}
	for i := range len(name) {
		buf[i] = lower[name[i]]
	}
	text := l.text
	if best != index.NoWord {
		text = text[:l.begins[best]]
	}
	at := bytes.Index(text, buf[:len(name)])
	if at < 0 {
		return best
	}
	return uint32(sort.SearchInts(l.begins, at+1) - 1)
}
