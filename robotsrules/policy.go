package robotsrules

import (
	"cmp"
	"slices"

	"github.com/caddy-robots/caddy-robots/robotsrules/internal/index"
)

// Policy is a File that is compiled for decisions. It is immutable and safe for concurrent use;
// when the file changes, its owner replaces it. A nil Policy, like that of an empty file, binds
// nobody.
type Policy struct {
	dialect  Dialect
	bindings []Binding  // of named robots, best rank first
	tokens   Tokens     // their tokens, by the place of the binding
	fallback *Binding   // the default record
	gates    *timeGates // nil: none
	sitemaps []string
	licenses []string
}

// Robot is what is known of a robot when its record is looked for. The zero
// value finds no record.
type Robot struct {
	// UserAgent is what the robot says of itself: its User-Agent header, from which the
	// caller leaves out the products of browsers and engines, addresses, e-mail, and the
	// comment on the platform of a browser-shaped one, which names devices.
	UserAgent string
	// Name is the robot's own name, such as "GPTBot". A token that is a common word has
	// to equal it, and the dialects of 1994 and 1996 look for it in User-agent lines.
	Name string
	// Products are the product tokens that the robot sends, without versions and without
	// those of browsers. MatchToken uses them, and FindProgram.
	Products []string
}

// Compile makes a policy of f. The policy keeps parts of f, which must not be
// changed afterwards. The time it takes grows with the length of the file's
// text, whatever is in it.
func Compile(f *File, m Match) *Policy {
	p := &Policy{tokens: Tokens{match: m}}
	if f == nil {
		return p
	}
	p.dialect = f.Dialect
	set := newRecordSet(f)
	if f.Dialect == RFC9309 {
		p.merge(f, set)
	} else {
		p.inOrder(f, set)
	}
	set.finish()
	p.gates = newTimeGates(f.TimeGates)
	p.sitemaps = linksIn(f.Sitemaps, "")
	p.licenses = linksIn(f.Fields, "license")
	return p
}

// named is a token with its places in the file, in file order and one for each group.
type named struct {
	text   string // the token in small letters
	places []place
}

type place struct{ group, token int }

func (p place) in(f *File) *Token { return &f.Groups[p.group].Tokens[p.token] }

// merge makes one binding of all records with the same token (RFC 9309, section
// 2.2.1). A longer token ranks before a shorter one.
func (p *Policy) merge(f *File, set *recordSet) {
	all := namedIn(f)
	slices.SortStableFunc(all, func(a, b named) int { return cmp.Compare(len(b.text), len(a.text)) })
	p.bindings = make([]Binding, 0, len(all))
	words := make([]index.Word, 0, len(all))
	var ids []int
	for _, n := range all {
		ids = readable(f, n.places, ids[:0])
		first := n.places[0].in(f)
		for _, at := range n.places {
			if at.group == ids[0] {
				first = at.in(f)
			}
		}
		b := Binding{token: first, record: set.record(ids)}
		if n.text == "*" {
			p.fallback = new(b)
			continue
		}
		words = append(words, index.Word{Text: n.text, Rank: uint32(len(p.bindings))})
		p.bindings = append(p.bindings, b)
	}
	p.tokens.index(words)
}

// namedIn returns the tokens of the file in the order of their first places.
func namedIn(f *File) []named {
	tokens := 0
	for _, g := range f.Groups {
		tokens += len(g.Tokens)
	}
	all := make([]named, 0, tokens)
	at := make(map[string]int, tokens)
	var places index.Arena[place]
	for id, g := range f.Groups {
		if g.passedOver(f.Dialect) {
			continue
		}
		for j, t := range g.Tokens {
			text := fold(t.Value)
			i, found := at[text]
			if !found {
				i = len(all)
				at[text] = i
				all = append(all, named{text: text})
			}
			switch n := &all[i]; {
			case n.places == nil:
				n.places = places.List(place{id, j})
			case n.places[len(n.places)-1].group != id:
				n.places = append(n.places, place{id, j})
			}
		}
	}
	return all
}

