package crawler

import (
	"bytes"
	"slices"
	"strings"
)

// maxHosts is how many hosts one Identity can hold.
const maxHosts = 4

// GivesHost reports whether an address that the client gives is on this host, a name in small
// letters without port or an IPv6 address in brackets. A leading "www." and a final dot make no
// other host. It does not allocate.
func (id *Identity) GivesHost(host string) bool {
	return len(id.Hosts) > 0 && slices.Contains(id.Hosts, sameHost(host))
}

// sameHost returns the one form of a host that its owner may write in several ways.
func sameHost(host string) string {
	return strings.TrimPrefix(strings.TrimSuffix(host, "."), "www.")
}

// hosts returns the hosts of the addresses in a User-Agent that names no crawler. Whoever says
// that it is a robot is one, also on a host that it says is its own.
func (a *agent) hosts(tokens []token) (hosts []string) {
	if len(tokens) == maxTokens || slices.ContainsFunc(tokens, a.saysRobot) {
		return nil
	}
	for from := 0; from < len(a.lower) && len(hosts) < maxHosts; {
		to := from
		for to < len(a.lower) && !isBlank(a.lower[to]) && !isDivider(a.lower[to]) {
			to++
		}
		if host := hostOf(a.lower[from:to]); host != "" && !slices.Contains(hosts, host) {
			hosts = append(hosts, host)
		}
		from = to + 1
	}
	return hosts
}

// saysRobot reports whether t is the name of a known crawler, or says that it is a robot.
func (a *agent) saysRobot(t token) bool {
	return a.found&(robotWord|robotName|platformRobot) != 0 && a.hasRobotWord(t.from, t.to) || a.isKnownCrawler(t)
}

// hostOf returns the host of the address that a word holds, "" if it holds none.
func hostOf(w []byte) string {
	if i := nextURL(w, 0); i >= 0 {
		_, w, _ = bytes.Cut(w[i:], []byte("//"))
	} else if w = bytes.TrimLeft(w, "+"); !bytes.HasPrefix(w, []byte("www.")) {
		return ""
	}
	if end := bytes.IndexAny(w, "/?#\\\"'<>"); end >= 0 {
		w = w[:end]
	}
	w = w[bytes.LastIndexByte(w, '@')+1:] // behind a user's name
	if end := bytes.IndexByte(w, ']'); end >= 0 && w[0] == '[' {
		return string(w[:end+1])
	}
	host, _, _ := bytes.Cut(w, []byte(":"))
	return sameHost(string(host))
}
