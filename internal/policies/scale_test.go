package policies

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/caddy-robots/caddy-robots/internal/enforce"
)

// Many hosts of one directive are asked for by one robot, three times each. ROBOTS_HOSTS=50000 is
// what a provider has; docs/performance.md has the figures.
func TestManyHostsAreEachLoadedOnce(t *testing.T) {
	hosts, memory := 2000, int64(8<<20)
	if os.Getenv("ROBOTS_HOSTS") == "50000" {
		hosts, memory = 50_000, DefaultMemory
	}
	tenKinds := func(n int) string {
		return fmt.Sprintf("User-agent: *\nDisallow: /%d/\n", n%10) + strings.Repeat("Disallow: /closed/\n", n%10*5)
	}
	different := func(n int) string {
		return fmt.Sprintf("User-agent: *\nDisallow: /%d/\n", n) + strings.Repeat("Disallow: /checkout/step/\n", 38)
	}
	for _, test := range []struct {
		name   string
		memory int64
		write  func(int) string
	}{{"ten kinds", memory, tenKinds}, {"all different, of 1 KiB", 4 * memory, different}} {
		t.Run(test.name, func(t *testing.T) {
			var fetches atomic.Int64
			ts := newTestSiteWith(t, Config{}, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				fetches.Add(1)
				var n int
				_, _ = fmt.Sscanf(r.Host, "host%d.example", &n)
				_, _ = io.WriteString(w, test.write(n))
			}))
			ts.cfg.Log = zap.NewNop()
			ts.cache.SetMemory(test.memory)
			by := enforce.Asker{At: ts.cfg.Now(), Waits: true}
			for round := range 3 {
				took := make([]time.Duration, hosts)
				for i := range hosts {
					began := time.Now()
					p, _ := ts.ForHost(t.Context(), fmt.Sprintf("host%d.example", i), by)
					took[i] = time.Since(began)
					if p.Compiled.Default().Decide("/"+fmt.Sprint(i%10)+"/").Allowed() && test.name == "ten kinds" {
						t.Fatalf("host %d in round %d: not its rules", i, round)
					}
				}
				slices.Sort(took)
				held := ts.cache.Held()
				t.Logf("round %d: %d fetches, median %s, p99 %s, held %+v", round+1, fetches.Load(), took[hosts/2], took[hosts*99/100], held)
				if held.Bytes > test.memory {
					t.Errorf("held: got %d bytes, want at most %d", held.Bytes, test.memory)
				}
			}
			if got := fetches.Load(); got > int64(hosts)*105/100 {
				t.Errorf("fetches: got %d for %d hosts, want at most 1.05 for each", got, hosts)
			}
		})
	}
}
