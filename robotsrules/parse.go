package robotsrules

import (
	"slices"
	"strings"

	"github.com/caddy-robots/caddy-robots/robotsrules/internal/index"
)

// Parse reads a robots.txt. It never fails and never returns nil: what cannot be
// read becomes a diagnostic, and all the rest counts. The File keeps a copy of
// what it needs of text. The time it takes grows with the length of the text and
// with nothing else.
func Parse(text []byte, o Options) *File { return ParseString(string(text), o) }

// ParseString is Parse of a text that the File may keep.
func ParseString(text string, o Options) *File {
	p := &parser{file: &File{Dialect: o.Dialect}}
	p.lines(sniff(text, o.MaxBytes, &p.findings))
	p.closeGate()
	p.findMixedVersions()
	if !p.known && p.strange {
		p.findings = diagnostics{}
		p.report(1, findNoRobotsTxt, detail{})
	}
	p.file.Diagnostics = p.findings.sorted()
	return p.file
}

// lines takes all lines of a text.
func (p *parser) lines(text string) {
	s := scanner{text: text}
	for {
		raw, ok := s.next()
		if !ok {
			break
		}
		p.read(s.number, raw)
	}
	p.file.Groups = slices.Clip(slices.Clone(p.file.Groups))
	p.file.rules = slices.Clip(slices.Clone(p.rules)) // they have grown, and moved
	rest := p.file.rules
	for _, g := range p.file.Groups {
		n := len(g.Rules)
		g.Rules, rest = rest[:n:n], rest[n:]
	}
}

// parser is the state between two lines.
type parser struct {
	file     *File
	findings diagnostics
	group    *Group // the open record, nil when there is none
	body     bool   // the open record has a rule or a field of its own
	blank    int    // the blank line that closed the last record, 0 if none did
	known    bool   // a line is, or was meant to be, one of a robots.txt
	strange  bool   // a line is not
	gate     openGate

	rules []*Rule // of all records up to here

	// Where the next ones are kept, so that they lie together: one allocation
	// for many.
	ruleLines index.Arena[Rule]
	groups    index.Arena[Group]
	tokens    index.Arena[Token]
}

func (p *parser) report(number int, f *finding, d detail) {
	p.findings.add(number, f, d)
}

// read takes one line as it is in the file.
func (p *parser) read(number int, raw string) {
	if len(raw) > maxLine {
		p.report(number, findLongLine, detail{})
		return
	}
	text := withoutComment(raw)
	if len(text) < len(raw) {
		if name, _, found := strings.Cut(text, ":"); found && strings.EqualFold(trim(name), comment.String()) {
			text = trim(raw) // up to the end of the line, a # with it (the 1996 proposal 2.0.0)
		}
	}
	if text == "" {
		if len(trim(raw)) == 0 {
			p.blankLine(number)
		}
		return
	}
	l := line{number: number, text: text}
	if !l.lex(p.file.Dialect) {
		p.toldOfNoField(number, text)
		return
	}
	if l.field != unknownField {
		l.traits = traitsOf(l.value)
	}
	switch {
	case l.wrongColon():
		l.told, l.more = true, true
		p.report(number, findWrongColon, detail{field: l.field.String(), text: text, fix: trim(withoutColon(l.value))})
	case !l.colon:
		p.report(number, findNoColon, detail{field: l.field.String(), text: l.name, fix: l.value})
	case l.typo:
		p.report(number, findTypo, detail{field: l.field.String(), text: l.name, fix: l.value})
	}
	if l.traits&colonTrait != 0 && l.field != comment {
		if second := secondField(l.value); second >= 0 {
			l.told, l.more = true, true
			p.report(number, findSecondField, detail{text: text, fix: visible(withoutMarkup(firstField(l.value[second:])))})
		}
	}
	if l.field != unknownField {
		p.known = true
		p.checkHash(&l, raw)
		p.checkValue(&l)
	}
	p.take(&l)
}

// blankLine ends the record in the older dialects (the 1996 draft, section 3.2;
// the 1994 standard); in RFC 9309 blank lines mean nothing.
func (p *parser) blankLine(number int) {
	if p.file.Dialect != RFC9309 && p.group != nil {
		p.group, p.blank = nil, number
	}
}

