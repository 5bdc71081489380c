package robotsrules

import "strings"

// Part is one of the texts that Join makes one robots.txt of.
type Part struct {
	// Name says where the text comes from, for whoever reads the robots.txt.
	Name string
	// Text is the text.
	Text string
	// OnlyDisallowAll keeps only records that name robots and have no other rule than "Disallow:
	// /". So a list from elsewhere can shut out robots, and can do nothing else.
	OnlyDisallowAll bool
}

// maxLeftOut is how many of the lines that are left out of one part are told of.
const maxLeftOut = 100

// Join makes one robots.txt of several texts, each under a comment line with its name. Every record
// says what it says in its own part: no part adds lines to a record of another, and a part that
// cannot be read does not change the others. Options.MaxBytes holds for each part; the joined text
// is meant to be read as a whole.
//
// The diagnostics are about the parts, and about how one part changes another; their lines are
// those of the joined text. Parse finds the other diagnostics.
//
// A single part that is not limited stays as it is, except for the text after Options.MaxBytes.
func Join(parts []Part, o Options) (text string, diagnostics []Diagnostic) {
	j := &joiner{options: o, line: 1, named: make(map[string]mention)}
	if len(parts) == 1 && !parts[0].OnlyDisallowAll {
		return j.single(parts[0].Text)
	}
	for i, p := range parts {
		if i > 0 {
			j.write("")
		}
		j.part(p, i, i == len(parts)-1)
	}
	if j.out.Len() > DefaultMaxBytes {
		j.findings.add(j.line-1, findBigJoin, detail{number: j.out.Len()})
	}
	return j.out.String(), j.findings.sorted()
}

// joiner is the state between two parts.
type joiner struct {
	options  Options
	out      strings.Builder
	line     int // the number of the next line
	findings diagnostics
	named    map[string]mention // who is named, in small letters
}

// mention is where a robot is named first, and the last part that was told of it.
type mention struct {
	name string // of the part
	line int
	told int
}

// single cuts the only part to size: what is served must be no more than what is read.
func (j *joiner) single(text string) (string, []Diagnostic) {
	limit := j.options.MaxBytes
	if limit <= 0 {
		limit = DefaultMaxBytes
	}
	if len(text) <= limit {
		return text, nil
	}
	raw := text
	text = raw[:wholeLines(raw, limit)]
	if rest := raw[len(text):]; skipLineEnd(rest) < len(rest) {
		j.findings.add(lineAfter(text), findCut, detail{number: limit})
	}
	return text, j.findings.sorted()
}

// write appends one line.
func (j *joiner) write(line string) {
	j.out.WriteString(line)
	j.out.WriteByte('\n')
	j.line++
}

// part writes one part; number is its place among them.
func (j *joiner) part(p Part, number int, last bool) {
	name, heading := oneLine(p.Name), j.line
	j.write("# from " + name)
	var ofPart diagnostics
	text := sniff(p.Text, j.options.MaxBytes, &ofPart)
	read := &parser{file: &File{Dialect: j.options.Dialect}}
	read.lines(text)

	var at []int // the lines of the part in the joined text, by number
	if p.OnlyDisallowAll {
		at = j.limited(text, read.file, name, heading)
	} else {
		at = j.whole(text, number == 0)
	}
	for _, d := range ofPart.list {
		d.Line, d.Message = heading, name+": "+d.Message
		j.findings.put(d)
	}
	for _, g := range read.file.Groups {
		for _, token := range g.Tokens {
			if line := at[token.Line]; line > 0 {
				j.mention(token.Value, mention{name, line, number})
			}
		}
	}
	if !last && !p.OnlyDisallowAll && read.group != nil && !read.body {
		j.findings.add(j.line, findOpenEnd, detail{})
		j.write("Disallow:")
	}
}

// oneLine makes a name fit for a comment.
func oneLine(name string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7F {
			return ' '
		}
		return r
	}, name)
}

// whole writes all lines. Those that belong to no record or TimeGate of their own part
// would belong to one of the part before, so they become comments.
func (j *joiner) whole(text string, first bool) (at []int) {
	at = []int{0}
	record, gate := first, first
	for s := (scanner{text: text}); ; {
		raw, ok := s.next()
		if !ok {
			return at
		}
		l := line{number: s.number, text: withoutComment(raw)}
		if l.text != "" && len(raw) <= maxLine {
			l.lex(j.options.Dialect)
		}
		switch {
		case l.field == userAgent:
			record = true
		case l.field == timeGate:
			gate = true
		case !record && l.field.ofRecord(), !gate && l.field == archived:
			j.findings.add(j.line, findOrphan, detail{text: l.text})
			raw = "# " + raw
		}
		at = append(at, j.line)
		j.write(raw)
	}
}

// limited writes the records that only disallow all, and comments.
func (j *joiner) limited(text string, file *File, name string, heading int) (at []int) {
	passes := make(map[int]bool) // by line of the part
	for _, g := range file.Groups {
		if !disallowsAll(g) {
			continue
		}
		for _, token := range g.Tokens {
			passes[token.Line] = true
		}
		for _, rule := range g.Rules {
			passes[rule.Line] = true
		}
	}
	at = []int{0}
	leftOut, blank := 0, false
	for s := (scanner{text: text}); ; {
		raw, ok := s.next()
		if !ok {
			break
		}
		content := withoutComment(raw)
		if content != "" && !passes[s.number] {
			if leftOut++; leftOut <= maxLeftOut {
				j.findings.add(heading, findLeftOut, detail{number: s.number, field: name, text: content})
			}
			at = append(at, 0)
			continue
		}
		if blank && trim(raw) == "" {
			at = append(at, 0) // of what stood between, nothing is left
			continue
		}
		blank = trim(raw) == ""
		at = append(at, j.line)
		j.write(raw)
	}
	if leftOut > maxLeftOut {
		j.findings.add(heading, findMoreLeftOut, detail{number: leftOut - maxLeftOut, field: name})
	}
	return at
}

// disallowsAll reports whether the record names robots and says nothing to them but
// "Disallow: /". A Robot-version could make that mean the start page only (the 1996 proposal 2.0.0).
func disallowsAll(g *Group) bool {
	for _, token := range g.Tokens {
		if token.Value == "*" {
			return false
		}
	}
	for _, rule := range g.Rules {
		if rule.Kind != Disallow || rule.Pattern() != "/" {
			return false
		}
	}
	return len(g.Tokens) > 0 && len(g.Rules) > 0 && g.Version() == (Version{})
}

// mention notes where a robot is named, and tells what comes of it if another part has
// named it before.
func (j *joiner) mention(token string, m mention) {
	key := strings.ToLower(token)
	first, ok := j.named[key]
	if ok && first.told == m.told {
		return
	}
	if token == "*" && m.told > 0 {
		j.findings.add(m.line, findForeignStar, detail{})
	}
	if !ok {
		j.named[key] = m
		return
	}
	what := findNamedBefore
	if j.options.Dialect == RFC9309 {
		what = findNamedTwice
	}
	j.findings.add(m.line, what, detail{text: token, field: first.name, number: first.line})
	first.told = m.told
	j.named[key] = first
}
