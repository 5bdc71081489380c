package testutil

import (
	"maps"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

// Samples are values of counters and gauges by name and labels, as in
// `caddy_robots_policy_rules site=*`.
type Samples map[string]float64

// Gather returns what a registry that obeys all rules is told by a collector.
func Gather(tb testing.TB, collector prometheus.Collector) Samples {
	tb.Helper()
	registry := prometheus.NewPedanticRegistry()
	if err := registry.Register(collector); err != nil {
		tb.Fatal(err)
	}
	families, err := registry.Gather()
	if err != nil {
		tb.Fatal(err)
	}
	all := make(Samples)
	for _, family := range families {
		for _, m := range family.GetMetric() {
			name := family.GetName()
			for _, l := range m.GetLabel() {
				name += " " + l.GetName() + "=" + l.GetValue()
			}
			all[name] = m.GetCounter().GetValue() + m.GetGauge().GetValue()
		}
	}
	return all
}

// Expect fails the test unless a metric has just these samples, by their labels.
func (s Samples) Expect(tb testing.TB, name string, want Samples) {
	tb.Helper()
	got := make(Samples)
	for key, value := range s {
		if found, labels, _ := strings.Cut(key, " "); found == name {
			got[labels] = value
		}
	}
	if !maps.Equal(got, want) {
		tb.Errorf("%s: got %v, want %v", name, got, want)
	}
}
