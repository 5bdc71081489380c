package integration

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// The example of seed 000, section 2.
const mementoSite = `
http://archive.test:{$PORT} {
	robots
	respond /robots.txt <<ROBOTS
		User-agent: *
		Disallow: /
		User-agent: memento
		Allow: /web/
		ROBOTS
	respond "page"
}
`

// Robots that say they respect the sticky Memento-Datetime are bound by the record for
// memento, all others by that for everybody.
func TestRobotsThatSayMementoMayFetchMementos(t *testing.T) {
	c := start(t, mementoSite, nil)
	for _, tt := range []struct {
		agent, path string
		want        int
	}{
		{"Mozilla/5.0 (compatible; ExampleMirror/1.0; memento; +https://mirror.example/)", "/web/20260101/http://a.example/", 200},
		{"ExampleMirror/1.0 Memento (+https://mirror.example/bot.html)", "/web/20260101/http://a.example/", 200},
		{"mirrorbot/1.0 (memento)", "/web/", 200},
		{"memento/1.0", "/web/", 200},
		{"Mozilla/5.0 (compatible; ExampleMirror/1.0; +https://mirror.example/)", "/web/20260101/http://a.example/", 403},
		{gptbot, "/web/", 403},
		{gptbot, "/other/", 403},
		{"", "/web/", 403},
		{chrome, "/other/", 200},
	} {
		c.expect(t, "archive.test", tt.path, tt.agent, tt.want)
	}
}

// A Memento client (RFC 7089, section 4.1, pattern 2) asks for a page as it was: it gets
// the page, follows the link to the time gate with the date it wants, and is led to the
// memento. The archive is another server.
func TestAMementoClientFindsAnOldVersion(t *testing.T) {
	const wanted = "Thu, 01 Jan 2015 00:00:00 GMT"
	var original string
	archive := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch uri, gate := strings.CutPrefix(r.RequestURI, "/timegate/"); {
		case gate && r.Header.Get("Accept-Datetime") == wanted:
			original = uri
			w.Header().Set("Vary", "accept-datetime")
			w.Header().Set("Location", "/memento/20150101000000/"+uri)
			w.WriteHeader(http.StatusFound)
		case strings.HasPrefix(r.RequestURI, "/memento/20150101000000/"):
			w.Header().Set("Memento-Datetime", wanted)
			_, _ = w.Write([]byte("as it was"))
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	t.Cleanup(archive.Close)
	c := start(t, `
http://site.test:{$PORT} {
	robots {
		announce timegate
	}
	respond /robots.txt <<ROBOTS
		TimeGate: {$ARCHIVE}/timegate/
		Archived: site.test/
		ROBOTS
	respond "as it is"
}
`, map[string]string{"ARCHIVE": archive.URL})

	host := "site.test:" + c.env["PORT"]
	c.announced(t, host)
	page := c.expect(t, host, "/wiki/Page?action=view", chrome, 200)
	gate, found := strings.CutSuffix(page.header.Get("Link"), `>; rel="timegate"`)
	if !found || page.body != "as it is" {
		t.Fatalf("the page: got Link %q and %q, want a time gate", page.header.Get("Link"), page.body)
	}
	gate = strings.TrimPrefix(gate, "<")
	dated := http.Header{"Accept-Datetime": {wanted}}
	negotiated, err := request{agent: chrome, header: dated}.try(client, gate)
	if err != nil || negotiated.status != http.StatusFound {
		t.Fatalf("the time gate %s: got %d, error %v, want 302", gate, negotiated.status, err)
	}
	if want := "http://" + host + "/wiki/Page?action=view"; original != want {
		t.Errorf("the time gate was asked for %q, want %q", original, want)
	}
	memento, err := request{agent: chrome}.try(client, archive.URL+negotiated.header.Get("Location"))
	if err != nil || memento.body != "as it was" || memento.header.Get("Memento-Datetime") != wanted {
		t.Errorf("the memento: got %q of %q, error %v, want %q", memento.body, memento.header.Get("Memento-Datetime"), err, "as it was")
	}
}

// announced waits until the rules of a host are loaded: nobody waits for a header, so the
// first answers to browsers have none.
func (c *caddy) announced(tb testing.TB, host string) {
	tb.Helper()
	c.ask(tb, request{host: host, path: "/", agent: bingbot}) // robots wait for the rules
}