// readable appends to ids the groups at the places that are read: those of
// version 2 when there are any, for the two readings cannot be merged.
func readable(f *File, places []place, ids []int) []int {
	for _, at := range places {
		if readingOf(f.Dialect, f.Groups[at.group]) == readVersion2 {
			ids = append(ids, at.group)
		}
	}
	if len(ids) > 0 {
		return ids
	}
	for _, at := range places {
		ids = append(ids, at.group)
	}
	return ids
}

// inOrder makes one binding of each User-agent line, and the first that fits a
// robot binds it (the 1996 draft, section 3.2.1).
func (p *Policy) inOrder(f *File, set *recordSet) {
	var words []index.Word
	var values []string
	seen := make(map[string]bool)
	for id, g := range f.Groups {
		if g.passedOver(f.Dialect) {
			continue
		}
		for i := range g.Tokens {
			t := &g.Tokens[i]
			b := Binding{token: t, record: set.alone(id)}
			if t.Value == "*" {
				if p.fallback == nil {
					p.fallback = new(b)
				}
				continue
			}
			if text := fold(t.Value); !seen[text] {
				seen[text] = true
				words = append(words, index.Word{Text: text, Rank: uint32(len(p.bindings))})
			}
			p.bindings = append(p.bindings, b)
			values = append(values, t.Text())
		}
	}
	p.tokens.index(words)
	p.tokens.lines = newUserAgentLines(values)
}

// Find returns the record that names r, nil when none does. It never returns the
// default record.
func (p *Policy) Find(r Robot) *Binding {
	if p == nil {
		return nil
	}
	return p.binding(p.tokens.find(r))
}

// FindProgram returns the record that names r, an app, a library or a service, nil when none
// does: one with a token that equals one of its product tokens or is its beginning before a
// hyphen ("libwww" and "libwww-perl"). With whole, and with MatchToken, only equal tokens
// count. It never returns the default record.
func (p *Policy) FindProgram(r Robot, whole bool) *Binding {
	if p == nil {
		return nil
	}
	return p.binding(p.tokens.program(r, whole))
}

// Names reports whether the token, of the policy's file, names r: whether Find would find
// a record for r if the file named nobody else. A token of "*" names no robot.
func (p *Policy) Names(t Token, r Robot) bool {
	alone, ok := p.alone(t)
	return ok && alone.find(r) != index.NoWord
}

// NamesProgram is Names for an app, a library or a service, as FindProgram has it.
func (p *Policy) NamesProgram(t Token, r Robot, whole bool) bool {
	alone, ok := p.alone(t)
	return ok && alone.program(r, whole) != index.NoWord
}

// alone returns the tokens of a file that has only t; not ok if t names no robot.
func (p *Policy) alone(t Token) (alone Tokens, ok bool) {
	if p == nil || t.Value == "*" || t.Value == "" {
		return alone, false
	}
	alone.match = p.tokens.match
	alone.index([]index.Word{{Text: fold(t.Value)}})
	if p.dialect != RFC9309 {
		alone.lines = newUserAgentLines([]string{t.Text()})
	}
	return alone, true
}

// Named returns the record whose token is token, without regard to case, or nil.
// It never returns the default record.
func (p *Policy) Named(token string) *Binding {
	if p == nil || len(p.bindings) == 0 {
		return nil
	}
	return p.binding(p.tokens.exact(token))
}

func (p *Policy) binding(rank uint32) *Binding {
	if rank == index.NoWord {
		return nil
	}
	return &p.bindings[rank]
}

// Default returns the record for every robot that no other one names, or nil.
func (p *Policy) Default() *Binding {
	if p == nil {
		return nil
	}
	return p.fallback
}

// Bind returns the record that binds r: the one that names it, else the default
// one, else nil.
func (p *Policy) Bind(r Robot) *Binding {
	if b := p.Find(r); b != nil {
		return b
	}
	return p.Default()
}
