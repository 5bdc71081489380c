package bench

import (
	"fmt"
	"net/http"
	"runtime/debug"
	"testing"
)

// many is more User-Agents than are remembered.
const many = 20_000

// BenchmarkGrowth is what a request costs when there are more records, rules, User-Agents, hosts and
// directives.
func BenchmarkGrowth(b *testing.B) {
	b.Run("records", func(b *testing.B) {
		grow(b, "records", texts(b, func(n int) string {
			return records(n) + "\nUser-agent: " + allowed + "\nRequest-rate: 1000000/1s\nDisallow: /private/\n"
		}))
	})
	for _, kind := range []string{"literal", "wildcards"} {
		b.Run(kind, func(b *testing.B) {
			grow(b, kind, texts(b, func(n int) string { return rules(kind, n) }))
		})
	}
	b.Run("agents", func(b *testing.B) {
		servers := run(b, "", inFront["robots"](robots(b, 500)))
		var stages []stage
		for _, n := range []int{10, 1000, 10_000, many, 10} { // those who were known before the many are last
			stages = append(stages, stage{n, servers[0], servers[1], &stream{all: requests(browsers(n), "site.example")}})
		}
		grow(b, "agents", stages)
	})
	b.Run("hosts", func(b *testing.B) {
		servers := run(b, "", "\trobots\n", "\trobots\n", "\trobots\n", "\trobots\n") // the rules are those of each host
		var stages []stage
		for i, n := range []int{1, 10, 1000, 50_000} {
			stages = append(stages, stage{n, servers[0], servers[1+i], &stream{all: requests(traffic["allowed"], "site.example"), hosts: hosts(n)}})
		}
		grow(b, "hosts", stages)
	})
	b.Run("directives", func(b *testing.B) {
		const n = 2000
		var sites []string
		for range n {
			sites = append(sites, "", inFront["robots"](robots(b, 10)))
		}
		servers, bare, site := run(b, sites...), new(atEach), new(atEach)
		for i := 0; i < len(servers); i += 2 {
			bare.servers, site.servers = append(bare.servers, servers[i]), append(site.servers, servers[i+1])
		}
		next := &stream{all: requests(traffic["allowed"], "site.example")}
		grow(b, "directives", []stage{{1, servers[0], servers[1], next}, {n, bare, site, next}})
	})
}

// texts are stages with more and more of what a robots.txt has.
func texts(b *testing.B, write func(n int) string) []stage {
	b.Helper()
	counts, sites := []int{10, 1000, 10_000}, []string{""}
	for _, n := range counts {
		sites = append(sites, "\trobots {\n\t\tsource text <<TEXT\n"+write(n)+"TEXT\n\t}\n")
	}
	servers, next := run(b, sites...), &stream{all: requests(traffic["allowed"], "site.example")}
	var stages []stage
	for i, n := range counts {
		stages = append(stages, stage{n, servers[0], servers[1+i], next})
	}
	return stages
}

// hosts returns the names of n hosts.
func hosts(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("host%d.example", i)
	}
	return names
}

// stage is a site at which there is so much of what grows, and what comes to it and to a bare one.
type stage struct {
	n          int
	bare, site http.Handler
	next       *stream
}

// atEach serves requests at one server after the other.
type atEach struct {
	servers []http.Handler
	next    int
}

func (a *atEach) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.servers[a.next%len(a.servers)].ServeHTTP(w, r)
	a.next++
}

// grow compares the stages in turn, and reports of each the CPU time of a request, what that is more than at
// the bare site with the same requests, and how many times what it is at the first stage; the same of
// the bare site, which is what the caches of the machine are to blame for. The name of a number that comes
// again ends in "-again".
func grow(b *testing.B, what string, stages []stage) {
	b.Helper()
	for _, s := range stages {
		w := &discard{header: make(http.Header)}
		for range 2 * max(len(s.next.all), len(s.next.hosts), s.n) { // the second time all is known
			if serve(s.site, w, s.next.request()); w.status != http.StatusOK {
				b.Fatalf("%s=%d: got %d, want 200", what, s.n, w.status)
			}
		}
	}
	before := debug.SetGCPercent(-1)
	defer debug.SetGCPercent(before)
	const slices = 20
	var costs, added, times, bare, bareTimes = make([][]float64, len(stages)), make([][]float64, len(stages)), make([][]float64, len(stages)), make([][]float64, len(stages)), make([][]float64, len(stages))
	for range slices {
		var atFirst, bareAtFirst float64
		for i, s := range stages {
			x, y := inTurn(s.bare, s.site, s.next)
			without, with := float64(x), float64(y)
			if i == 0 {
				atFirst, bareAtFirst = with, without
			}
			costs[i], added[i], times[i] = append(costs[i], with), append(added[i], with-without), append(times[i], with/atFirst)
			bare[i], bareTimes[i] = append(bare[i], without), append(bareTimes[i], without/bareAtFirst)
		}
	}
	reported := make(map[int]bool)
	for i, s := range stages {
		name := fmt.Sprintf("%s=%d", what, s.n)
		if reported[s.n] {
			name += "-again"
		}
		reported[s.n] = true
		b.Run(name, func(b *testing.B) { // all is measured already
			b.ReportMetric(median(costs[i]), "ns/op")
			b.ReportMetric(median(added[i]), "added-ns/op")
			b.ReportMetric(median(times[i]), "times")
			b.ReportMetric(median(bare[i]), "bare-ns/op")
			b.ReportMetric(median(bareTimes[i]), "bare-times")
		})
	}
}
