package caddymodule

import (
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"
)

func TestSpellings(t *testing.T) {
	data, err := os.ReadFile("testdata/spellings.txt")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(data), "-- robots.txt --\n")
	robotsTxt, rows, found2 := strings.Cut(rest, "-- targets --\n")
	if !found || !found2 {
		t.Fatal("testdata/spellings.txt: a section is missing")
	}
	th := newTestHandler(t, robotsTxt, &Handler{})
	judged := 0
	for row := range strings.Lines(rows) {
		fields := strings.Fields(row)
		if len(fields) < 3 {
			t.Fatalf("malformed row %q", row)
		}
		target, want := fields[0], map[string]int{"allowed": 200, "disallowed": 403}[fields[1]]
		if want == 0 {
			t.Fatalf("malformed row %q", row)
		}
		judged++
		if got := th.do(requestLine(t, target)).Code; got != want {
			t.Errorf("%s: got %d, want %d: %s", target, got, want, strings.Join(fields[2:], " "))
		}
	}
	if judged < 40 {
		t.Errorf("judged %d rows, want at least 40", judged)
	}
}

// requestLine is a request from a robot with exactly this target on its request line.
func requestLine(t *testing.T, target string) *http.Request {
	t.Helper()
	r := newRequest("GET", "/", gptBot)
	original := *r
	original.RequestURI = target
	if target == "*" {
		original.URL = &url.URL{Path: "*"}
	} else {
		u, err := url.ParseRequestURI(target)
		if err != nil {
			t.Fatal(err)
		}
		original.URL = u
	}
	return withOriginal(r, original)
}

func TestAbsoluteFormTargets(t *testing.T) {
	th := newTestHandler(t, "User-agent: *\nDisallow: /private/\n", &Handler{})
	for target, want := range map[string]int{
		"http://site.example/private/": 403, "http://site.example/open": 200, "http://site.example": 200,
		"http://site.example/a/../private/?x": 403,
	} {
		if got := th.do(requestLine(t, target)).Code; got != want {
			t.Errorf("%s: got %d, want %d", target, got, want)
		}
	}
}

func TestATargetThatIsNoPathNamesTheRoot(t *testing.T) {
	th := newTestHandler(t, "User-agent: *\nDisallow: /$\n", &Handler{})
	for target, want := range map[string]int{"http:open": 403, "http:open?x": 200, "http://site.example/open": 200} {
		if got := th.do(requestLine(t, target)).Code; got != want {
			t.Errorf("%s: got %d, want %d", target, got, want)
		}
	}
}

func TestRobotsTxtIsServedBehindSlashesAndDots(t *testing.T) {
	th := newTestHandler(t, closedAll, &Handler{})
	for target, want := range map[string]int{
		"/robots.txt": 200, "//robots.txt": 200, "/././/robots.txt": 200, "/../robots.txt": 200, "/%2e/%72obots.txt": 200,
		"http://site.example//robots.txt": 200,
		"/x/../robots.txt":                403, "/.../robots.txt": 403, "/robots.txt/.": 403, "/x/robots.txt": 403, "//robots.txt.bak": 403, "//x/robots.txt": 403,
		"/robots.txt?x": 403, "/robots.txt?rest_route=/wp/v2/posts": 403, "//robots.txt?x": 403, "/robots.txt%3Fx": 403, "/robots.txt?": 200,
	} {
		if got := th.do(requestLine(t, target)).Code; got != want {
			t.Errorf("%s: got %d, want %d", target, got, want)
		}
	}
}

// What docs/caddyfile.md advises for the spellings that only some applications understand.
func TestALineKeepsRobotsFromWhatOnlyApplicationsUnderstand(t *testing.T) {
	for target, line := range map[string]string{
		"/private;x/page": "/private;", `/private%5Cpage`: `/private\`, "/index.php/private/page": "/index.php/",
		"/%2570rivate/page": "/*%25", "/Private/page": "/Private/", "/private/report.pdf?x": "/*.pdf",
	} {
		const before = "User-agent: *\nDisallow: /private/page\nDisallow: /*.pdf$\n"
		if got := newTestHandler(t, before, &Handler{}).do(requestLine(t, target)).Code; got != 200 {
			t.Errorf("%s: got %d, want 200", target, got)
		}
		if got := newTestHandler(t, before+"Disallow: "+line+"\n", &Handler{}).do(requestLine(t, target)).Code; got != 403 {
			t.Errorf("%s with %q: got %d, want 403", target, line, got)
		}
	}
}
