package caddymodule

import (
	"cmp"
	"net/url"
	"time"

	"github.com/caddy-robots/caddy-robots/robotsrules"
)

// policyFigures are the numbers of one robots.txt in force. Where one label stands for
// several hosts, they are the highest of each.
type policyFigures struct {
	loaded      bool // ever
	age         time.Duration
	rules       int
	diagnostics [robotsrules.Error + 1]int
}

// add takes up the figures of another host.
func (f *policyFigures) add(other policyFigures) {
	f.loaded = f.loaded || other.loaded
	f.age, f.rules = max(f.age, other.age), max(f.rules, other.rules)
	for i := range f.diagnostics {
		f.diagnostics[i] = max(f.diagnostics[i], other.diagnostics[i])
	}
}

// collectPolicies sends the figures of the robots.txts in force. Of several handlers of a
// site, those of the newest count.
func (c collector) collectPolicies(out samples) {
	known := make(map[string]bool)
	for _, h := range c.handlers() {
		for site, f := range h.policies() {
			if known[site] {
				continue
			}
			known[site] = true
			if f.loaded {
				out.gauge(policyAgeDesc, f.age.Seconds(), site)
			}
			out.gauge(policyRulesDesc, float64(f.rules), site)
			for severity, n := range f.diagnostics {
				out.gauge(policyDiagnosticsDesc, float64(n), site, robotsrules.Severity(severity).String())
			}
		}
	}
}

// policies returns the figures of the handler's sites, by label; none before Caddy has
// started.
func (h *Handler) policies() map[string]*policyFigures {
	if h.watched.places.Load() == nil {
		return nil
	}
	figures := make(map[string]*policyFigures)
	now := h.now()
	for _, st := range h.loader.states() {
		if st.edition == nil {
			continue
		}
		f := st.edition.figures()
		if !st.loaded.IsZero() {
			f.loaded, f.age = true, max(0, now.Sub(st.loaded))
		}
		for _, place := range h.placesOf(st.host) {
			if figures[place.name] == nil {
				figures[place.name] = new(policyFigures)
			}
			figures[place.name].add(f)
		}
	}
	return figures
}

// figures returns the numbers of the text.
func (rs *ruleset) figures() (f policyFigures) {
	f.rules = rs.rules()
	for _, d := range rs.diagnostics {
		f.diagnostics[d.Severity]++
	}
	return f
}

// rules returns how many rules the text has.
func (rs *ruleset) rules() int {
	rules := 0
	for _, group := range rs.file.Groups {
		rules += len(group.Rules)
	}
	return rules
}

// collectShares sends whether the shared stores answer. Where one server is shared in
// several ways, all of them must.
func (c collector) collectShares(out samples) {
	up := make(map[string]float64)
	fleets.Range(func(_, value any) bool {
		f := value.(*fleet)
		state := 1.0
		if f.failover.Down() {
			state = 0
		}
		if other, ok := up[f.place]; ok {
			state = min(state, other)
		}
		up[f.place] = state
		return true
	})
	for place, state := range up {
		out.gauge(shareDesc, state, place)
	}
}

// sharePlace is where the shared store of a URL is, without user and password.
func sharePlace(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "" // the store could not be opened either
	}
	return labelOf(cmp.Or(u.Host, u.Path))
}
