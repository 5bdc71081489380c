package integration

import (
	"fmt"
	"io/fs"
	"maps"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// wget runs GNU wget with these arguments and those of a recursive fetch into an empty
// folder. It returns the paths of the files that it got, and what it says.
func wget(t *testing.T, args ...string) (got []string, out string) {
	t.Helper()
	folder := t.TempDir()
	fixed := []string{"--recursive", "--level=inf", "--no-verbose", "--no-host-directories", "--no-config",
		"--timeout=30", "--directory-prefix", folder}
	run := exec.Command("wget", append(fixed, args...)...)
	run.Env = []string{"PATH=/usr/local/bin:/usr/bin:/bin", "LC_ALL=C", "HOME=" + folder, "no_proxy=*"}
	said, _ := run.CombinedOutput() // wget ends with status 8 where a page was refused
	err := filepath.WalkDir(folder, func(name string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() {
			path, relErr := filepath.Rel(folder, name)
			got = append(got, "/"+filepath.ToSlash(path))
			return relErr
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return got, string(said)
}

// mirror runs GNU wget on pages of the site, into an empty folder. It returns the paths
// of the files that it got and of the pages that it was refused,
// both in order.
func mirror(t *testing.T, c *caddy, robots string, pages ...string) (got, refused []string) {
	t.Helper()
	args := []string{"--tries=2", "--execute", "robots=" + robots}
	for _, page := range pages {
		args = append(args, "http://"+c.address()+page)
	}
	got, out := wget(t, args...)
	slices.Sort(got)
	if len(got) == 0 {
		t.Fatalf("wget got nothing:\n%s", out)
	}
	// A page is named on a line of its own, and the error on the next.
	failure := regexp.MustCompile(`(?m)^http://[^/\s]+(/\S*):\n.* ERROR 403`)
	for _, m := range failure.FindAllStringSubmatch(out, -1) {
		refused = append(refused, m[1])
	}
	slices.Sort(refused)
	return got, slices.Compact(refused) // wget tries again what it did not get
}

// refusedBy returns the paths that Caddy's log says were refused to wget, in order and
// each once.
func refusedBy(t *testing.T, c *caddy) []string {
	t.Helper()
	// Once the log tells of a later refusal, all before it are in there.
	c.expect(t, "", "/news.html", gptbot, 403)
	c.log.wait(t, "GPTBot was refused", c.ended, message(msgRefused), field("robot", "GPTBot"))
	paths := make(map[string]bool)
	for _, l := range c.log.all(message(msgRefused), field("robot", "Wget")) {
		paths[l.text("uri")] = true
	}
	return slices.Sorted(maps.Keys(paths))
}

// exampleFiles returns the files of the example site that keep holds for.
func exampleFiles(t *testing.T, keep func(path string) bool) []string {
	t.Helper()
	var paths []string
	root := filepath.Join("..", "example")
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		path, err := filepath.Rel(root, name)
		if path = "/" + filepath.ToSlash(path); keep(path) {
			paths = append(paths, path)
		}
		return err
	})
	if err != nil || len(paths) < 3 {
		t.Fatalf("the example site: got files %v, error %v", paths, err)
	}
	return paths
}

func isDraft(path string) bool { return strings.HasPrefix(path, "/drafts/") }

func TestWgetThatHeedsRobotsTxtIsNeverRefused(t *testing.T) {
	need(t, "wget")
	c := startExample(t)
	got, refused := mirror(t, c, "on", "/")
	if want := exampleFiles(t, func(path string) bool { return !isDraft(path) }); !slices.Equal(got, want) {
		t.Errorf("wget mirrored %v, want %v", got, want)
	}
	if byCaddy := refusedBy(t, c); len(refused)+len(byCaddy) > 0 {
		t.Errorf("refused: %v by wget, %v by Caddy's log, want none", refused, byCaddy)
	}
}

func TestWgetThatIgnoresRobotsTxtIsRefusedJustWhatItDisallows(t *testing.T) {
	need(t, "wget")
	c := startExample(t)
	drafts := []string{"/drafts/", "/drafts/one.html", "/drafts/two.html"}
	got, refused := mirror(t, c, "off", append([]string{"/"}, drafts...)...)
	if !slices.Equal(refused, drafts) {
		t.Errorf("refused according to wget: got %v, want %v", refused, drafts)
	}
	if byCaddy := refusedBy(t, c); !slices.Equal(byCaddy, drafts) {
		t.Errorf("refused according to Caddy's log: got %v, want %v", byCaddy, drafts)
	}
	// It never asks for robots.txt, so it has all the rest but that.
	want := exampleFiles(t, func(path string) bool { return !isDraft(path) })
	got = slices.DeleteFunc(got, func(path string) bool { return path == "/robots.txt" })
	want = slices.DeleteFunc(want, func(path string) bool { return path == "/robots.txt" })
	if !slices.Equal(got, want) {
		t.Errorf("wget mirrored %v, want %v", got, want)
	}
}

const (
	wgetPages = 9           // of the site that wget is to fetch
	wgetDelay = time.Second // as the site's robots.txt has it
)

// startPaced serves pages that the first of them links to, to a wget that is asked to
// keep a pace.
func startPaced(t *testing.T, options string) *caddy {
	t.Helper()
	root := t.TempDir()
	write(t, root+"/robots.txt", fmt.Sprintf("User-agent: Wget\nCrawl-delay: %d\n", int(wgetDelay.Seconds())))
	var links strings.Builder
	for n := range wgetPages - 1 {
		page := fmt.Sprintf("/page%d.html", n+1)
		write(t, root+page, "<title>page</title>")
		fmt.Fprintf(&links, "<a href=%q>page</a>\n", page)
	}
	write(t, root+"/index.html", links.String())
	c := startWith(t, proxied+`
http://:{$PORT} {
	root * {$ROOT}
	robots {
		`+options+`
	}
	file_server
}
`, map[string]string{"ROOT": root})
	c.robotComes(t, "") // wget, which is no robot, does not wait until the rules are loaded
	return c
}

// wgetPaced runs wget on all the pages, as a client whose address is known. It counts the
// documents that it got and those it was refused.
func wgetPaced(t *testing.T, c *caddy, args ...string) (got, refused int, took time.Duration) {
	t.Helper()
	began := time.Now()
	files, out := wget(t, append(args, "--tries=1", "--header=X-Forwarded-For: "+personal, "http://"+c.address()+"/")...)
	took = time.Since(began)
	for _, file := range files {
		if file != "/robots.txt" { // which is free
			got++
		}
	}
	refused = strings.Count(out, "ERROR 429")
	t.Logf("wget %s: got %d documents and was refused %d in %s", strings.Join(args, " "), got, refused, took)
	return got, refused, took
}

func TestWgetThatWaitsAsLongAsItIsAskedIsNeverRefused(t *testing.T) {
	need(t, "wget")
	t.Parallel()
	c := startPaced(t, "")
	got, refused, _ := wgetPaced(t, c, fmt.Sprintf("--wait=%d", int(wgetDelay.Seconds())))
	if got != wgetPages || refused != 0 {
		t.Errorf("got %d documents and %d refusals, want %d and none", got, refused, wgetPages)
	}
}

func TestWgetThatDoesNotWaitGetsItsPaceAndNoMore(t *testing.T) {
	need(t, "wget")
	t.Parallel()
	for name, pause := range map[string]time.Duration{"no pause": 0, "pauses that are too short": wgetDelay * 3 / 10} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := startPaced(t, "")
			got, refused, took := wgetPaced(t, c, "--execute", "robots=off", fmt.Sprintf("--wait=%g", pause.Seconds()))
			if least, most := int(took/(wgetDelay+pause))+1, int(took/wgetDelay)+1; got < least || got > most {
				t.Errorf("documents in %s: got %d, want %d to %d", took, got, least, most)
			}
			if got+refused != wgetPages {
				t.Errorf("got %d documents and %d refusals, want %d together", got, refused, wgetPages)
			}
		})
	}
}

func TestWgetThatIsHeldGetsEverythingAtItsPace(t *testing.T) {
	need(t, "wget")
	t.Parallel()
	c := startPaced(t, "too_fast wait 10s")
	got, refused, took := wgetPaced(t, c, "--execute", "robots=off")
	if got != wgetPages || refused != 0 {
		t.Errorf("got %d documents and %d refusals, want %d and none", got, refused, wgetPages)
	}
	if least := (wgetPages - 1) * wgetDelay; took < least {
		t.Errorf("%d documents took %s, want at least %s", got, took, least)
	}
}
