package integration

import (
	"io/fs"
	"maps"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
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
