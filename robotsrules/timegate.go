package robotsrules

import (
	"math/bits"
	"strings"
)

// maxTimeGates is how many TimeGate lines of a file are looked up.
const maxTimeGates = 64

// maxHost is the longest host that is looked for; longer ones are nobody's.
const maxHost = 256

// timeGates finds the time gates that answer for a resource (the Memento extensions).
type timeGates struct {
	urls       []string              // at most maxTimeGates
	everything uint64                // those for every resource; bit n stands for urls[n]
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
	host = view(buf[:len(host)])
	name := withoutPort(host)
	if len(name) < len(host) {
		set |= t.at(host, target, true) // an Archived line may name a port
	}
	name = strings.TrimSuffix(name, ".")
	for own := true; name != ""; own = false {
		set |= t.at(name, target, own)
		_, name, _ = strings.Cut(name, ".")
	}
	return set
}

// at returns the time gates of the Archived lines for just this host; own reports whether
// it is the resource's, or one above that.
func (t *timeGates) at(host, target string, own bool) (set uint64) {
	for _, c := range t.hosts[host] {
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
