package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/caddy-robots/caddy-robots/internal/compliance"
	"github.com/caddy-robots/caddy-robots/internal/enforce"
	"github.com/caddy-robots/caddy-robots/internal/policies"
	"github.com/caddy-robots/caddy-robots/robotsrules"
)

// newDesc makes the description of a metric.
func newDesc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("caddy_robots_"+name, help, labels, nil)
}

// The metrics. docs/metrics.md says more of each.
var (
	requestsDesc = newDesc("requests_total", "Requests of robots, by what they were judged to be and what became of them.", "site", "robot", "verdict", "outcome")
	readingsDesc = newDesc("robots_txt_reads_total", "Requests of robots for /robots.txt.", "site", "robot")

	policyAgeDesc         = newDesc("policy_age_seconds", "Time since the robots.txt in force was last loaded without error.", "site")
	policyFailingDesc     = newDesc("policy_failing", "Whether robots.txt could not be loaded the last time (1) or could (0).", "site")
	policyRulesDesc       = newDesc("policy_rules", "Rules of the robots.txt in force.", "site")
	policyDiagnosticsDesc = newDesc("policy_diagnostics", "Diagnostics of the robots.txt in force.", "site", "severity")
	policyLoadsDesc       = newDesc("policy_loads_total", "Loads of robots.txt, by how they ended.", "site", "result")

	verificationsDesc = newDesc("verifications_total", "Requests that claim to be a robot which can be verified, by what was found.", "robot", "result")
	bansDesc          = newDesc("bans", "Bans in force.")
	newBansDesc       = newDesc("bans_total", "Bans that this process has made.")
	heldDesc          = newDesc("held_requests", "Requests that came too early and are held until their time.")
	observingDesc     = newDesc("observing", "Whether observe was switched on while running, so that nobody is refused (1), or not (0).")
	shareDesc         = newDesc("share_up", "Whether the shared store answers (1) or this Caddy goes on by itself (0).", "share")
	cacheDesc         = newDesc("cache_entries", "What is remembered in memory.", "cache")
	storedDesc        = newDesc("ledger_stored_timestamp_seconds", "When the ledger was last stored, in Unix time.")
)

// State is what is computed when the metrics are asked for.
type State struct {
	Policies     map[string]*Figures // by the label of the site
	Shares       map[string]bool     // whether each shared store answers, by where it is
	Bans, Held   int
	Observing    bool      // switched on for all sites
	LedgerStored time.Time // zero: never
	Caches       map[string]int
}

// Figures are the numbers of one robots.txt in force. Where one label stands for several hosts,
// they are the highest of each.
type Figures struct {
	Loaded      bool // ever
	Failing     bool // the last load did not go well
	Age         time.Duration
	Rules       int
	Diagnostics [robotsrules.Error + 1]int // by severity
}

// Add takes up the figures of another host.
func (f *Figures) Add(other *Figures) {
	f.Loaded, f.Failing = f.Loaded || other.Loaded, f.Failing || other.Failing
	f.Age, f.Rules = max(f.Age, other.Age), max(f.Rules, other.Rules)
	for i := range f.Diagnostics {
		f.Diagnostics[i] = max(f.Diagnostics[i], other.Diagnostics[i])
	}
}

// Collector shows the counts of the process, and the state of one config, as metrics.
type Collector struct {
	Counts *Counts
	State  func() State
}

// Describe implements prometheus.Collector.
func (Collector) Describe(descs chan<- *prometheus.Desc) {
	for _, desc := range []*prometheus.Desc{
		requestsDesc, readingsDesc, policyAgeDesc, policyFailingDesc, policyRulesDesc, policyDiagnosticsDesc, policyLoadsDesc,
		verificationsDesc, bansDesc, newBansDesc, heldDesc, observingDesc, shareDesc, cacheDesc, storedDesc,
	} {
		descs <- desc
	}
}

// Collect implements prometheus.Collector.
func (c Collector) Collect(out chan<- prometheus.Metric) {
	s := samples{out}
	c.Counts.collect(s)
	state := c.State()
	for site, f := range state.Policies {
		if f.Loaded {
			s.gauge(policyAgeDesc, f.Age.Seconds(), site)
		}
		s.gauge(policyFailingDesc, number(f.Failing), site)
		s.gauge(policyRulesDesc, float64(f.Rules), site)
		for severity, n := range f.Diagnostics {
			s.gauge(policyDiagnosticsDesc, float64(n), site, robotsrules.Severity(severity).String())
		}
	}
	for share, up := range state.Shares {
		s.gauge(shareDesc, number(up), share)
	}
	s.gauge(bansDesc, float64(state.Bans))
	s.gauge(heldDesc, float64(state.Held))
	s.gauge(observingDesc, number(state.Observing))
	if !state.LedgerStored.IsZero() {
		s.gauge(storedDesc, float64(state.LedgerStored.UnixMilli())/1e3)
	}
	for cache, entries := range state.Caches {
		s.gauge(cacheDesc, float64(entries), cache)
	}
}

// collect sends what is counted of this process.
func (c *Counts) collect(out samples) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, site := range c.sites {
		site.collect(out)
	}
	for token, results := range c.verified {
		for standing := range results {
			out.counter(verificationsDesc, results[standing].Load(), token, enforce.Standing(standing).String())
		}
	}
	out.counter(newBansDesc, c.NewBans.Load())
}

// collect sends what is counted of the site. A verdict that no robot met has no sample.
func (s *Site) collect(out samples) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	loads := uint64(0)
	for i := range s.loads {
		loads += s.loads[i].Load()
	}
	for i := range s.loads {
		if loads > 0 {
			out.counter(policyLoadsDesc, s.loads[i].Load(), s.Name, policies.Result(i).String())
		}
	}
	for _, robot := range s.robots {
		for i := range robot.requests {
			for count := range robot.requests[i] {
				if n := robot.requests[i][count].Load(); n > 0 {
					verdict := compliance.Verdict(i)
					out.counter(requestsDesc, n, s.Name, robot.name, verdict.String(), verdict.Outcome(count == refused))
				}
			}
		}
		if n := robot.readings.Load(); n > 0 {
			out.counter(readingsDesc, n, s.Name, robot.name)
		}
	}
}

// number is 1 for what is so.
func number(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// samples sends metrics.
type samples struct{ out chan<- prometheus.Metric }

func (s samples) counter(desc *prometheus.Desc, n uint64, labels ...string) {
	s.out <- prometheus.MustNewConstMetric(desc, prometheus.CounterValue, float64(n), labels...)
}

func (s samples) gauge(desc *prometheus.Desc, value float64, labels ...string) {
	s.out <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, labels...)
}
