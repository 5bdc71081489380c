package integration

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// badTenants are tenants by what is wrong with their robots.txt, each with what a robot that it
// disallowed /first/ is answered there when that begins.
func badTenants(upstream *faulty) map[string]struct {
	fault http.HandlerFunc
	want  int
} {
	status := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
	}
	return map[string]struct {
		fault http.HandlerFunc
		want  int
	}{
		"hangs":   {upstream.hanging, 403},
		"busy":    {status(http.StatusTooManyRequests), 403},
		"refuses": {status(http.StatusForbidden), 200}, // there are no rules, and a warning
		"broken":  {broken, 403},
		"page":    {plain("<!doctype html>\n<html><body>page</body></html>\n"), 403},
		"huge":    {plain(firstRules + strings.Repeat("# ten megabytes\n", 10<<20/16)), 403},
		"circle": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/robots.txt", http.StatusFound)
		}, 403},
	}
}

// tenantSites is a Caddyfile with one site for each tenant, all with the same few lines.
func tenantSites(tenants []string) string {
	var b strings.Builder
	b.WriteString("(tenant) {\n\trobots {\n\t\trefresh 1s\n\t}\n\treverse_proxy {$UPSTREAM}\n}\n")
	for _, tenant := range tenants {
		fmt.Fprintf(&b, "http://%s.test:{$PORT} {\n\timport tenant\n}\n", tenant)
	}
	return b.String()
}

func TestOneTenantsRobotsTxtHoldsUpNobodyElses(t *testing.T) {
	t.Parallel()
	upstream := newFaulty(t)
	bad := badTenants(upstream)
	good := make([]string, 20)
	tenants := slices.Sorted(maps.Keys(bad)) // the bad ones stand first in the config
	for name, tenant := range bad {
		upstream.set(name+".test", tenant.fault)
	}
	for i := range good {
		good[i] = fmt.Sprintf("good%d", i)
		upstream.set(good[i]+".test", plain(firstRules))
	}
	tenants = append(tenants, good...)
	c := start(t, tenantSites(tenants), map[string]string{"UPSTREAM": upstream.URL})
	began := time.Now()
	for _, tenant := range good {
		c.expect(t, tenant+".test", "/first/", gptbot, 403)
	}
	t.Logf("the rules of %d tenants were in force after %s, beside %d whose robots.txt is out of order", len(good), time.Since(began), len(bad))
	if n := upstream.hung.Load(); n > 0 {
		t.Errorf("a robots.txt that hangs was given up meanwhile: it took 5 s")
	}
	for name := range bad {
		c.expect(t, name+".test", "/first/", chrome, 200)
		want := 200
		if name == "huge" {
			want = 403 // it is read, up to max_size
		}
		c.expect(t, name+".test", "/first/", gptbot, want)
	}
}

func TestEachTenantKeepsItsOwnLastGoodRules(t *testing.T) {
	t.Parallel()
	upstream := newFaulty(t)
	bad := badTenants(upstream)
	for name := range bad {
		upstream.set(name+".test", plain(firstRules))
	}
	upstream.set("good.test", plain(firstRules))
	c := start(t, tenantSites(append(slices.Sorted(maps.Keys(bad)), "good")), map[string]string{"UPSTREAM": upstream.URL})
	for name := range bad {
		c.expect(t, name+".test", "/first/", gptbot, 403)
	}
	c.expect(t, "good.test", "/first/", gptbot, 403)
	for name, tenant := range bad {
		upstream.set(name+".test", tenant.fault)
	}
	upstream.set("good.test", plain(secondRules))
	if status, body := c.adminAsk(t, http.MethodPost, "/robots/refresh"); status != http.StatusOK {
		t.Fatalf("refresh: got %d %s", status, body)
	}
	for name, tenant := range bad {
		c.expect(t, name+".test", "/first/", gptbot, tenant.want)
	}
	c.expect(t, "good.test", "/second/", gptbot, 403)
	c.expect(t, "good.test", "/first/", gptbot, 200)
	c.log.wait(t, "the refusal is told", c.ended, message("robots.txt is refused or gone; its rules do not hold any more"), field("host", "refuses.test"))
}
