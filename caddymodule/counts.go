package caddymodule

import (
	"net/http"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-robots/caddy-robots/crawler"
	"github.com/caddy-robots/caddy-robots/internal/compliance"
	"github.com/caddy-robots/caddy-robots/internal/enforce"
)

const (
	// maxSitesCounted and maxRobotsCounted bound the metrics: so many sites, and so many robots
	// on all of them together; a robot that comes to two sites counts twice. Only the
	// config and the robots.txt of a site can name them, but both may change for as long as Caddy
	// runs. What is beyond counts as "other".
	maxSitesCounted  = 1024
	maxRobotsCounted = 8192

	// maxLabel is how many octets of a token a label repeats.
	maxLabel = 64
)

// Labels of robots that are none of robots.txt and not well known.
const (
	otherRobots    = compliance.OtherRobots
	impostorRobots = "impostor" // whom they claim to be is counted with the verifications
)

// siteCounts is what is counted of one site. It is safe for concurrent use.
type siteCounts struct {
	name  string
	loads [loadResults]atomic.Uint64

	// seen remembers as whom the robots that came last are counted.
	seen [64]atomic.Pointer[seen]

	mu     sync.RWMutex // guards robots
	robots map[string]*robotCounts
}

// robotCounts is what is counted of one robot on one site.
type robotCounts struct {
	name     string
	requests [compliance.Banned + 1]atomic.Uint64 // by verdict
	readings atomic.Uint64                        // of robots.txt
}

// seen says as whom a robot is counted that a record binds.
type seen struct {
	robot  uint64 // crawler.Identity.Hash
	token  string // of the record; "" for none
	counts *robotCounts
}

// count counts a judged request.
func (h *Handler) count(r *http.Request, host string, j *judgement) {
	h.countsOf(r, host, j, j.decision.Binding.Token()).requests[j.verdict].Add(1)
}

// countReading counts a reading of robots.txt by one whom the record with this token binds.
func (h *Handler) countReading(r *http.Request, host string, j *judgement, token string) {
	h.countsOf(r, host, j, token).readings.Add(1)
}

// signatures is as whom all those are counted that sign their requests: anybody can, by the
// name of any host of his own.
const signatures = "signature"

// countProof counts what was found of a client's claim, unless a handler before this one has.
func (h *Handler) countProof(j *judgement) {
	p := &j.proof
	if p.claimed == "" {
		return
	}
	if _, counted := proofIn(j.vars.all); counted {
		return
	}
	if c := h.prover.claims[p.claimed]; c != nil {
		c.found[p.status].Add(1)
		return
	}
	h.shared.metrics.verifications(signatures)[p.status].Add(1)
}

// countsOf returns where a request is counted.
func (h *Handler) countsOf(r *http.Request, host string, j *judgement, token string) *robotCounts {
	p := h.watched.places.Load()
	if p == nil {
		server, _ := r.Context().Value(caddyhttp.ServerCtxKey).(*caddyhttp.Server)
		p = h.settle(server)
	}
	site, m := p.of(host), h.shared.metrics
	if j.proof.claimed != "" && j.proof.status == enforce.Impostor {
		return m.robot(site, impostorRobots)
	}
	return m.countsOf(site, j.who, token)
}

// settle finds the places of the handler's server, which has started.
func (h *Handler) settle(server *caddyhttp.Server) *places {
	h.watched.places.CompareAndSwap(nil, findPlaces(server, h, h.shared.metrics))
	return h.watched.places.Load()
}

// countsOf returns where the requests of a robot are counted that the record with this token
// binds. What it comes to is remembered, at the cost of some allocations for newcomers.
func (m *metrics) countsOf(site *siteCounts, who *crawler.Identity, token string) *robotCounts {
	slot := &site.seen[who.Hash%uint64(len(site.seen))]
	if s := slot.Load(); s != nil && s.robot == who.Hash && s.token == token && who.Hash != 0 {
		return s.counts
	}
	counts := m.robot(site, countedAs(who, token))
	if who.Hash != 0 {
		kept := counts.name
		if token != kept {
			kept = strings.Clone(token) // not to keep the text that it is a part of
		}
		slot.Store(&seen{who.Hash, kept, counts})
	}
	return counts
}

// countedAs names a robot by the record that names it, or else by its own name if it is well
// known. Anybody else is one of the others, or goes by its class. A token that is a
// well-known name is spelt as the robot spells it, so that it is the same on all sites.
func countedAs(who *crawler.Identity, token string) string {
	if token != "" && token != "*" {
		if name, ok := crawler.WellKnown(strings.ToLower(token)); ok {
			return name
		}
		return labelOf(token)
	}
	if who.Class != crawler.Robot {
		return who.Class.String()
	}
	if name, ok := crawler.WellKnown(who.Key); ok {
		return name
	}
	return otherRobots
}

// labelOf makes a text of robots.txt or the config fit to be a label.
func labelOf(text string) string {
	return strings.ToValidUTF8(text[:min(len(text), maxLabel)], "\uFFFD")
}

// site returns the counts of a site, by its pattern in the config.
func (m *metrics) site(pattern string) *siteCounts {
	name := strings.Clone(strings.ToValidUTF8(pattern, "\uFFFD"))
	m.mu.Lock()
	defer m.mu.Unlock()
	if s := m.sites[name]; s != nil {
		return s
	}
	if len(m.sites) >= maxSitesCounted {
		name = otherRobots
		if s := m.sites[name]; s != nil {
			return s
		}
	}
	s := &siteCounts{name: name, robots: make(map[string]*robotCounts)}
	m.sites[name] = s
	return s
}

// robot returns the counts of a robot on a site, by its label.
func (m *metrics) robot(site *siteCounts, name string) *robotCounts {
	site.mu.RLock()
	counts := site.robots[name]
	site.mu.RUnlock()
	if counts != nil {
		return counts
	}
	site.mu.Lock()
	defer site.mu.Unlock()
	if counts = site.robots[name]; counts != nil {
		return counts
	}
	if m.robots.Load() >= maxRobotsCounted {
		name = otherRobots
		if counts = site.robots[name]; counts != nil {
			return counts
		}
	}
	m.robots.Add(1)
	counts = &robotCounts{name: strings.Clone(name)}
	site.robots[counts.name] = counts
	return counts
}
