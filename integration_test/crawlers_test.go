package integration

import (
	"fmt"
	"maps"
	"net/url"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// A crawlingTool is a program that fetches a whole site, which nobody here wrote.
type crawlingTool struct {
	command string // what runs it
	token   string // what a record of robots.txt calls it
	crawls  bool   // says that it is a robot: the "*" record binds it. The others are libraries
	both    bool   // obeys the "*" record beside its own
	own     string // the folder that is disallowed to it by its own record

	// arguments are those of a fetch of all the site, with no politeness but robots.txt, and
	// without that where obey is false. home is an empty folder.
	arguments func(home, site string, obey bool) []string
}

var crawlingTools = []crawlingTool{
	{command: "wget", token: "Wget", own: "/a/", arguments: func(home, site string, obey bool) []string {
		return []string{"--recursive", "--level=inf", "--no-config", "--no-verbose", "--tries=1", "--timeout=30",
			"--execute", "robots=" + onOrOff(obey), "--directory-prefix", home, site}
	}},
	{command: "wget2", token: "wget2", own: "/b/", arguments: func(home, site string, obey bool) []string {
		return []string{"--recursive", "--level=inf", "--no-config", "--no-verbose", "--tries=1", "--timeout=30",
			"--robots=" + onOrOff(obey), "--directory-prefix", home, site}
	}},
	{command: "linkchecker", token: "LinkChecker", crawls: true, own: "/c/", arguments: func(home, site string, obey bool) []string {
		config := filepath.Join(home, "linkcheckerrc")
		args := []string{"--config", config, "--no-status", "--no-warnings", "--threads=4", "--timeout=30", site}
		if !obey {
			args = append(args, "--no-robots")
		}
		return args
	}},
	{command: "httrack", token: "HTTrack", crawls: true, both: true, own: "/d/", arguments: func(home, site string, obey bool) []string {
		robots := "-s0"
		if obey {
			robots = "-s2"
		}
		return []string{site, "-O", home, "-q", robots, "--disable-security-limits", "-%c0", "-A0", "-c8", "-R0", "-T30"}
	}},
	{command: "scrapy", token: "Scrapy", crawls: true, own: "/e/", arguments: func(home, site string, obey bool) []string {
		obeys := map[bool]string{true: "True", false: "False"}
		return []string{"runspider", filepath.Join(home, "spider.py"), "-a", "site=" + site, "-s", "ROBOTSTXT_OBEY=" + obeys[obey],
			"-s", "DOWNLOAD_DELAY=0", "-s", "RETRY_ENABLED=False", "-s", "TELNETCONSOLE_ENABLED=False", "-s", "DOWNLOAD_TIMEOUT=30"}
	}},
}

// spider is the smallest robot that Scrapy's tutorial makes: it follows every link.
const spider = `import scrapy

class Spider(scrapy.Spider):
    name = "spider"

    def __init__(self, site):
        self.start_urls = [site]

    def parse(self, response):
        for link in response.css("a::attr(href)").getall():
            yield response.follow(link, self.parse)
`

// linkcheckerrc makes LinkChecker as fast as it can be.
const linkcheckerrc = "[checking]\nmaxrequestspersecond=1000\n[output]\nfileoutput=\n"

func onOrOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

// crawledFolders are those of the site; the last is disallowed to all whom no record names.
var crawledFolders = []string{"/a/", "/b/", "/c/", "/d/", "/e/", "/f/"}

const (
	pagesInFolder = 16
	forEverybody  = "/f/"
)

// crawledPages are the hundred pages of the site that the tools crawl.
func crawledPages() []string {
	pages := []string{"/", "/about.html", "/contact.html", "/news.html"}
	for _, folder := range crawledFolders {
		for n := range pagesInFolder {
			pages = append(pages, fmt.Sprintf("%s%d.html", folder, n))
		}
	}
	slices.Sort(pages)
	return pages
}

// inFolder returns the pages in the folder, or all that are not in it.
func inFolder(folder string, in bool) []string {
	return slices.DeleteFunc(crawledPages(), func(page string) bool { return strings.HasPrefix(page, folder) != in })
}

// startCrawled serves a hundred pages, of which the first links to all, and each to the next.
func startCrawled(t *testing.T, robotsTxt string) *caddy {
	t.Helper()
	root := t.TempDir()
	pages := crawledPages()
	var links strings.Builder
	for n, page := range pages {
		next := pages[(n+1)%len(pages)]
		fmt.Fprintf(&links, "<a href=%q>%d</a>\n", page, n)
		if page != "/" {
			write(t, root+page, fmt.Sprintf("<!DOCTYPE html><title>%s</title><p><a href=%q>next</a>", page, next))
		}
	}
	write(t, root+"/index.html", "<!DOCTYPE html><title>all</title><p>"+links.String())
	write(t, root+"/robots.txt", robotsTxt)
	return start(t, `
http://:{$PORT} {
	log
	header LinkChecker yes # lets it ask more than ten times a second
	root * {$ROOT}
	robots
	file_server
}
`, map[string]string{"ROOT": root})
}

// recordsForEach disallows each tool its own folder, and all others the last.
func recordsForEach() string {
	var text strings.Builder
	for _, tool := range crawlingTools {
		fmt.Fprintf(&text, "User-agent: %s\nDisallow: %s\n\n", tool.token, tool.own)
	}
	return text.String() + "User-agent: *\nDisallow: " + forEverybody + "\n"
}

var crawlsMade atomic.Int64

// crawl has the tool fetch the whole site, and returns the pages that Caddy's access log says
// it was served and refused, in order and each once.
func (tool crawlingTool) crawl(t *testing.T, c *caddy, obey bool) (served, refused []string) {
	t.Helper()
	home := t.TempDir()
	write(t, filepath.Join(home, "spider.py"), spider)
	write(t, filepath.Join(home, "linkcheckerrc"), linkcheckerrc)
	before := len(c.log.all(inAccessLog))
	run := exec.Command(tool.command, tool.arguments(home, "http://"+c.address()+"/", obey)...)
	run.Dir = home
	run.Env = []string{"PATH=/usr/local/bin:/usr/bin:/bin", "LC_ALL=C", "HOME=" + home, "no_proxy=*"}
	run.WaitDelay = time.Second
	watch := time.AfterFunc(patience, func() { _ = run.Process.Kill() })
	defer watch.Stop()
	began := time.Now()
	out, err := run.CombinedOutput() // most say by their status that a page was refused
	if took := time.Since(began); took >= patience {
		t.Fatalf("%s did not end in %s: %v\n%s", tool.command, took, err, tail(string(out), 2000))
	}

	// Once the log tells of a later request, all before it are in there.
	last := fmt.Sprintf("/about.html?%d", crawlsMade.Add(1))
	c.expect(t, "", last, chrome, 200)
	c.log.wait(t, "the last request was answered", c.ended, inAccessLog, func(l line) bool { return accessedURI(l) == last })

	answers := map[string]map[string]bool{"200": {}, "403": {}}
	for _, l := range c.log.all(inAccessLog)[before:] {
		status := fmt.Sprint(l["status"])
		path := strings.Replace(accessedURI(l), "/index.html", "/", 1)
		if accessedURI(l) == last || path == "/robots.txt" || status == "404" { // a favicon or the like
			continue
		}
		if answers[status] == nil {
			t.Errorf("%s was answered %s at %s, want 200 or 403", tool.command, status, path)
			continue
		}
		answers[status][path] = true
	}
	served, refused = slices.Sorted(maps.Keys(answers["200"])), slices.Sorted(maps.Keys(answers["403"]))
	t.Logf("%s, obeying %t: %d pages in %s, %d refused", tool.command, obey, len(served), time.Since(began).Round(time.Millisecond), len(refused))
	if len(served) == 0 {
		t.Fatalf("%s got nothing: %v\n%s", tool.command, err, tail(string(out), 2000))
	}
	return served, refused
}

// inAccessLog holds for the lines of Caddy's access log.
func inAccessLog(l line) bool {
	return l.text("logger") == "http.log.access" || strings.HasPrefix(l.text("logger"), "http.log.access.")
}

// accessedURI is what a line of the access log says was asked for.
func accessedURI(l line) string {
	request, _ := l["request"].(map[string]any)
	uri, _ := request["uri"].(string)
	if decoded, err := url.PathUnescape(uri); err == nil {
		return decoded
	}
	return uri
}

// eachTool runs a test of each tool that is installed.
func eachTool(t *testing.T, test func(t *testing.T, tool crawlingTool)) {
	for _, tool := range crawlingTools {
		t.Run(tool.command, func(t *testing.T) {
			need(t, tool.command)
			t.Parallel()
			test(t, tool)
		})
	}
}

func TestRealCrawlersAreRefusedJustWhatTheirRecordDisallows(t *testing.T) {
	eachTool(t, func(t *testing.T, tool crawlingTool) {
		c := startCrawled(t, recordsForEach())
		tool.check(t, c, tool.own, true)
	})
}

// The "*" record binds robots that say that they crawl. GNU wget and wget2 are tools that a
// record binds only by their name, so nothing is refused to them; what they are told they obey.
func TestTheDefaultRecordBindsRealCrawlersThatSaySo(t *testing.T) {
	eachTool(t, func(t *testing.T, tool crawlingTool) {
		c := startCrawled(t, "User-agent: *\nDisallow: "+forEverybody+"\n")
		tool.check(t, c, forEverybody, tool.crawls)
	})
}

// check has the tool crawl the site as one that obeys robots.txt, which disallows it a folder,
// and as one that does not.
func (tool crawlingTool) check(t *testing.T, c *caddy, folder string, bound bool) {
	t.Helper()
	served, refused := tool.crawl(t, c, true)
	if len(refused) > 0 {
		t.Errorf("refused although it obeys: %v, want nothing", refused)
	}
	want := inFolder(folder, false)
	if tool.both {
		want = slices.DeleteFunc(want, func(page string) bool { return strings.HasPrefix(page, forEverybody) })
	}
	if !slices.Equal(served, want) {
		t.Errorf("obeying, it was served %d pages, want %d: %s", len(served), len(want), differ(served, want))
	}

	served, refused = tool.crawl(t, c, false)
	want = crawledPages()
	var wantRefused []string
	if bound {
		want, wantRefused = inFolder(folder, false), inFolder(folder, true)
	}
	if !slices.Equal(refused, wantRefused) {
		t.Errorf("ignoring robots.txt, it was refused %v, want %v", refused, wantRefused)
	}
	if !slices.Equal(served, want) {
		t.Errorf("ignoring robots.txt, it was served %d pages, want %d: %s", len(served), len(want), differ(served, want))
	}
}

// differ says what one list has that the other has not.
func differ(got, want []string) string {
	missing := slices.DeleteFunc(slices.Clone(want), func(s string) bool { return slices.Contains(got, s) })
	more := slices.DeleteFunc(slices.Clone(got), func(s string) bool { return slices.Contains(want, s) })
	return fmt.Sprintf("missing %v, too many %v", missing, more)
}
