package bench

import (
	"fmt"
	"net/http"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
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
// them robots'. It reports what a request of known clients at a host that the config names costs after
// it, how many times what it cost before, the same of a site without robots, and the memory that is in
// use after it.
func BenchmarkFlood(b *testing.B) {
	site := "http://site.example {\n\trobots\n" + page + "}\nhttp:// {\n\trobots\n" + page + "}\n"
	servers := run(b, "", site)
	for _, kind := range []string{"browser", "allowed"} {
		expect(b, servers[1], requests(traffic[kind], "site.example"), http.StatusOK)
	}
	before := costsOfKnown(servers)
	heap := inUse()
	flood(servers[1], floodOf(b))
	heap = inUse() - heap
	after := costsOfKnown(servers)
	for i, by := range []string{"bare", "robots"} {
		for _, kind := range []string{"browser", "allowed"} {
			b.Run("by="+by+"/traffic="+kind, func(b *testing.B) {
				for b.Loop() { // all is measured already
				}
				b.ReportMetric(after[i][kind], "ns/op")
				b.ReportMetric(after[i][kind]/before[i][kind], "times-before")
				if by == "robots" {
					b.ReportMetric(heap/(1<<20), "MiB")
				}
			})
		}
	}
}

// costsOfKnown returns the CPU time of requests at each server by kind of traffic: medians over slices,
// in turn, without garbage collection.
func costsOfKnown(servers []http.Handler) (costs [2]map[string]float64) {
	percent := debug.SetGCPercent(-1)
	defer debug.SetGCPercent(percent)
	for i := range costs {
		costs[i] = make(map[string]float64)
	}
	for _, kind := range []string{"browser", "allowed"} {
		next := &stream{all: requests(traffic[kind], "site.example")}
		var slices [2][]float64
		for range 100 {
			runtime.GC()
			cost(servers[0], next, few) // the collector leaves cold caches
			for i, server := range servers {
				slices[i] = append(slices[i], float64(cost(server, next, 200)))
			}
		}
		for i := range slices {
			costs[i][kind] = median(slices[i])
		}
	}
	return costs
}

// flood sends so many requests.
func flood(server http.Handler, n int) {
	r, w := requests([]string{""}, "site.example")[0], &discard{header: make(http.Header)}
	for i := range n {
		agent := fmt.Sprintf("Mozilla/5.0 (X11; Linux x86_64; rv:%d.0) Gecko/20100101 Firefox/%d.0", i, i)
		if i%2 == 0 {
			agent = fmt.Sprintf("MadeUp%dBot/1.0 (+http://made%d.example/)", i, i)
		}
		r.Header["User-Agent"][0] = agent
		r.Host = fmt.Sprintf("host%d.example", i)
		r.URL.Path = fmt.Sprintf("/made/up/%d.html", i)
		r.RequestURI = r.URL.RequestURI()
		r.RemoteAddr = fmt.Sprintf("198.51.%d.%d:4711", i>>8&255, i&255)
		serve(server, w, r)
	}
}
