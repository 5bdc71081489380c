package robotsrules

import "strings"

// TimeGate is a TimeGate line and the Archived lines that follow it (the Memento extensions).
type TimeGate struct {
	// URL is what the addresses of all its time gates begin with, as written.
	URL string
	// Line is the number of the line, from 1.
	Line int
	// Archived says for which resources the time gate answers.
	Archived []Archived
}

// Archived is an Archived line (the Memento extensions): a host and an optional path.
type Archived struct {
	// Value is the line's value as written.
	Value string
	// Line is the number of the line, from 1.
	Line int
	// All is set for "*": every resource.
	All bool
	// Suffix is set when Host is the end of a host name, such as ".be".
	Suffix bool
	// Host is the host, or its end with the leading dot; empty when All.
	Host string
	// Path is what the resource's path begins with, such as "/" or "/w/", or
	// empty when the line has none.
	Path string
}

// parseArchived reads the value of an Archived line.
func parseArchived(value string) (Archived, bool) {
	a := Archived{Value: value}
	if value == "*" {
		a.All = true
		return a, true
	}
	a.Host = value
	if i := strings.IndexByte(value, '/'); i >= 0 {
		a.Host, a.Path = value[:i], value[i:]
	}
	a.Suffix = strings.HasPrefix(a.Host, ".")
	named := strings.Trim(a.Host, ".") != "" && !strings.ContainsAny(a.Host, blanks+"*")
	return a, named
}

// isHTTP reports whether s is an absolute http or https URI with a host.
func isHTTP(s string) bool {
	rest, ok := cutScheme(s)
	if !ok || strings.ContainsAny(s, blanks) {
		return false
	}
	scheme := s[:len(s)-len(rest)]
	http := strings.EqualFold(scheme, "http://") || strings.EqualFold(scheme, "https://")
	return http && rest != "" && rest[0] != '/' && rest[0] != '?' && rest[0] != ':'
}

// cutScheme returns what follows a scheme such as "https://" at the beginning of
// s, and whether there is one.
func cutScheme(s string) (rest string, found bool) {
	scheme, rest, found := strings.Cut(s, "://")
	if !found || scheme == "" || strings.ContainsAny(scheme, "/?*"+blanks) {
		return s, false
	}
	return rest, true
}

func (p *parser) timeGate(l *line) {
	p.closeGate()
	p.gate = openGate{seen: true}
	if f := p.wrongGate(l.value); f != nil {
		p.gate.answered = true
		p.report(l.number, f, detail{field: "TimeGate", text: l.value,
			fix: string(AppendURI(nil, l.value)), number: maxTimeGates})
		return
	}
	p.file.TimeGates = append(p.file.TimeGates, TimeGate{URL: l.value, Line: l.number})
	p.gate.kept = &p.file.TimeGates[len(p.file.TimeGates)-1]
}

// wrongGate says what is wrong with the value of a TimeGate line, nil when nothing is.
func (p *parser) wrongGate(value string) *finding {
	switch {
	case !isHTTP(value):
		return findBadGate
	case len(value) > maxStated:
		return findLongValue
	case !isURI(value):
		return findNotURI
	case len(p.file.TimeGates) == maxTimeGates:
		return findManyGates
	}
	return nil
}

// openGate is the TimeGate line that Archived lines belong to.
type openGate struct {
	seen     bool
	kept     *TimeGate // nil when the line was not usable
	answered bool      // no complaint is due that Archived is missing
}

// closeGate complains about a TimeGate line without an Archived line: the Memento extensions
// ask for both.
func (p *parser) closeGate() {
	if p.gate.seen && !p.gate.answered {
		p.report(p.gate.kept.Line, findLoneGate, detail{})
	}
}

func (p *parser) archived(l *line) {
	if !p.gate.seen {
		p.report(l.number, findLoneArchived, detail{})
		return
	}
	p.gate.answered = true
	if rest, ok := cutScheme(l.value); ok {
		p.report(l.number, findArchivedScheme, detail{text: l.value, fix: rest})
		return
	}
	a, ok := parseArchived(l.value)
	if !ok {
		p.report(l.number, findBadArchived, detail{text: l.value})
		return
	}
	if p.gate.kept != nil {
		a.Line = l.number
		p.gate.kept.Archived = append(p.gate.kept.Archived, a)
	}
}
