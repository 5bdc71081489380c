package metrics

import (
	"fmt"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/caddy-robots/caddy-robots/internal/enforce"
	"github.com/caddy-robots/caddy-robots/internal/testutil"
	"github.com/caddy-robots/caddy-robots/robotsrules"
)

type series = testutil.Samples

// gather returns what a registry that obeys all rules is told.
func gather(t *testing.T, c *Counts, state State) series {
	t.Helper()
	return testutil.Gather(t, Collector{Counts: c, State: func() State { return state }})
}

func TestTheStateOfAConfigIsShown(t *testing.T) {
	one := &Figures{Rules: 2, Diagnostics: [robotsrules.Error + 1]int{robotsrules.Warning: 1}}
	one.Add(&Figures{Loaded: true, Age: 90 * time.Second, Rules: 1, Diagnostics: [robotsrules.Error + 1]int{robotsrules.Error: 3}})
	all := gather(t, NewCounts(), State{
		Policies: map[string]*Figures{"*": one, "never.example": {}},
		Shares:   map[string]bool{"127.0.0.1:1": false, "redis.example": true},
		Bans:     2, Held: 3, LedgerStored: time.UnixMilli(1_500), Caches: map[string]int{"hosts": 4},
	})
	for name, want := range map[string]series{
		"policy_age_seconds": {"site=*": 90},
		"policy_rules":       {"site=*": 2, "site=never.example": 0},
		"policy_diagnostics": {
			"severity=info site=*": 0, "severity=warning site=*": 1, "severity=error site=*": 3,
			"severity=info site=never.example": 0, "severity=warning site=never.example": 0, "severity=error site=never.example": 0,
		},
		"share_up": {"share=127.0.0.1:1": 0, "share=redis.example": 1}, "bans": {"": 2}, "held_requests": {"": 3},
		"ledger_stored_timestamp_seconds": {"": 1.5}, "cache_entries": {"cache=hosts": 4},
	} {
		all.Expect(t, "caddy_robots_"+name, want)
	}
	gather(t, NewCounts(), State{}).Expect(t, "caddy_robots_ledger_stored_timestamp_seconds", series{})
}

// BenchmarkScrape is what a scrape costs with the usual sites and robots.
func BenchmarkScrape(b *testing.B) {
	c := NewCounts()
	for site := range 20 {
		for robot := range 100 {
			c.robot(c.site(fmt.Sprint(site)), fmt.Sprint(robot)).requests[enforce.Allowed][served].Add(1)
		}
	}
	registry := prometheus.NewRegistry()
	if err := registry.Register(Collector{Counts: c, State: func() State { return State{} }}); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := registry.Gather(); err != nil {
			b.Fatal(err)
		}
	}
}
