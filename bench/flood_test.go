package bench

import (
	"fmt"
	"net/http"
	"os"
	"runtime/debug"
	"strconv"
	"sync"
	"testing"
)

// floodOf is how many requests a flood has, unless ROBOTS_FLOOD says otherwise.
func floodOf(b *testing.B) int {
	b.Helper()
	said := os.Getenv("ROBOTS_FLOOD")
	if said == "" {
		return million
	}
	n, err := strconv.Atoi(said)
	if err != nil || n < 1 {
		b.Fatalf("ROBOTS_FLOOD=%s: write a number of requests, such as 100000", said)
	}
	return n
}

// BenchmarkFlood is a flood of requests, each with a User-Agent, a host and a path of its own, half of
// them robots'. Ten times during it known clients ask at a host that the config names. It reports what
// their requests cost then, and how many times what they cost before the flood: as such, and in
// proportion to those at a site without robots, which the flood does not meet; and the most memory that
// was in use for it.
func BenchmarkFlood(b *testing.B) {
	site := "http://site.example {\n\trobots\n" + page + "}\nhttp:// {\n\trobots\n" + page + "}\n"
	servers := run(b, "", site)
	kinds := []string{"browser", "allowed"}
	known := make(map[string]*stream)
	for _, kind := range kinds {
		known[kind] = &stream{all: requests(traffic[kind], "site.example")}
		expect(b, servers[1], known[kind].all, http.StatusOK)
	}
	const parts = 10
	before, after := make(costs), make(costs)
	for range 5 * parts {
		before.measure(servers, known)
	}
	heap, most, all := inUse(), 0.0, floodOf(b)
	for part := range parts {
		flood(b, servers[1], part*all/parts, (part+1)*all/parts)
		most = max(most, inUse()-heap)
		for range 5 {
			after.measure(servers, known)
		}
	}
	for _, by := range []string{"bare", "robots", "robots-to-bare"} {
		for _, kind := range kinds {
			b.Run("by="+by+"/traffic="+kind, func(b *testing.B) { // all is measured already
				k := key{by, kind}
				b.ReportMetric(median(after[k]), "ns/op")
				b.ReportMetric(median(after[k])/median(before[k]), "times-before")
				b.ReportMetric(most/(1<<20), "MiB")
			})
		}
	}
}

// costs are the CPU times of requests.
type costs map[key][]float64

// key is a site and a kind of traffic.
type key struct{ by, traffic string }

// measure adds what requests of known clients cost, without garbage collection.
func (c costs) measure(servers []http.Handler, known map[string]*stream) {
	percent := debug.SetGCPercent(-1)
	defer debug.SetGCPercent(percent)
	for kind, next := range known {
		bare, robots := inTurn(servers[0], servers[1], next)
		for by, cost := range map[string]float64{"bare": float64(bare), "robots": float64(robots), "robots-to-bare": float64(robots) / float64(bare)} {
			c[key{by, kind}] = append(c[key{by, kind}], cost)
		}
	}
}

// flood sends the requests of a flood from one number to another, many at a time.
func flood(b *testing.B, server http.Handler, from, to int) {
	b.Helper()
	percent := debug.SetGCPercent(400) // else most of it is garbage collection
	defer debug.SetGCPercent(percent)
	const senders = 64
	var all sync.WaitGroup
	for sender := range senders {
		all.Go(func() {
			r, w := requests([]string{""}, "site.example")[0], &discard{header: make(http.Header)}
			for i := from + sender; i < to; i += senders {
				agent := fmt.Sprintf("Mozilla/5.0 (X11; Linux x86_64; rv:%d.0) Gecko/20100101 Firefox/%d.0", i, i)
				if i%2 == 0 {
					agent = fmt.Sprintf("MadeUp%dBot/1.0 (+http://made%d.example/)", i, i)
				}
				r.Header["User-Agent"][0] = agent
				r.Host = fmt.Sprintf("host%d.example", i)
				r.URL.Path = fmt.Sprintf("/made/up/%d.html", i)
				r.RequestURI = r.URL.RequestURI()
				r.RemoteAddr = fmt.Sprintf("198.51.%d.%d:4711", i>>8&255, i&255)
				if serve(server, w, r); w.status != http.StatusOK {
					b.Errorf("%s at %s: got %d, want 200", agent, r.Host, w.status)
				}
			}
		})
	}
	all.Wait()
}
