package integration

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
)

const strictRules = `User-agent: GPTBot
Disallow: /

User-agent: bingbot
Crawl-delay: 3600
`

func TestObserveJudgesAndLogsTheWholeSiteAndRefusesNothing(t *testing.T) {
	root := t.TempDir()
	write(t, root+"/robots.txt", strictRules)
	write(t, root+"/page.html", "page")
	c := start(t, `
http://:{$PORT} {
	root * {$ROOT}
	robots {
		observe
	}
	file_server
}
`, map[string]string{"ROOT": root})
	for _, agent := range []string{gptbot, gptbot, bingbot, bingbot, chrome} {
		c.expect(t, "", "/page.html", agent, 200)
	}
	// The last one to be logged: all the others are logged before it.
	c.log.wait(t, "bingbot came too fast", c.ended, message(msgObserved), field("verdict", "too_fast"), field("robot", "bingbot"))
	if got := len(c.log.all(message(msgObserved), field("verdict", "disallowed"), field("robot", "GPTBot"))); got != 2 {
		t.Errorf("lines about GPTBot: got %d, want 2", got)
	}
	if got := len(c.log.all(message(msgObserved))); got != 3 {
		t.Errorf("lines %q: got %d, want 3", msgObserved, got)
	}
	if got := len(c.log.all(message(msgRefused))); got != 0 {
		t.Errorf("lines %q: got %d, want none", msgRefused, got)
	}
}

const servingSites = `
http://text.test:{$PORT} {
	robots {
		source text <<ROBOTS
			User-agent: GPTBot
			Disallow: /from-text/

			ROBOTS
		serve
	}
	respond "page"
}
http://file.test:{$PORT} {
	robots {
		source file {$FOLDER}/rules.txt
		serve
	}
	respond "page"
}
http://url.test:{$PORT} {
	robots {
		source url {$REMOTE}/rules
		serve
	}
	respond "page"
}
http://all.test:{$PORT} {
	robots {
		source text <<ROBOTS
			User-agent: GPTBot
			Disallow: /from-text/
			ROBOTS
		source file {$FOLDER}/rules.txt
		source url {$REMOTE}/rules
		serve
	}
	respond "page"
}
`

func TestServeAnswersWithTheTextThatIsEnforced(t *testing.T) {
	folder := t.TempDir()
	write(t, folder+"/rules.txt", "User-agent: bingbot\nDisallow: /from-file/")
	remote := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("User-agent: YandexBot\nDisallow: /from-url/\n"))
	}))
	defer remote.Close()
	c := start(t, servingSites, map[string]string{"FOLDER": folder, "REMOTE": remote.URL})

	const (
		byText = "User-agent: GPTBot\nDisallow: /from-text/\n"
		byFile = "User-agent: bingbot\nDisallow: /from-file/"
		byURL  = "User-agent: YandexBot\nDisallow: /from-url/\n"
	)
	all := "# from this site\n" + byText + "\n# from rules.txt of this site\n" + byFile + "\n\n# from " + remote.URL + "/rules\n" + byURL
	yandex := "Mozilla/5.0 (compatible; YandexBot/3.0; +http://yandex.com/bots)"
	for _, tt := range []struct{ host, text, path, agent string }{
		{"text.test", byText, "/from-text/", gptbot},
		{"file.test", byFile, "/from-file/", bingbot},
		{"url.test", byURL, "/from-url/", yandex},
		{"all.test", all, "/from-text/", gptbot},
		{"all.test", all, "/from-file/", bingbot},
		{"all.test", all, "/from-url/", yandex},
	} {
		c.expect(t, tt.host, tt.path, tt.agent, 403)
		served := request{host: tt.host, path: "/robots.txt", agent: tt.agent}
		get := c.ask(t, served)
		if get.status != 200 || get.body != tt.text {
			t.Errorf("GET %s/robots.txt: got %d %q, want 200 %q", tt.host, get.status, get.body, tt.text)
		}
		if got := get.header.Get("Content-Type"); got != "text/plain; charset=utf-8" {
			t.Errorf("GET %s/robots.txt: got Content-Type %q", tt.host, got)
		}
		served.method = http.MethodHead
		if head := c.ask(t, served); head.status != 200 || head.header.Get("Content-Length") != strconv.Itoa(len(tt.text)) {
			t.Errorf("HEAD %s/robots.txt: got %d, Content-Length %q, want 200, %d",
				tt.host, head.status, head.header.Get("Content-Length"), len(tt.text))
		}
		served.method = http.MethodGet
		served.header = http.Header{"If-None-Match": {get.header.Get("ETag")}}
		if again := c.ask(t, served); again.status != 304 || again.body != "" {
			t.Errorf("GET %s/robots.txt with its ETag %v: got %d %q, want 304", tt.host, served.header, again.status, again.body)
		}
	}
}

func TestAccessLogHasTheVerdict(t *testing.T) {
	root := t.TempDir()
	write(t, root+"/robots.txt", strictRules)
	write(t, root+"/page.html", "page")
	c := start(t, `
http://:{$PORT} {
	log
	root * {$ROOT}
	robots {
		exempt Monitor
	}
	file_server
}
`, map[string]string{"ROOT": root})
	monitored := gptbot + " Monitor/1.0"
	c.expect(t, "", "/page.html", chrome, 200)
	c.expect(t, "", "/page.html", gptbot, 403)
	c.expect(t, "", "/page.html", monitored, 200)
	c.expect(t, "", "/page.html", bingbot, 200)
	c.expect(t, "", "/page.html", bingbot, 429)

	access := func(l line) bool {
		asked, _ := l["request"].(map[string]any)
		return strings.HasPrefix(l.text("logger"), "http.log.access") && line(asked).text("uri") == "/page.html"
	}
	eventually(t, "five lines of access log", func() bool { return len(c.log.all(access)) >= 5 })
	type told struct {
		verdict, robot string
		line           any
	}
	want := []told{{}, {"disallowed", "GPTBot", 2.0}, {"exempt", "GPTBot", nil}, {}, {"too_fast", "bingbot", 5.0}}
	for i, l := range c.log.all(access) {
		if i >= len(want) {
			t.Fatalf("access log: got more than %d lines", len(want))
		}
		robots, _ := l["robots"].(map[string]any)
		got := told{line(robots).text("verdict"), line(robots).text("robot"), robots["line"]}
		if got != want[i] {
			t.Errorf("access log, line %d, field robots: got %+v, want %+v", i+1, got, want[i])
		}
	}
}
