package bench

import (
	"fmt"
	"net/http"
	"testing"
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

// grow compares the second of two servers with the first, without garbage collection.
func grow(b *testing.B, servers []http.Handler, all []*http.Request) {
	b.Helper()
	for _, server := range servers {
		expect(b, server, all, http.StatusOK)
	}
	compare(b, servers[0], servers[1], all, gcOff)
}
