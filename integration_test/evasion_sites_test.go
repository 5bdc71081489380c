package integration

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
)

const evadedRules = `User-agent: *
Disallow: /private/
Allow: /private/press.html
Disallow: /*.pdf$
Disallow: /café/
Disallow: /odd;name/
Disallow: /cash%24/
Disallow: /star%2A/
Disallow: /50%25/
Disallow: /secret%20page.html
Disallow: /members/
Disallow: /open/closed/
`

// Folders and files that evadedRules disallow, decoded. Written out here, so that the code
// under test has no say in what it is judged by.
var (
	closedFolders = []string{"/private/", "/café/", "/odd;name/", "/cash$/", "/star*/", "/50%/", "/members/", "/secret page.html", "/open/closed/"}
	pressRelease  = "/private/press.html"
)

// disallows tells whether evadedRules disallow a decoded path.
func disallows(path string) bool {
	within := func(folder string) bool { return strings.HasPrefix(path, folder) }
	return slices.ContainsFunc(closedFolders, within) && !strings.HasPrefix(path, pressRelease) || strings.HasSuffix(path, ".pdf")
}

var evadedPages = pages{
	"/index.html": true, "/open.html": true, "/open/index.html": true, "/open/page.html": true, "/private.html": true,
	"/privateer/page.html": true, pressRelease: true, "/a b.html": true, "/crème.html": true, "/x;y.html": true,
	"/100%.html": true, "/q?.html": true, "/h#.html": true, "/star*.html": true, "/cash$.html": true, "/report.pdf.html": true,

	"/private/index.html": true, "/private/page.html": true, "/private/a/page.html": true, "/open/report.pdf": true,
	"/café/page.html": true, "/odd;name/page.html": true, "/cash$/page.html": true, "/star*/page.html": true, "/50%/page.html": true,
	"/secret page.html": true, "/open/closed/page.html": true,
}

var (
	phpPages  = pages{"/private/page.php": true, "/private/index.php": true, "/open/page.php": true, "/open/index.php": true, "/open/report.pdf": true}
	phpRoutes = pages{"/members/list": true, "/news/today": true}
)

const evadedSites = `{
	admin {$ADMIN}
	auto_https off
	grace_period 2s
	servers {
		protocols h1 h2c
	}
}
http://files.test:{$PORT} {
	root * {$ROOT}
	robots
	file_server
}
http://rewritten.test:{$PORT} {
	root * {$ROOT}
	robots
	try_files {path} {path}/ /index.html
	file_server
}
http://php.test:{$PORT} {
	root * {$PHP_ROOT}
	robots
	php_fastcgi {$PHP}
	file_server
}
http://mux.test:{$PORT}, http://nginx.test:{$PORT}, http://url.test:{$PORT}, http://reference.test:{$PORT}, http://servlets.test:{$PORT} {
	robots {
		source file {$ROOT}/robots.txt
		serve
	}
	reverse_proxy {$BACKENDS}
}
`

// evadedSite is a site whose pages are asked for in other spellings.
type evadedSite struct {
	host    string
	targets []string // its pages, as they are spelt
	whole   []string // those of them that are tried in all spellings, not in a few
	limits  string   // bytes by which it is known to be evaded
}

// evaded is a Caddy with all sites.
type evaded struct {
	*caddy
	sites []evadedSite
}

func startEvaded(t *testing.T) *evaded {
	t.Helper()
	root, phpRoot := t.TempDir(), t.TempDir()
	plant := func(root string, p pages) (targets []string) {
		for _, path := range slices.Sorted(maps.Keys(p)) {
			write(t, root+path, marker+path)
			for _, index := range []string{"index.html", "index.php"} {
				path = strings.TrimSuffix(path, index)
			}
			targets = append(targets, (&url.URL{Path: path}).EscapedPath())
		}
		write(t, root+"/robots.txt", evadedRules)
		return append(targets, "/robots.txt")
	}
	targets, phpTargets := plant(root, evadedPages), plant(phpRoot, phpPages)
	write(t, phpRoot+"/index.php", "the routes")

	e := &evaded{caddy: startWith(t, evadedSites, map[string]string{
		"ROOT": root, "PHP_ROOT": phpRoot, "PHP": startPHP(t, phpRoot, phpRoutes),
		"BACKENDS": startBackends(t, map[string]http.Handler{
			"mux.test": muxOf(evadedPages), "nginx.test": behind(evadedPages, likeNginx),
			"url.test": behind(evadedPages, likeURL), "reference.test": behind(evadedPages, likeReference),
			"servlets.test": behind(evadedPages, likeServlets),
		}),
	})}
	whole := []string{"/private/page.html", "/open/page.html", "/open/report.pdf", "/open/closed/page.html"}
	for _, host := range []string{"files.test", "rewritten.test", "nginx.test", "mux.test", "url.test", "reference.test"} {
		e.sites = append(e.sites, evadedSite{host: host, targets: targets, whole: whole})
	}
	e.sites = append(e.sites,
		evadedSite{host: "servlets.test", targets: targets, whole: whole, limits: `;\`},
		evadedSite{
			host: "php.test", targets: append(phpTargets, "/members/list", "/news/today"),
			whole: []string{"/private/page.php", "/open/page.php", "/members/list", "/open/report.pdf"},
		})
	return e
}
