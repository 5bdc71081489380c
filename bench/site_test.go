package bench

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	_ "github.com/caddyserver/caddy/v2/modules/standard"

	_ "github.com/caddy-robots/caddy-robots"
)

// page is what every site answers to everything, if nothing in front of it does. It is a
// robots.txt, for the sites whose own one is asked for.
const page = "\trespond \"User-agent: *\nDisallow: /search\"\n"

// inFront are the ways to keep the named robots out, as they are written in a Caddyfile.
var inFront = map[string]func(names []string) string{
	"bare":  func([]string) string { return "" },
	"empty": func([]string) string { return "\tempty\n" },
	"robots": func(names []string) string {
		return "\trobots {\n\t\tsource text <<TEXT\n" + robotsTxt(names) + "TEXT\n\t}\n"
	},
	"header": func(names []string) string {
		var b strings.Builder
		b.WriteString("\t@named {\n")
		for _, name := range names {
			fmt.Fprintf(&b, "\t\theader User-Agent \"*%s*\"\n", name)
		}
		return b.String() + "\t}\n\trespond @named 403\n"
	},
	"header_regexp": func(names []string) string {
		quoted := make([]string, len(names))
		for i, name := range names {
			quoted[i] = regexp.QuoteMeta(name)
		}
		return "\t@named header_regexp User-Agent `(?i)(" + strings.Join(quoted, "|") + ")`\n\trespond @named 403\n"
	},
}

// empty is a handler that does nothing: what any directive costs at least.
type empty struct{}

func init() {
	caddy.RegisterModule(empty{})
	httpcaddyfile.RegisterHandlerDirective("empty", func(httpcaddyfile.Helper) (caddyhttp.MiddlewareHandler, error) { return empty{}, nil })
	httpcaddyfile.RegisterDirectiveOrder("empty", httpcaddyfile.Before, "redir")
}

// CaddyModule returns the Caddy module information.
func (empty) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.handlers.empty", New: func() caddy.Module { return new(empty) }}
}

// ServeHTTP implements caddyhttp.MiddlewareHandler.
func (empty) ServeHTTP(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler) error {
	return next.ServeHTTP(w, r)
}

// run starts a Caddy with one server for each of the sites, given by what stands in front of
// their page or as a whole Caddyfile, and returns those. It stops when the benchmark is over. Of one process only
// one Caddy can run.
func run(b *testing.B, sites ...string) []http.Handler {
	b.Helper()
	servers := make(map[string]json.RawMessage)
	for i, site := range sites {
		if !strings.HasPrefix(site, "http://") {
			site = "http://:0 {\n" + site + page + "}\n"
		}
		servers[fmt.Sprint(i)] = server(b, site, "unix/"+filepath.Join(home, fmt.Sprint(i)))
	}
	app, err := json.Marshal(map[string]any{"servers": servers})
	if err != nil {
		b.Fatal(err)
	}
	never := false
	err = caddy.Run(&caddy.Config{
		Admin:   &caddy.AdminConfig{Disabled: true, Config: &caddy.ConfigSettings{Persist: &never}},
		Logging: &caddy.Logging{Logs: map[string]*caddy.CustomLog{"default": {BaseLog: caddy.BaseLog{WriterRaw: json.RawMessage(`{"output": "discard"}`)}}}},
		AppsRaw: caddy.ModuleMap{"http": app},
	})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := caddy.Stop(); err != nil {
			b.Error(err)
		}
	})
	running, err := caddy.ActiveContext().App("http")
	if err != nil {
		b.Fatal(err)
	}
	handlers := make([]http.Handler, len(sites))
	for i := range sites {
		handlers[i] = running.(*caddyhttp.App).Servers[fmt.Sprint(i)]
	}
	return handlers
}

// server returns the JSON of the one server that a Caddyfile, site, makes; it listens at address; but
// nobody comes there, as requests are handed to it.
func server(b *testing.B, site, address string) json.RawMessage {
	b.Helper()
	adapter := caddyfile.Adapter{ServerType: httpcaddyfile.ServerType{}}
	config, warnings, err := adapter.Adapt([]byte(site), nil)
	if err != nil || len(warnings) > 0 {
		b.Fatal(err, warnings)
	}
	var adapted struct {
		Apps struct {
			HTTP struct {
				Servers map[string]map[string]any
			}
		}
	}
	if err := json.Unmarshal(config, &adapted); err != nil {
		b.Fatal(err)
	}
	only := adapted.Apps.HTTP.Servers["srv0"]
	only["listen"] = []string{address}
	text, err := json.Marshal(only)
	if err != nil {
		b.Fatal(err)
	}
	return text
}

// home is a folder for what Caddy keeps, that does not outlive the benchmarks.
var home string

func TestMain(m *testing.M) {
	var err error
	home, err = os.MkdirTemp("", "caddy-robots-bench-")
	if err == nil {
		err = os.Setenv("XDG_DATA_HOME", home)
	}
	if err != nil {
		panic(err)
	}
	status := m.Run()
	_ = os.RemoveAll(home)
	os.Exit(status)
}
