package policies

import (
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"go.uber.org/zap"
)

// kindsOfText are robots.txt files as tenants have them, of some size each, all different by their
// number.
var kindsOfText = map[string]func(n int) string{
	"a shop of 1 KiB": func(n int) string {
		var b strings.Builder
		fmt.Fprintf(&b, "# shop %d\nUser-agent: *\nCrawl-delay: 1\n", n)
		for i := range 40 {
			fmt.Fprintf(&b, "Disallow: /checkout/%d/\n", i)
		}
		return b.String()
	},
	"WordPress": func(n int) string {
		return fmt.Sprintf("User-agent: *\nDisallow: /wp-admin/\nAllow: /wp-admin/admin-ajax.php\n\nSitemap: https://site%d.example/wp-sitemap.xml\n", n)
	},
	"a list of robots": func(n int) string {
		var b strings.Builder
		for i := range 60 {
			fmt.Fprintf(&b, "User-agent: Robot%dof%d\nDisallow: /\n\n", i, n)
		}
		return b.String()
	},
	"many wildcards": func(n int) string {
		var b strings.Builder
		fmt.Fprintf(&b, "User-agent: *\n")
		for i := range 30 {
			fmt.Fprintf(&b, "Disallow: /*?*sort%dof%d=*&\n", i, n)
		}
		return b.String()
	},
	"long lines": func(n int) string {
		return fmt.Sprintf("User-agent: *\nDisallow: /%d/\n# %s\n", n, strings.Repeat("text ", 800))
	},
}

// What is counted of texts, rules and hosts is what they take.
func TestMemoryIsWhatItIsTakenFor(t *testing.T) {
	const hosts = 2000
	for kind, write := range kindsOfText {
		same := func(int) string { return write(0) }
		for name, write := range map[string]func(int) string{kind: write, kind + ", all the same": same} {
			t.Run(name, func(t *testing.T) {
				n := 0
				ts := newTestSite(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					n++
					text(write(n))(w, nil)
				}))
				ts.cfg.Log = zap.NewNop()
				var before, after runtime.MemStats
				runtime.GC()
				runtime.ReadMemStats(&before)
				counted := ts.cache.Held().Bytes
				for i := range hosts {
					ts.loadHost(fmt.Sprintf("host%d.example", i))
				}
				runtime.GC()
				runtime.GC()
				runtime.ReadMemStats(&after)
				taken := int64(after.HeapAlloc) - int64(before.HeapAlloc)
				counted = ts.cache.Held().Bytes - counted
				t.Logf("%d bytes of text: %d taken for each host, %d counted", len(write(1)), taken/hosts, counted/hosts)
				if counted < taken*9/10 || counted > taken*3 {
					t.Errorf("counted %d for each host, want about %d", counted/hosts, taken/hosts)
				}
				runtime.KeepAlive(ts)
			})
		}
	}
}

// loadHost loads a host at once.
func (ts *testSite) loadHost(host string) { ts.load(ts.life, ts.Loader.site(host)) }
