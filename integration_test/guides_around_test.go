package integration

import (
	"crypto/tls"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"os"
	"slices"
	"strings"
	"testing"
)

// appsOfGuide runs the two apps of the guide as soon as they are written.
func appsOfGuide(t *testing.T, g *guide) {
	need(t, "node")
	need(t, "python3")
	node, python := freePort(t), freePort(t)
	g.places = []string{"localhost:3000", "localhost:" + node, "localhost:8000", "localhost:" + python}
	g.wrote = func(name string) {
		port, interpreter := node, "node"
		switch name {
		case "app.mjs":
		case "app.py":
			port, interpreter = python, "python3"
		default:
			return
		}
		background(t, "env", "PORT="+port, interpreter, g.path(name))
		eventually(t, name+" listens", func() bool {
			conn, err := net.Dial("tcp", "localhost:"+port)
			if err == nil {
				conn.Close()
			}
			return err == nil
		})
	}
}

// cdnOfGuide has the visitors come by a CDN, which writes their address into a header of its own and
// behind what stands in X-Forwarded-For.
func cdnOfGuide(t *testing.T, g *guide) {
	cdn := httptest.NewTLSServer(&httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.Scheme, r.Out.URL.Host = "https", r.In.Host
			r.Out.Header.Set("CF-Connecting-IP", personal)
			said := append(slices.Clone(r.In.Header["X-Forwarded-For"]), personal)
			r.Out.Header.Set("X-Forwarded-For", strings.Join(said, ", "))
		},
		Transport: &http.Transport{
			TLSClientConfig:   &tls.Config{InsecureSkipVerify: true},
			DisableKeepAlives: true,
			Dial:              func(network, _ string) (net.Conn, error) { return net.Dial(network, "127.0.0.1:"+g.env["PORT2"]) },
		},
	})
	t.Cleanup(cdn.Close)
	g.visiting = strings.TrimPrefix(cdn.URL, "https://")
	g.places = []string{"173.245.48.0/20", "127.0.0.1/32"}
}

// giteaOfGuide is a forge and an Anubis, at the places where the guide has them.
func giteaOfGuide(t *testing.T, g *guide) {
	forge := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			http.ServeFile(w, r, g.path("/srv/gitea/custom/public/robots.txt"))
			return
		}
		_, _ = w.Write([]byte("page " + r.URL.RequestURI()))
	}))
	t.Cleanup(forge.Close)
	g.places = []string{
		"localhost:3000", strings.TrimPrefix(forge.URL, "http://"),
		"localhost:8923", strings.TrimPrefix(newGate(t, forge.URL).URL, "http://"),
	}
}

// giteaIsTheRecipe holds the guide to the recipe, which is tried with more pages.
func giteaIsTheRecipe(t *testing.T, _ *guide) {
	page := read(t, "docs/guides/gitea.md")
	robotsTxt, caddyfile := recipe(t, "Gitea and Forgejo")
	for _, block := range []string{robotsTxt, caddyfile} {
		if !strings.Contains(page, block) {
			t.Errorf("the guide has not what docs/recipes.md has:\n%s", block)
		}
	}
}

// wordPressOfGuide is a WordPress without Caddy. It is installed when Caddy runs.
func wordPressOfGuide(t *testing.T, g *guide) {
	home := prepareWordPress(t)
	if err := os.MkdirAll(home+"/srv", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(home+"/site", home+"/srv/shop"); err != nil {
		t.Fatal(err)
	}
	g.home = home
	g.places = []string{"unix//run/php/php-fpm.sock", "unix/" + home + "/php.sock", "shop.example.com {", "shop.example.com, http://127.0.0.1:{$PORT} {"}
	g.started = func(t *testing.T) { g.wordPress = installWordPress(t, g.caddy, home+"/site") }
}

// wordPressWorks fails the test unless a person can write in the guide's WordPress, it reaches itself,
// and only robots were refused.
func wordPressWorks(t *testing.T, g *guide) {
	g.wordPress.works(t)
	refused := g.log.all(message(msgRefused))
	if len(refused) == 0 {
		t.Error("the log has no refusal")
	}
	for _, l := range refused {
		if l.text("class") != "robot" {
			t.Errorf("refused: %v", l)
		}
	}
}