// take files a line under the record or the file.
func (p *parser) take(l *line) {
	switch l.field {
	case userAgent:
		p.userAgent(l)
	case sitemap:
		p.checkLink(l)
		p.file.Sitemaps = append(p.file.Sitemaps, l.kept())
	case timeGate:
		p.timeGate(l)
	case archived:
		p.archived(l)
	case license:
		p.checkLink(l)
		p.file.Fields = append(p.file.Fields, l.kept())
	case host, cleanParam:
		p.file.Fields = append(p.file.Fields, l.kept())
	case contentSignal, contentUsage:
		p.content(l)
	case unknownField:
		p.unknown(l)
	default:
		p.ofRecord(l)
	}
}

// kept returns the line as a field that is not acted upon.
func (l *line) kept() Field {
	return Field{Name: l.name, Value: l.value, Line: l.number}
}

func (p *parser) userAgent(l *line) {
	if p.group == nil || p.body {
		p.group, p.body = p.groups.Put(Group{Line: l.number}), false
		p.file.Groups = append(p.file.Groups, p.group)
	}
	// Without a token the record stays open for its rules, so that they do not fall on the
	// record before.
	if l.more { // what follows it on its line was meant for it
		p.group.open().body = true
	}
	tokens, f, d := tokensOf(l.value, l.number)
	if f != nil && !l.told {
		p.report(l.number, f, d)
	}
	if p.group.Tokens == nil && len(tokens) == 1 {
		p.group.Tokens = p.tokens.List(tokens[0]) // most records have one
		return
	}
	p.group.Tokens = append(p.group.Tokens, tokens...)
}

// tokenOf returns the robot that the value of a User-agent line names, if it is neither a list
// nor a whole User-Agent: what stands before the first slash, without the stars that some put behind it.
func tokenOf(value string) string {
	name, _, _ := strings.Cut(value, "/")
	name = trim(name)
	if token := strings.TrimRight(name, "*"+blanks); token != "" || name == "" {
		return token
	}
	return "*"
}

func (p *parser) unknown(l *line) {
	p.toldOfUnknown(l)
	if p.group != nil {
		rest := p.group.open()
		rest.fields = push(rest.fields, l.kept())
		return
	}
	p.file.Fields = push(p.file.Fields, l.kept())
}

// push appends f and doubles the room when there is none, as a file may be
// nothing but unknown fields.
func push(fields []Field, f Field) []Field {
	if len(fields) == cap(fields) {
		fields = slices.Grow(fields, 1+len(fields))
	}
	return append(fields, f)
}

// ofRecord takes a line that only means something inside a record.
func (p *parser) ofRecord(l *line) {
	if p.group == nil {
		p.report(l.number, p.noRecord(), detail{field: l.field.String(), number: p.blank})
		return
	}
	first := !p.body
	p.body = true
	switch l.field {
	case allow:
		p.addRule(p.rule(l, Allow))
		return
	case disallow:
		p.addRule(p.rule(l, Disallow))
		return
	}
	rest := p.group.open()
	rest.body = true
	switch l.field {
	case noindex:
		rest.noindex = append(rest.noindex, p.rule(l, Noindex))
	case comment:
		rest.comments = append(rest.comments, l.kept())
	case robotVersion:
		p.version(l, first)
	case crawlDelay:
		p.crawlDelay(l, rest)
	case requestRate:
		p.requestRate(l, rest)
	case visitTime:
		p.visitTime(l, rest)
	}
}

func (p *parser) noRecord() *finding {
	if p.blank > 0 {
		return findAfterBlank
	}
	return findNoRecord
}

func (p *parser) rule(l *line, k Kind) *Rule {
	p.checkPattern(l)
	return p.ruleLines.Put(Rule{
		Kind: k, literal: l.traits&patternTrait == 0, value: uint16(len(l.text) - len(l.value)), Line: l.number, Text: l.text,
	})
}

// addRule adds a rule to the open record.
func (p *parser) addRule(r *Rule) {
	p.rules = append(p.rules, r)
	p.group.Rules = p.rules[len(p.rules)-len(p.group.Rules)-1:]
}
