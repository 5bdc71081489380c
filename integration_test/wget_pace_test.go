package integration

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

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
	return start(t, `
http://:{$PORT} {
	root * {$ROOT}
	robots {
		`+options+`
	}
	file_server
}
`, map[string]string{"ROOT": root})
}

// wgetPaced runs wget on all the pages, and counts the documents that it got and those it
// was refused.
func wgetPaced(t *testing.T, c *caddy, args ...string) (got, refused int, took time.Duration) {
	t.Helper()
	began := time.Now()
	files, out := wget(t, append(args, "--tries=1", "http://"+c.address()+"/")...)
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
