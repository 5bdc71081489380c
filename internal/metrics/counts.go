// Package metrics counts what robots do, for Prometheus. Labels come from small closed sets: the
// sites that the config names, the robots that a robots.txt names or that are well known, and the
// verdicts. What a client makes up is never a label.
package metrics

import (
	"strings"
	"sync"
	"sync/atomic"

	"github.com/caddy-robots/caddy-robots/crawler"
	"github.com/caddy-robots/caddy-robots/internal/compliance"
	"github.com/caddy-robots/caddy-robots/internal/enforce"
	"github.com/caddy-robots/caddy-robots/internal/policies"
)

const (
	// maxSites and maxRobots bound the metrics: so many sites, and so many robots on all of
	// them together; a robot that comes to two sites counts twice. Only the config and the
	// robots.txt of a site can name them, but both may change for as long as Caddy runs. What
	// is beyond counts as "other".
	maxSites  = 1 << 16
	maxRobots = 1 << 16

	// maxLabel is how many bytes of a token a label repeats.
	maxLabel = 64
)

// Labels of robots that are none of robots.txt and not well known.
const (
	otherRobots    = compliance.OtherRobots
	impostorRobots = "impostor" // whom they claim to be is counted with the verifications
	trappedRobots  = compliance.Trapped
)

// Counts is what is counted of this process. It outlives a config reload, and is safe for
// concurrent use. NewCounts makes one.
type Counts struct {
	NewBans atomic.Uint64 // made by this process

	robots   atomic.Int64 // how many robotCounts there are
	mu       sync.Mutex   // guards what follows
	sites    map[string]*Site
	verified map[string]*verifications
}

// verifications are the outcomes of one claim, by standing.
type verifications [enforce.Impostor + 1]atomic.Uint64

// NewCounts returns counts of nothing.
func NewCounts() *Counts {
	return &Counts{sites: make(map[string]*Site), verified: make(map[string]*verifications)}
}

// Site is what is counted of one site. It is safe for concurrent use.
type Site struct {
	Name  string // its label
	loads [policies.Results]atomic.Uint64

	// recent caches counters by robot, once there are any.
	recent atomic.Pointer[[64]atomic.Pointer[recent]]

	mu     sync.RWMutex // guards robots
	robots map[string]*robotCounts
}

// robotCounts is what is counted of one robot on one site.
type robotCounts struct {
	name     string
	requests [compliance.Banned + 1][2]atomic.Uint64 // by verdict: those that were served, and those that were refused
	readings atomic.Uint64                           // of robots.txt
}

// The counts of a verdict: what was served, and what was refused.
const (
	served = iota
	refused
)

// recent is the counter of a robot that a record binds.
type recent struct {
	robot  uint64 // crawler.Identity.Hash
	token  string // of the record; "" for none
	counts *robotCounts
}

// Request counts a request that was judged.
func (c *Counts) Request(site *Site, v *enforce.Verdict) {
	counts := &c.of(site, v, v.Decision.Binding.Token()).requests[v.Kind]
	if v.Refused {
		counts[refused].Add(1)
	} else {
		counts[served].Add(1)
	}
}

// Reading counts a reading of robots.txt by a client whom the record with this token binds.
func (c *Counts) Reading(site *Site, v *enforce.Verdict, token string) {
	c.of(site, v, token).readings.Add(1)
}

// Load counts the end of a load of robots.txt.
func (s *Site) Load(result policies.Result) { s.loads[result].Add(1) }

// Claim makes the outcomes of a claim visible before there are any.
func (c *Counts) Claim(token string) { c.verifications(token) }

// Verification counts what was found of a client's claim.
func (c *Counts) Verification(p *enforce.Proof) {
	c.verifications(p.Claimed)[p.Standing].Add(1)
}

// verifications returns the outcomes of a claim, by its token.
func (c *Counts) verifications(token string) *verifications {
	token = label(token)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.verified[token] == nil && len(c.verified) >= maxRobots {
		token = otherRobots
	}
	if c.verified[token] == nil {
		c.verified[token] = new(verifications)
	}
	return c.verified[token]
}

// of returns where the requests of a robot are counted that the record with this token binds.
// It is cached, at the cost of some allocations for newcomers.
func (c *Counts) of(site *Site, v *enforce.Verdict, token string) *robotCounts {
	if v.Proof.IsImpostor() {
		return c.robot(site, impostorRobots)
	}
	if v.Capture != nil {
		return c.robot(site, trappedRobots)
	}
	who := v.Who
	cache := site.recent.Load()
	if cache == nil {
		cache = site.makeRecent()
	}
	slot := &cache[who.Hash%uint64(len(cache))]
	if s := slot.Load(); s != nil && s.robot == who.Hash && s.token == token && who.Hash != 0 {
		return s.counts
	}
	counts := c.robot(site, robotLabel(who, token))
	if who.Hash != 0 {
		kept := counts.name
		if token != kept {
			kept = strings.Clone(token) // not to keep the text that it is a part of
		}
		slot.Store(&recent{who.Hash, kept, counts})
	}
	return counts
}

// makeRecent returns the cache, made if need be: most of many sites get no robots.
func (s *Site) makeRecent() *[64]atomic.Pointer[recent] {
	s.recent.CompareAndSwap(nil, new([64]atomic.Pointer[recent]))
	return s.recent.Load()
}

// robotLabel names a robot by the record that names it, or else by its own name if it is well
// known. Anybody else is one of the others, or goes by its class. A token that is a well-known
// name is spelt as the robot spells it, so that it is the same on all sites.
func robotLabel(who *crawler.Identity, token string) string {
	if token != "" && token != "*" {
		if name, ok := crawler.WellKnown(strings.ToLower(token)); ok {
			return name
		}
		return label(token)
	}
	if who.Class != crawler.Robot {
		return who.Class.String()
	}
	if name, ok := crawler.WellKnown(who.Key); ok {
		return name
	}
	return otherRobots
}

// label makes a text of robots.txt or the config fit to be a label.
func label(text string) string {
	return strings.ToValidUTF8(text[:min(len(text), maxLabel)], "\uFFFD")
}

// site returns the counts of a site, by its pattern in the config.
func (c *Counts) site(pattern string) *Site {
	name := strings.Clone(strings.ToValidUTF8(pattern, "\uFFFD"))
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.sites[name]; s != nil {
		return s
	}
	if len(c.sites) >= maxSites {
		name = otherRobots
		if s := c.sites[name]; s != nil {
			return s
		}
	}
	s := &Site{Name: name, robots: make(map[string]*robotCounts)}
	c.sites[name] = s
	return s
}

// robot returns the counts of a robot on a site, by its label.
func (c *Counts) robot(site *Site, name string) *robotCounts {
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
	if c.robots.Load() >= maxRobots {
		name = otherRobots
		if counts = site.robots[name]; counts != nil {
			return counts
		}
	}
	c.robots.Add(1)
	counts = &robotCounts{name: strings.Clone(name)}
	site.robots[counts.name] = counts
	return counts
}
