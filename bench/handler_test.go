package bench

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// answers are what a site that keeps robots out says to each kind of traffic.
var answers = []struct {
	traffic string
	status  int
}{
	{"browser", http.StatusOK},
	{"allowed", http.StatusOK},
	{"refused", http.StatusForbidden},
	{"hasty", http.StatusTooManyRequests},
}

// tooMany is the number of robots from which on only robots is measured: a regular
// expression of so many names takes tens of milliseconds a request.
const tooMany = 10_000

// BenchmarkHandler is a whole Caddy with something in front of its page that keeps n robots
// out, against one with nothing. "bare" is a second such: what two alike sites seem to differ by.
// "empty" is a handler that does nothing: the least that a directive can cost.
func BenchmarkHandler(b *testing.B) {
	for _, n := range []int{10, 100, 1000, tooMany} {
		b.Run(fmt.Sprintf("robots=%d", n), func(b *testing.B) {
			for _, by := range []string{"bare", "empty", "robots", "header", "header_regexp"} {
				if n == tooMany && by != "robots" {
					continue
				}
				b.Run("by="+by, func(b *testing.B) {
					servers := run(b, "", inFront[by](robots(b, n)))
					collected := []garbage{gcOff}
					if n == 100 && (by == "robots" || by == "bare") {
						collected = append(collected, gcOn) // which takes long
					}
					benchmarkTraffic(b, by, servers[0], servers[1], collected...)
				})
			}
		})
	}
}

// benchmarkTraffic compares two sites for each kind of traffic, with and without garbage collection.
func benchmarkTraffic(b *testing.B, by string, bare, site http.Handler, collected ...garbage) {
	for _, answer := range answers {
		if answer.traffic == "hasty" && by != "robots" {
			continue // the others know no pace
		}
		all := requests(traffic[answer.traffic], "site.example")
		want := answer.status
		if by == "bare" || by == "empty" {
			want = http.StatusOK
		}
		expect(b, bare, all, http.StatusOK)
		expect(b, site, all, want)
		for _, gc := range collected {
			b.Run("traffic="+answer.traffic+"/gc="+gc.name, func(b *testing.B) {
				compare(b, bare, site, all, gc)
			})
		}
	}
}

// BenchmarkReadings is a robot that obeys and asks for a path which may mean another one.
func BenchmarkReadings(b *testing.B) {
	servers := run(b, "", inFront["robots"](robots(b, 100)))
	all := requests(traffic["allowed"], "site.example")
	for _, r := range all {
		r.URL.Path = strings.Replace(r.URL.Path, "/2026/", "//2026/", 1)
		r.RequestURI = r.URL.RequestURI()
	}
	expect(b, servers[1], all, http.StatusOK)
	compare(b, servers[0], servers[1], all, gcOff)
}

// BenchmarkAnnounce is a header that says what robots.txt does, against the same site without the option.
func BenchmarkAnnounce(b *testing.B) {
	without := strings.Replace(inFront["robots"](robots(b, 100)), "User-agent: *\n", "User-agent: *\nContent-Usage: train-ai=n\n", 1)
	servers := run(b, without, strings.Replace(without, "robots {\n", "robots {\n\t\tannounce content_usage\n", 1))
	for _, server := range servers {
		expect(b, server, requests(traffic["allowed"], "site.example"), http.StatusOK) // a robot waits for the rules
	}
	all := requests(traffic["browser"], "site.example")
	w := &discard{header: make(http.Header)}
	serve(servers[1], w, all[0])
	if got := w.header.Get("Content-Usage"); got != "train-ai=n" {
		b.Fatalf("got Content-Usage %q", got)
	}
	compare(b, servers[0], servers[1], all, gcOff)
}

// BenchmarkRequest is one request through a whole Caddy, alone: for profiles, and for the
// instructions of which the script of that name counts those of two sites.
func BenchmarkRequest(b *testing.B) {
	for _, by := range []string{"bare", "robots"} {
		b.Run("by="+by, func(b *testing.B) {
			site := run(b, inFront[by](robots(b, 500)))[0]
			for _, answer := range answers {
				b.Run("traffic="+answer.traffic, func(b *testing.B) {
					all, w, i := requests(traffic[answer.traffic], "site.example"), &discard{header: make(http.Header)}, 0
					b.ReportAllocs()
					for b.Loop() {
						serve(site, w, all[i%len(all)])
						i++
					}
				})
			}
		})
	}
}
