package caddymodule

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
)

func TestRobotsThatStandWhereTheyDoNothingAreTold(t *testing.T) {
	const nothing, twice = "robots judges nothing", "robots stands twice"
	for site, want := range map[string]string{
		"robots\nfile_server": "", "robots\nrespond /a 200\nreverse_proxy localhost:1": "",
		"route {\nfile_server\nrobots\n}":                                  nothing,
		"route {\nreverse_proxy localhost:1\nrobots\n}":                    nothing,
		"route {\nhandle {\nrespond hello\n}\nrobots\n}":                   nothing,
		"route {\nrobots\nfile_server\n}":                                  "",
		"route {\nrespond /health ok\nheader x y\nrobots\nfile_server\n}":  "",
		"route /a/* {\nfile_server\n}\nroute {\nrobots\nfile_server\n}":    "",
		"route {\nphp_fastcgi localhost:1\nrobots\nfile_server\n}":         nothing,
		"route {\nphp_fastcgi /blog/* localhost:1\nrobots\nfile_server\n}": "",
		"robots\nphp_fastcgi localhost:1\nfile_server":                     "",
		"route {\nrobots\nphp_fastcgi localhost:1\nfile_server\n}":         "",
		"robots\nrobots {\nobserve\n}\nfile_server":                        twice,
		"robots /a/*\nrobots /b/*\nfile_server":                            "",
		"robots\nhandle /a/* {\nrobots {\nobserve\n}\n}\nfile_server":      "",
	} {
		adapted, _, err := caddyconfig.GetAdapter("caddyfile").Adapt([]byte("http://a.example {\n"+site+"\n}\n"), nil)
		if err != nil {
			t.Fatal(err)
		}
		var parsed struct {
			Apps struct {
				HTTP struct {
					Servers map[string]struct{ Routes caddyhttp.RouteList }
				}
			}
		}
		if err := json.Unmarshal(adapted, &parsed); err != nil {
			t.Fatal(err)
		}
		routes := parsed.Apps.HTTP.Servers["srv0"].Routes
		ctx, cancel := caddy.NewContext(contextWithStorage(t))
		if err := routes.Provision(ctx); err != nil {
			t.Fatal(err)
		}
		core, logs := observer.New(zap.WarnLevel)
		o := order{log: zap.New(core)}
		o.look(routes, nil, "")
		var told []string
		for _, entry := range logs.All() {
			told = append(told, entry.Message)
			if sites, _ := entry.ContextMap()["sites"].([]any); len(sites) != 1 || sites[0] != "a.example" {
				t.Errorf("%q: sites: got %v", site, sites)
			}
		}
		if got := strings.Join(told, "; "); want == "" && got != "" || !strings.HasPrefix(got, want) || len(told) > 1 {
			t.Errorf("%q: told %q, want %q", site, got, want)
		}
		cancel()
	}
}
