package caddymodule

import (
	"encoding/json"
	"fmt"
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
		routes := routesOf(t, "http://a.example {\n"+site+"\n}\n")
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
	}
}

// routesOf returns the routes of the one server of a Caddyfile.
func routesOf(t *testing.T, caddyfile string) caddyhttp.RouteList {
	t.Helper()
	adapted, _, err := caddyconfig.GetAdapter("caddyfile").Adapt([]byte(caddyfile), nil)
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
	t.Cleanup(cancel)
	if err := routes.Provision(ctx); err != nil {
		t.Fatal(err)
	}
	return routes
}

func TestCrawlerMatchersThatAskInVainAreTold(t *testing.T) {
	for caddyfile, want := range map[string]string{
		"a.test {\nrobots\n@x crawler verified\nrespond @x 200\n}":                                             "[a.test] verified",
		"a.test {\nrobots\n@x not crawler impostor\nrespond @x 200\n}":                                         "[a.test] impostor",
		"a.test {\nrobots {\nverify known\n}\n@x crawler verified trapped\nrespond @x 200\n}":                  "[a.test] trapped",
		"a.test {\nrobots {\nverify known\n}\n@x not crawler verified impostor\nrespond @x 200\n}":             "",
		"a.test {\nrobots\n@x crawler unverified\nrespond @x 200\n}":                                           "",
		"a.test {\nrobots\n@x crawler GPTBot ai-training\nrespond @x 200\n}":                                   "",
		"a.test {\nrobots {\ntrap /trap/\nban 3 in 1m for 1h\n}\n@x crawler trapped banned\nrespond @x 200\n}": "",
		"a.test {\nrobots {\ntrap /trap/\n}\n}\nb.test {\nrobots\n@x crawler trapped\nrespond @x 200\n}":       "[b.test] trapped",
		"*.a.test {\nrobots {\ntrap /trap/\n}\n}\nb.a.test {\n@x crawler trapped\nrespond @x 200\n}":           "",
		":8480 {\n@x crawler banned\nrespond @x 200\n}":                                                        "[*] banned",
	} {
		core, logs := observer.New(zap.WarnLevel)
		o := order{log: zap.New(core)}
		f := newSiteFinder(nil)
		f.look(routesOf(t, caddyfile), nil)
		o.askInVain(f)
		got := ""
		for _, entry := range logs.All() {
			got += fmt.Sprint(entry.ContextMap()["sites"], " ", entry.ContextMap()["word"])
		}
		if got != want {
			t.Errorf("%s\ngot %q, want %q", caddyfile, got, want)
		}
	}
}
