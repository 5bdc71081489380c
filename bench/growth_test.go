package bench

import (
	"fmt"
	"net/http"
	"runtime"
	"runtime/debug"
	"slices"
	"testing"
	"time"
)

// many is more User-Agents than are remembered.
const many = 40_000

// BenchmarkGrowth is what robots adds to a request when there are more hosts, User-Agents
// and rules, over the same requests at a bare site.
func BenchmarkGrowth(b *testing.B) {
	for _, n := range []int{1, 1000} {
		b.Run(fmt.Sprintf("hosts=%d", n), func(b *testing.B) {
			hosts := make([]string, n)
			for i := range hosts {
				hosts[i] = fmt.Sprintf("host%d.example", i)
			}
			servers := run(b, "", "\trobots\n") // the rules are those of each host
			grow(b, servers, requests(traffic["browser"][:1], hosts...))
		})
	}
	for _, n := range []int{10, 1000, 10_000} {
		b.Run(fmt.Sprintf("records=%d", n), func(b *testing.B) {
			text := records(n) + "\nUser-agent: " + allowed + "\nRequest-rate: 1000000/1s\nDisallow: /private/\n"
			servers := run(b, "", "\trobots {\n\t\tsource text <<TEXT\n"+text+"TEXT\n\t}\n")
			grow(b, servers, requests(traffic["allowed"], "site.example"))
		})
	}
	for _, n := range []int{10, 1000, 10_000} {
		b.Run(fmt.Sprintf("rules=%d", n), func(b *testing.B) {
			servers := run(b, "", "\trobots {\n\t\tsource text <<TEXT\n"+rules("wildcards", n)+"TEXT\n\t}\n")
			grow(b, servers, requests(traffic["allowed"], "site.example"))
		})
	}
	b.Run("agents", func(b *testing.B) {
		servers := run(b, "", inFront["robots"](robots(b, 500)))
		known, flood := requests(traffic["browser"], "site.example"), requests(browsers(many), "site.example")
		b.Run("known", func(b *testing.B) { grow(b, servers, known) })
		b.Run(fmt.Sprintf("flood=%d", many), func(b *testing.B) { grow(b, servers, flood) })
		b.Run("known-after-flood", func(b *testing.B) { grow(b, servers, known) })
	})
}

// BenchmarkDirectives is a request of a robot that obeys at each of so many servers with a directive of
// its own, in turn with one server's, and how many times that it costs; the same without robots, since
// so many servers are in no cache.
func BenchmarkDirectives(b *testing.B) {
	const n = 2000
	for _, by := range []string{"bare", "robots"} {
		b.Run(fmt.Sprintf("directives=%d/by=%s", n, by), func(b *testing.B) {
			servers := run(b, slices.Repeat([]string{inFront[by](robots(b, 10))}, n)...)
			known := &stream{all: requests(traffic["allowed"], "site.example")}
			around := &atEach{servers: servers}
			cost(around, known, 2*n)
			before := debug.SetGCPercent(-1)
			defer debug.SetGCPercent(before)
			var costs, times []float64
			for b.Loop() {
				runtime.GC()
				cost(servers[0], known, few) // the collector leaves cold caches
				one, many := cost(servers[0], known, 500), cost(around, known, 500)
				costs, times = append(costs, float64(many)), append(times, float64(many)/float64(one))
			}
			b.ReportMetric(median(costs), "ns/op")
			b.ReportMetric(median(times), "times-one")
		})
	}
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

// BenchmarkHosts is a request of a robot that obeys, at a site of many hosts that each have rules of
// their own, in turn with one at a site of ten: the cost of it, how many times that at ten hosts it
// is, and what a hundredth of the requests take at least.
func BenchmarkHosts(b *testing.B) {
	counts := []int{10, 1000, 50_000}
	servers := run(b, "\trobots\n", "\trobots\n", "\trobots\n")
	sites := make([]*manyHosts, len(counts))
	for i, n := range counts {
		sites[i] = &manyHosts{server: servers[i], all: requests(traffic["allowed"], "site.example"), hosts: make([]string, n)}
		for j := range n {
			sites[i].hosts[j] = fmt.Sprintf("host%d.example", j)
		}
		for range n { // the first robot of a host waits for its rules
			sites[i].serve()
		}
	}
	for i, n := range counts[1:] {
		b.Run(fmt.Sprintf("hosts=%d", n), func(b *testing.B) {
			before := debug.SetGCPercent(-1)
			defer debug.SetGCPercent(before)
			var costs, times []float64
			var took []time.Duration
			for b.Loop() {
				runtime.GC()
				few, many := sites[0].slice(nil), sites[i+1].slice(&took)
				many = (many + sites[i+1].slice(&took)) / 2
				few = (few + sites[0].slice(nil)) / 2
				costs, times = append(costs, float64(many)), append(times, float64(many)/float64(few))
			}
			slices.Sort(took)
			b.ReportMetric(median(costs), "ns/op")
			b.ReportMetric(median(times), "times-10-hosts")
			b.ReportMetric(float64(took[len(took)*99/100]), "p99-ns")
		})
	}
}

// manyHosts is a site of many hosts, and what comes to it.
type manyHosts struct {
	server http.Handler
	all    []*http.Request
	hosts  []string
	w      discard
	next   int
}

// serve serves the next request, at the next host.
func (m *manyHosts) serve() {
	if m.w.header == nil {
		m.w.header = make(http.Header)
	}
	r := m.all[m.next%len(m.all)]
	r.Host = m.hosts[m.next%len(m.hosts)]
	m.next++
	serve(m.server, &m.w, r)
}

// slice serves some requests and returns the CPU time of each; what each took on the clock is added
// to took.
func (m *manyHosts) slice(took *[]time.Duration) time.Duration {
	const n = 500
	for range few { // the collector leaves cold caches
		m.serve()
	}
	begun := spent()
	for range n {
		began := time.Now()
		m.serve()
		if took != nil {
			*took = append(*took, time.Since(began))
		}
	}
	return (spent() - begun) / n
}

// grow compares the second of two servers with the first, without garbage collection.
func grow(b *testing.B, servers []http.Handler, all []*http.Request) {
	b.Helper()
	for _, server := range servers {
		expect(b, server, all, http.StatusOK)
	}
	compare(b, servers[0], servers[1], all, gcOff)
}
