package index

import "strings"

// Star stands for any text in a pattern. No other byte of canonical text is NUL.
const Star = "\x00"

// Shape is how a pattern is compared with a target.
type Shape uint8

// The shapes.
const (
	Prefix   Shape = iota // the target begins with it
	Exact                 // the target is equal to it
	Wildcard              // it has stars before its end
)

// Pattern is what targets are compared with: canonical text that is divided at its first
// Star. The zero value matches everything.
type Pattern struct {
	Literal string // what the target begins with, up to the first star
	Rest    string // what follows the first star, with a Star for each further one
	Shape   Shape
	Anchor  bool // Rest has to end where the target ends
}

// Split makes a pattern of text. With anchor, it has to match the whole target. A star at
// the end is what every prefix has anyhow, so it is dropped, and the end with it.
func Split(text string, anchor bool) Pattern {
	literal, rest, stars := strings.Cut(text, Star)
	switch {
	case !stars && anchor:
		return Pattern{Shape: Exact, Literal: text}
	case !stars:
		return Pattern{Literal: text}
	}
	open := strings.TrimRight(rest, Star)
	if len(open) < len(rest) {
		anchor = false
	}
	open = strings.TrimLeft(open, Star)
	if open == "" {
		return Pattern{Literal: literal}
	}
	return Pattern{Shape: Wildcard, Literal: literal, Rest: open, Anchor: anchor}
}

// Matches reports whether p, alone, matches target, which is as [Index.Find] has it.
func (p Pattern) Matches(target string) bool {
	rest, found := strings.CutPrefix(target, p.Literal)
	switch {
	case !found:
		return false
	case p.Shape == Exact:
		return rest == ""
	case p.Shape == Wildcard:
		w := newWildcardPattern(p, 0)
		return w.matches(rest)
	}
	return true
}
