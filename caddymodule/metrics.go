package caddymodule

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/caddy-robots/caddy-robots/internal/compliance"
	"github.com/caddy-robots/caddy-robots/internal/enforce"
)

// metrics is what is counted of this process. It outlives a config reload, and is safe for
// concurrent use.
type metrics struct {
	robots   atomic.Int64  // how many robotCounts there are
	newBans  atomic.Uint64 // by this process
	mu       sync.Mutex    // guards what follows
	sites    map[string]*siteCounts
	verified map[string]*verifications
}

// verifications are the outcomes of one claim, by status.
type verifications [enforce.Impostor + 1]atomic.Uint64

func newMetrics() *metrics {
	return &metrics{sites: make(map[string]*siteCounts), verified: make(map[string]*verifications)}
}

// verifications returns the outcomes of a claim, by its token.
func (m *metrics) verifications(token string) *verifications {
	token = labelOf(token)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.verified[token] == nil && len(m.verified) >= maxRobotsCounted {
		token = otherRobots
	}
	if m.verified[token] == nil {
		m.verified[token] = new(verifications)
	}
	return m.verified[token]
}

// newDesc makes the description of a metric.
func newDesc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("caddy_robots_"+name, help, labels, nil)
}

// The metrics. docs/metrics.md says more of each.
var (
	requestsDesc = newDesc("requests_total", "Requests of robots, by what they were judged to be.", "site", "robot", "verdict")
	readingsDesc = newDesc("robots_txt_reads_total", "Requests of robots for /robots.txt.", "site", "robot")

	policyAgeDesc         = newDesc("policy_age_seconds", "Time since the robots.txt in force was last loaded without error.", "site")
	policyRulesDesc       = newDesc("policy_rules", "Rules of the robots.txt in force.", "site")
	policyDiagnosticsDesc = newDesc("policy_diagnostics", "Diagnostics of the robots.txt in force.", "site", "severity")
	policyLoadsDesc       = newDesc("policy_loads_total", "Loads of robots.txt, by how they ended.", "site", "result")

	verificationsDesc = newDesc("verifications_total", "Requests that claim to be a robot which can be verified, by what was found.", "robot", "result")
	bansDesc          = newDesc("bans", "Bans in force.")
	newBansDesc       = newDesc("bans_total", "Bans that this process has made.")
	heldDesc          = newDesc("held_requests", "Requests that came too early and are held until their time.")
	shareDesc         = newDesc("share_up", "Whether the shared store answers (1) or this Caddy goes on by itself (0).", "share")
	cacheDesc         = newDesc("cache_entries", "What is remembered in memory.", "cache")
	storedDesc        = newDesc("ledger_stored_timestamp_seconds", "When the ledger was last stored, in Unix time.")
)

// collector shows what a shared knows as metrics, in the registry of every config that has a
// handler. Counters are kept by the process; the others are computed when they are asked for.
type collector struct{ *shared }

// register adds the metrics to a registry, unless another handler of the config has.
func (sh *shared) register(registry *prometheus.Registry) error {
	err := registry.Register(collector{sh})
	if known := (prometheus.AlreadyRegisteredError{}); errors.As(err, &known) {
		return nil
	}
	return err
}

// Describe implements prometheus.Collector.
func (collector) Describe(descs chan<- *prometheus.Desc) {
	for _, desc := range []*prometheus.Desc{
		requestsDesc, readingsDesc, policyAgeDesc, policyRulesDesc, policyDiagnosticsDesc, policyLoadsDesc,
		verificationsDesc, bansDesc, newBansDesc, heldDesc, shareDesc, cacheDesc, storedDesc,
	} {
		descs <- desc
	}
}

// Collect implements prometheus.Collector.
func (c collector) Collect(out chan<- prometheus.Metric) {
	now := time.Now()
	s := samples{out}
	for _, site := range c.metrics.allSites() {
		site.collect(s)
	}
	c.collectVerifications(s)
	c.collectPolicies(s)
	c.collectShares(s)
	s.gauge(bansDesc, float64(c.memory.Bans().Len(now)))
	s.counter(newBansDesc, c.metrics.newBans.Load())
	s.gauge(heldDesc, float64(c.waiting.len()))
	if stored := c.ledger.savedAt.Load(); stored != 0 {
		s.gauge(storedDesc, float64(stored)/1e3)
	}
	c.collectCaches(s)
}

// allSites returns the sites that are counted.
func (m *metrics) allSites() []*siteCounts {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := make([]*siteCounts, 0, len(m.sites))
	for _, site := range m.sites {
		all = append(all, site)
	}
	return all
}

// collect sends what is counted of the site. A verdict that no robot met has no sample.
func (s *siteCounts) collect(out samples) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	loads := uint64(0)
	for i := range s.loads {
		loads += s.loads[i].Load()
	}
	for i := range s.loads {
		if loads > 0 {
			out.counter(policyLoadsDesc, s.loads[i].Load(), s.name, loadResult(i).String())
		}
	}
	for _, robot := range s.robots {
		for verdict := range robot.requests {
			if n := robot.requests[verdict].Load(); n > 0 {
				out.counter(requestsDesc, n, s.name, robot.name, compliance.Verdict(verdict).String())
			}
		}
		if n := robot.readings.Load(); n > 0 {
			out.counter(readingsDesc, n, s.name, robot.name)
		}
	}
}

func (c collector) collectVerifications(out samples) {
	c.metrics.mu.Lock()
	defer c.metrics.mu.Unlock()
	for token, results := range c.metrics.verified {
		for status := range results {
			out.counter(verificationsDesc, results[status].Load(), token, enforce.Standing(status).String())
		}
	}
}

// collectCaches sends how much is remembered of clients and sites.
func (c collector) collectCaches(out samples) {
	hosts := 0
	for _, h := range c.handlers() {
		hosts += h.loader.sites.len()
	}
	addresses := 0
	c.mu.Lock()
	for _, dns := range c.resolvers {
		addresses += dns.Len()
	}
	c.mu.Unlock()
	rows, _ := c.ledger.Rows()
	for cache, entries := range map[string]int{
		"user_agents": c.crawlers.Len(), "hosts": hosts, "robots_txt": c.lastGood.len(), "paces": c.memory.Len(),
		"trapped": c.trapped.len(), "ledger_rows": rows, "addresses": addresses,
	} {
		out.gauge(cacheDesc, float64(entries), cache)
	}
}

// samples sends metrics.
type samples struct{ out chan<- prometheus.Metric }

func (s samples) counter(desc *prometheus.Desc, n uint64, labels ...string) {
	s.out <- prometheus.MustNewConstMetric(desc, prometheus.CounterValue, float64(n), labels...)
}

func (s samples) gauge(desc *prometheus.Desc, value float64, labels ...string) {
	s.out <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, labels...)
}
