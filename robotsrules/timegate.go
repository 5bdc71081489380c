package robotsrules

import (
	"bytes"
	"math/bits"
	"strings"
)

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

// maxTimeGates is how many TimeGate lines of a file are looked up.
const maxTimeGates = 64

// maxHost is the longest host that is looked for; longer ones are nobody's.
const maxHost = 256

// timeGates finds the time gates that answer for a resource (the Memento extensions).
type timeGates struct {
	urls       []string              // at most maxTimeGates
	everything uint64                // those for every resource; bit n is for urls[n]
	hosts      map[string][]coverage // by host in small letters, without a leading dot
}

// coverage is an Archived line ready to be compared.
type coverage struct {
	path  string // canonical
	gate  uint64 // the bit of the time gate
	below bool   // it covers the hosts below this one too
}

func newTimeGates(gates []TimeGate) *timeGates {
	if len(gates) == 0 {
		return nil
	}
	t := &timeGates{hosts: make(map[string][]coverage)}
	for i, g := range gates[:min(len(gates), maxTimeGates)] {
		t.urls = append(t.urls, g.URL)
		for _, a := range g.Archived {
			if a.All {
				t.everything |= 1 << i
				continue
			}
			host := fold(strings.Trim(a.Host, "."))
			t.hosts[host] = append(t.hosts[host], coverage{canonical(a.Path), 1 << i, a.Suffix})
		}
	}
	return t
}

// TimeGates appends to dst the base URLs of the time gates that answer for a resource,
// in file order: those of the TimeGate lines with an Archived line that covers it. Host
// is as in a Host header, with a port or without; target is its path and query. A host
// with a leading dot covers itself and all hosts below it, a path all that begin with
// it. TimeGates takes time in proportion to the Archived lines of the host and of those
// above it, and does not allocate but for dst.
func (p *Policy) TimeGates(dst []string, host, target string) []string {
	if p == nil || p.gates == nil {
		return dst
	}
	for set := p.gates.covering(host, target); set != 0; set &= set - 1 {
		dst = append(dst, p.gates.urls[bits.TrailingZeros64(set)])
	}
	return dst
}

func (t *timeGates) covering(host, target string) uint64 {
	set := t.everything
	if len(t.hosts) == 0 || len(host) > maxHost {
		return set
	}
	var buf [maxHost]byte
	for i := range len(host) {
		buf[i] = lower[host[i]]
	}
	folded := buf[:len(host)]
	name := folded[:len(withoutPort(host))]
	if len(name) < len(host) {
		set |= t.at(folded, target, true) // an Archived line may name a port
	}
	name = bytes.TrimSuffix(name, []byte("."))
	for own := true; len(name) > 0; own = false {
		set |= t.at(name, target, own)
		_, name, _ = bytes.Cut(name, []byte("."))
	}
	return set
}

// at returns the time gates of the Archived lines for just this host, which is that of the
// resource itself if own, and else one above it.
func (t *timeGates) at(host []byte, target string, own bool) (set uint64) {
	for _, c := range t.hosts[string(host)] {
		if (own || c.below) && set&c.gate == 0 && beginsWith(target, c.path) {
			set |= c.gate
		}
	}
	return set
}

// withoutPort cuts the port off a host.
func withoutPort(host string) string {
	if colon := strings.LastIndexByte(host, ':'); colon >= 0 && strings.IndexByte(host[colon:], ']') < 0 {
		return host[:colon]
	}
	return host
}

// beginsWith reports whether target begins with path, which is canonical, when it is
// brought to canonical text itself. A missing path is /.
func beginsWith(target, path string) bool {
	if target == "" || target[0] != '/' {
		if path == "" {
			return true
		}
		path = path[1:] // its slash
	}
	for path != "" {
		if target == "" {
			return false
		}
		c, n, encoded := target[0], 1, false
		if c == '%' {
			if decoded, ok := unescape(target); ok {
				c, n, encoded = decoded, len("%xx"), true
			}
		}
		target = target[n:]
		if plain[c] && !(encoded && c == '/') {
			if path[0] != c {
				return false
			}
			path = path[1:]
			continue
		}
		if len(path) < len("%xx") || path[0] != '%' || path[1] != capitalHex[c>>4] || path[2] != capitalHex[c&15] {
			return false
		}
		path = path[len("%xx"):]
	}
	return true
}
