package integration

import (
	"errors"
	"maps"
	"net"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"
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
http://mux.test:{$PORT}, http://nginx.test:{$PORT}, http://url.test:{$PORT}, http://servlets.test:{$PORT} {
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
	limits  string   // octets by which it is known to be evaded
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
			"url.test": behind(evadedPages, likeURL), "servlets.test": behind(evadedPages, likeServlets),
		}),
	})}
	whole := []string{"/private/page.html", "/open/page.html", "/open/report.pdf", "/open/closed/page.html"}
	for _, host := range []string{"files.test", "rewritten.test", "mux.test", "nginx.test", "url.test"} {
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

// pageIn returns the path of the page that was served, "" if none was.
func (a answer) pageIn() string {
	if a.status != http.StatusOK {
		return ""
	}
	if a.body == evadedRules {
		return "/robots.txt"
	}
	page, ok := strings.CutPrefix(a.body, marker)
	if !ok {
		return ""
	}
	return page
}

// decodedOnce returns a target's path and query with each escape decoded but that of a
// slash, as robots.txt compares it, and without the scheme and host of an absolute form.
func decodedOnce(target string) string {
	if !strings.HasPrefix(target, "/") {
		if u, err := url.Parse(target); err == nil {
			target = "/" + strings.TrimPrefix(u.RequestURI(), "/")
		}
	}
	target, _, _ = strings.Cut(target, "#")
	return decoded(target)
}

// decoded returns text with each escape decoded but that of a slash.
func decoded(text string) string {
	var all strings.Builder
	for _, token := range tokens(text) {
		if c := octet(token); c != '/' {
			token = string([]byte{c})
		}
		all.WriteString(token)
	}
	return all.String()
}

// asAFileServer returns the path that a file server finds for a target.
func asAFileServer(target string) string {
	u, err := url.ParseRequestURI(target)
	if err != nil {
		return ""
	}
	clean := path.Clean("/" + u.Path)
	if strings.HasSuffix(u.Path, "/") && clean != "/" {
		clean += "/"
	}
	return clean
}

// outcomes counts what became of the spellings of a kind. It is safe for concurrent use.
type outcomes struct {
	mu                            sync.Mutex
	sent, served, refused, evaded map[string]int
}

func newOutcomes() *outcomes {
	return &outcomes{sent: map[string]int{}, served: map[string]int{}, refused: map[string]int{}, evaded: map[string]int{}}
}

func (y *outcomes) add(counts map[string]int, s spelling) {
	y.mu.Lock()
	defer y.mu.Unlock()
	for _, kind := range s.kinds {
		counts[kind]++
	}
}

// judge asks for a spelling as a person and as a robot, and holds what the robot is
// answered against what the person was served.
func (e *evaded) judge(t *testing.T, w *wire, site *evadedSite, s spelling, y *outcomes) {
	target := strings.NewReplacer("{host}", site.host, "{HOST}", strings.ToUpper(site.host)).Replace(s.target)
	person, err := w.ask(site.host, target, chrome)
	robot, err2 := w.ask(site.host, target, bingbot)
	for _, err := range []error{err, err2} {
		if err != nil && !errors.Is(err, errNoAnswer) {
			t.Errorf("%s %q, %s: %v", site.host, target, s.kinds, err)
		}
	}
	complain := func(what string) {
		t.Errorf("%s %q, %s: %s: a person is served %q with %d, a robot %q with %d",
			site.host, target, s.kinds, what, person.pageIn(), person.status, robot.pageIn(), robot.status)
	}
	y.add(y.sent, s)
	if person.status == http.StatusForbidden {
		complain("a person is refused")
	}
	served, refused := person.pageIn(), robot.status == http.StatusForbidden
	if served != "" {
		y.add(y.served, s)
	}
	if refused {
		y.add(y.refused, s)
	}
	switch {
	case served == "/robots.txt" && robot.pageIn() != served:
		if !disallows(decodedOnce(target)) {
			complain("the rules are not told")
		}
	case disallows(served) && !refused:
		_, query := split(target)
		switch {
		case strings.HasSuffix(served, ".pdf") && query != "": // "$" is the end of path and query
		case strings.ContainsAny(decoded(target), site.limits):
			y.add(y.evaded, s)
		default:
			complain("evaded")
		}
	case refused && !disallows(served) && served != "":
		if !slices.ContainsFunc([]string{decodedOnce(target), asAFileServer(target), likeURL(target)}, disallows) {
			complain("refused although allowed")
		}
	case !refused && err2 == nil && (robot.status != person.status || robot.pageIn() != served):
		complain("neither refused nor served the same")
	}
}

// An evasion is a spelling and where it is tried.
type evasion struct {
	site *evadedSite
	spelling
}

// evasions sends what is to be tried at all sites to each, and closes it.
func (e *evaded) evasions(each chan<- evasion) {
	defer close(each)
	most, pairwise := 60, 2
	if raceDetector {
		most, pairwise = 8, 1
	}
	for i := range e.sites {
		site := &e.sites[i]
		send := func(all []spelling) {
			for _, s := range all {
				each <- evasion{site, s}
			}
		}
		for turn, target := range site.targets {
			send([]spelling{{nil, target}})
			send(singles(target, 2, turn+i))
		}
		for turn, target := range site.whole {
			send(singles(target, most, turn+i))
		}
		send(pairs(site.whole[0], pairwise, i))
		send(pairs(site.whole[1], 1, i))
	}
}

// tryAll judges evasions over several connections at once.
func (e *evaded) tryAll(t *testing.T, open func(net.Conn) (exchange, error), all <-chan evasion) *outcomes {
	y := newOutcomes()
	var workers sync.WaitGroup
	for range 8 {
		workers.Go(func() {
			w := &wire{address: e.address(), open: open}
			defer w.close()
			for a := range all {
				e.judge(t, w, a.site, a.spelling, y)
			}
		})
	}
	workers.Wait()
	return y
}

// check fails the test unless spellings of every kind were served and others refused, and
// at least so many were sent: else it would have shown nothing.
func (y *outcomes) check(t *testing.T, least int) {
	t.Helper()
	sent := 0
	for _, k := range kinds {
		sent += y.sent[k.name]
		if y.served[k.name] == 0 || y.refused[k.name] == 0 {
			t.Errorf("%s: of %d spellings, %d were served to a person and %d refused to a robot, want some of each",
				k.name, y.sent[k.name], y.served[k.name], y.refused[k.name])
		}
	}
	if sent < least {
		t.Errorf("%d spellings were sent, want at least %d", sent, least)
	}
	t.Logf("sent %v, served %v, refused %v, by a known limit %v", y.sent, y.served, y.refused, y.evaded)
}

func TestNoSpellingEvades(t *testing.T) {
	e := startEvaded(t)
	all := make(chan evasion)
	go e.evasions(all)
	y := e.tryAll(t, http1, all)
	if raceDetector {
		y.check(t, 5_000)
	} else {
		y.check(t, 20_000)
	}
	for _, kind := range []string{"parameters", "backslash"} {
		if y.evaded[kind] == 0 {
			t.Errorf("%s: none was served as another page, so this is no limit", kind)
		}
	}
}

func TestNoSpellingEvadesOverHTTP2(t *testing.T) {
	e := startEvaded(t)
	all := make(chan evasion)
	go func() {
		defer close(all)
		for i := range e.sites {
			for turn, target := range e.sites[i].whole {
				for _, s := range singles(target, 3, turn+i) {
					all <- evasion{&e.sites[i], s}
				}
			}
			for _, target := range e.sites[i].targets {
				for _, s := range singles(target, 1, i) {
					all <- evasion{&e.sites[i], s}
				}
			}
			for _, target := range []string{"", "*", "/", "private/page.html", "#", "?", "/#", "/private/page.html#/../../open.html", "x://y/private/page.html"} {
				all <- evasion{&e.sites[i], spelling{nil, target}}
			}
		}
	}()
	e.tryAll(t, http2Cleartext, all).check(t, 1_000)
}
