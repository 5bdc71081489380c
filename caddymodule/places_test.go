package caddymodule

import (
	"slices"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// provisionedServer returns the server that a Caddyfile makes, and its handlers, the first
// site's first.
func provisionedServer(t *testing.T, caddyfile string) (*caddyhttp.Server, []*Handler) {
	t.Helper()
	adapted, _, err := caddyconfig.GetAdapter("caddyfile").Adapt([]byte(caddyfile), map[string]any{"filename": "Caddyfile"})
	if err != nil {
		t.Fatal(err)
	}
	cfg := config(t, adapted)
	cfg.StorageRaw = []byte(`{"module": "file_system", "root": "` + t.TempDir() + `"}`)
	sh, err := acquireShared()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = releaseShared() })
	ctx, err := caddy.ProvisionContext(cfg)
	if err != nil {
		t.Fatal(err)
	}
	handlers := sh.handlers()
	slices.Reverse(handlers)
	t.Cleanup(func() {
		for _, h := range handlers {
			if err := h.Cleanup(); err != nil {
				t.Error(err)
			}
		}
	})
	app, err := ctx.App("http")
	if err != nil {
		t.Fatal(err)
	}
	for _, server := range app.(*caddyhttp.App).Servers {
		return server, handlers
	}
	t.Fatal("the config has no server")
	return nil, nil
}

const severalSites = `{
	auto_https off
}
http://example.com:80, http://www.Example.com:80 {
	robots {
		source text "User-agent: *"
	}
}
http://*.wild.example:80, http://*.*.wild.example:80 {
	@shop host shop.wild.example
	handle @shop {
		robots
	}
	respond "others"
}
http://[2001:db8::1]:80 {
	robots
}
http://{$SITE_FROM_ENVIRONMENT:set.example}:80 {
	respond "no robots"
}
:80 {
	robots
}
`

func TestSitesAreNamedAsInTheConfig(t *testing.T) {
	server, handlers := provisionedServer(t, severalSites)
	p := findPlaces(server, handlers[0], newMetrics())
	for host, want := range map[string]string{
		"example.com": "example.com", "www.example.com": "www.example.com", "shop.wild.example": "shop.wild.example",
		"any.wild.example": "*.wild.example", "a.b.wild.example": "*.*.wild.example", "set.example": "set.example",
		"[2001:db8::1]": "2001:db8::1", "made-up.example": "*", "a.b.c.wild.example": "*", "wild.example": "*",
		"": "*", "*": "*", "[": "*", "xexample.com": "*",
	} {
		if got := p.of(host).name; got != want {
			t.Errorf("%q: got %q, want %q", host, got, want)
		}
	}
}

func TestAHandlerKnowsTheSitesItStandsIn(t *testing.T) {
	server, handlers := provisionedServer(t, severalSites)
	want := [][]string{{"example.com", "www.example.com"}, {"shop.wild.example"}, {"2001:db8::1"}, {"*"}}
	if len(handlers) != len(want) {
		t.Fatalf("got %d handlers, want %d", len(handlers), len(want))
	}
	var got [][]string
	for _, h := range handlers {
		var names []string
		for _, site := range findPlaces(server, h, newMetrics()).own {
			names = append(names, site.name)
		}
		slices.Sort(names)
		got = append(got, names)
	}
	for _, names := range want {
		if !slices.ContainsFunc(got, func(g []string) bool { return slices.Equal(g, names) }) {
			t.Errorf("no handler stands in %q: got %q", names, got)
		}
	}
}

func TestARouteForAnyHostStandsInTheSiteAroundIt(t *testing.T) {
	server, handlers := provisionedServer(t, `{
	auto_https off
}
http://example.com:80 {
	handle /shop/* {
		robots
	}
}
`)
	own := findPlaces(server, handlers[0], newMetrics()).own
	if len(own) != 1 || own[0].name != "example.com" {
		t.Errorf("got %d places, want just example.com", len(own))
	}
}

func TestFindingAPlaceDoesNotAllocate(t *testing.T) {
	server, handlers := provisionedServer(t, severalSites)
	p := findPlaces(server, handlers[0], newMetrics())
	for _, host := range []string{"example.com", "a.b.wild.example", "made-up.example"} {
		if got := testing.AllocsPerRun(100, func() { p.of(host) }); got != 0 {
			t.Errorf("%q: got %v allocations, want 0", host, got)
		}
	}
}
