package caddymodule

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-robots/caddy-robots/crawler"
	"github.com/caddy-robots/caddy-robots/internal/policies"
	"github.com/caddy-robots/caddy-robots/robotsrules"
)

func TestServe(t *testing.T) {
	const robotsTxt = "User-agent: *\nDisallow: /private/\n"
	th := newTestHandler(t, robotsTxt, &Handler{Serve: true})
	for _, agent := range []string{chrome, gptBot, curl, ""} {
		got := th.ask("GET", "/robots.txt", agent)
		if got.Code != 200 || got.Body.String() != robotsTxt || got.Header().Get("Content-Type") != "text/plain; charset=utf-8" {
			t.Errorf("%q: got %d %q %q", agent, got.Code, got.Header().Get("Content-Type"), got.Body)
		}
	}
	if got := th.ask("HEAD", "/robots.txt", chrome); got.Body.Len() != 0 || got.Header().Get("Content-Length") != fmt.Sprint(len(robotsTxt)) {
		t.Errorf("HEAD: got %d bytes, Content-Length %q", got.Body.Len(), got.Header().Get("Content-Length"))
	}
	r := newRequest("GET", "/robots.txt", gptBot)
	r.Header.Set("If-None-Match", th.ask("GET", "/robots.txt", gptBot).Header().Get("ETag"))
	if got := th.do(r).Code; got != http.StatusNotModified {
		t.Errorf("conditional: got %d, want 304", got)
	}
}

func TestServedRulesSayHowLongTheyHold(t *testing.T) {
	th := newTestHandler(t, closedSite, &Handler{Serve: true, Refresh: caddy.Duration(5 * time.Minute)})
	th.clock.advance(time.Hour)
	header := th.ask("GET", "/robots.txt", gptBot).Header()
	for name, want := range map[string]string{
		"Cache-Control": "max-age=300", "Last-Modified": "Sun, 01 Nov 2026 12:00:00 GMT", "X-Content-Type-Options": "nosniff",
	} {
		if got := header.Get(name); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}

func TestServeAnswersConditionalRequests(t *testing.T) {
	th := newTestHandler(t, closedSite, &Handler{Serve: true})
	etag := th.ask("GET", "/robots.txt", gptBot).Header().Get("ETag")
	for condition, want := range map[[2]string]int{
		{"If-None-Match", etag}:                                304,
		{"If-None-Match", `"other"`}:                           200,
		{"If-Modified-Since", "Sun, 01 Nov 2026 12:00:00 GMT"}: 304,
		{"If-Modified-Since", "Sun, 01 Nov 2026 11:59:59 GMT"}: 200,
		{"If-Modified-Since", "yesterday"}:                     200,
		{"If-Match", `"other"`}:                                412,
		{"Range", "bytes=0-3"}:                                 206,
		{"Range", "bytes=99999-"}:                              416,
		{"Range", "bytes=0-3,2-5,1-9"}:                         206,
		{"Range", "lines=1-2"}:                                 416,
	} {
		r := newRequest("GET", "/robots.txt", gptBot)
		r.Header.Set(condition[0], condition[1])
		if got := th.do(r).Code; got != want {
			t.Errorf("%s: %s: got %d, want %d", condition[0], condition[1], got, want)
		}
	}
}

func TestServeAnswersWithAnEmptyTextToo(t *testing.T) {
	list := newListServer(t, status(http.StatusNotFound))
	th := newTestHandler(t, "", &Handler{Serve: true, Sources: []policies.Source{{URL: list.URL}}})
	if got := th.ask("GET", "/robots.txt", gptBot); got.Code != 200 || got.Body.Len() != 0 {
		t.Errorf("got %d %q, want an empty text", got.Code, got.Body)
	}
}

func TestServeTellsWhatHoldsWhileNothingIsLoaded(t *testing.T) {
	for word, want := range map[string]int{"allow": 200, "deny": 503} {
		list := newListServer(t, status(http.StatusInternalServerError))
		th := newTestHandler(t, "", &Handler{Serve: true, Unreachable: word, Sources: []policies.Source{{URL: list.URL}}})
		got := th.ask("GET", "/robots.txt", gptBot)
		if got.Code != want || want == 200 && got.Body.String() != "page" || want == 503 && got.Header().Get("Retry-After") == "" {
			t.Errorf("unreachable %s: got %d %q, want %d", word, got.Code, got.Body, want)
		}
	}
}

func TestAServedTextThatIsTooLongEndsWhereReadingEnds(t *testing.T) {
	th := newTestHandler(t, closedSite+"Disallow: /half-of-this-line\n", &Handler{Serve: true, MaxSize: int64(len(closedSite)) + 15})
	if got := th.ask("GET", "/robots.txt", gptBot).Body.String(); got != closedSite {
		t.Errorf("got %q, want %q", got, closedSite)
	}
}

// randomParts makes sources of random texts.
type randomParts struct{ *rand.Rand }

func (r randomParts) pick(words ...string) string { return words[r.IntN(len(words))] }

// path is one that has no other reading.
func (r randomParts) path() string {
	var b strings.Builder
	b.WriteString("/")
	for range r.IntN(4) {
		b.WriteString(r.pick("a", "b", "c", "a/", "b/", "?x", ".html"))
	}
	return b.String()
}

var partRobots = []string{"AlphaBot", "BetaBot", "GammaBot", "AlphaBot-News"}

func (r randomParts) text() string {
	var b strings.Builder
	for range r.IntN(12) {
		switch r.IntN(8) {
		case 0, 1, 2:
			b.WriteString("User-agent: " + r.pick(append(partRobots, "*", "", "alphabot/2")...))
		case 3, 4:
			b.WriteString("Disallow: " + r.pick("", "/", r.path(), "/*"+r.path(), r.path()+"$"))
		case 5:
			b.WriteString("Allow: " + r.pick("/", r.path(), r.path()+"$"))
		case 6:
			b.WriteString(r.pick("", "# a comment", "Robot-version: 2.0.0", "Sitemap: https://a.example/", "Comment: hello", "TimeGate: https://a.example/", "Archived: *"))
		case 7:
			b.WriteString(r.pick("no field", "Disalow: /a", "Disallow /b", "X-Field: y"))
		}
		b.WriteString(r.pick("\n", "\n", "\r\n", "\r"))
	}
	text := strings.TrimSuffix(b.String(), r.pick("\n", "x"))
	return r.pick("", "", "", "", "\uFEFF", "<!doctype html>\n", "\xff\xfe") + cmp.Or(text, "\n")
}

// Nothing may ever differ between what is told and what is enforced.
func TestTheServedTextDecidesAsTheHandlerDoes(t *testing.T) {
	const rounds, requests = 200, 50
	r := randomParts{rand.New(rand.NewPCG(2026, 11))}
	disallowed := 0
	for range rounds {
		h := &Handler{Serve: true, Dialect: r.pick("rfc9309", "draft1996", "norobots1994"), Match: r.pick("substring", "token")}
		for range 1 + r.IntN(4) {
			h.Sources = append(h.Sources, policies.Source{Text: r.text(), OnlyDisallowAll: r.IntN(4) == 0})
		}
		th := newTestHandler(t, "", h)
		told := th.ask("GET", "/robots.txt", gptBot).Body.Bytes()
		file := robotsrules.Parse(told, robotsrules.Options{Dialect: h.settings.reading.Dialect, MaxBytes: len(told) + 1})
		policy := robotsrules.Compile(file, h.settings.match)
		for range requests {
			agent := fmt.Sprintf("Mozilla/5.0 (compatible; %s/%d.0; +https://bots.example/)", r.pick(append(partRobots, "DeltaBot")...), r.IntN(3))
			path := r.path()
			who := crawler.Identify(agent)
			binding := policy.Bind(robotsrules.Robot{UserAgent: who.Text, Name: who.Name, Products: who.Products})
			want := http.StatusOK
			if !binding.Decide(path).Allowed() {
				want = http.StatusForbidden
				disallowed++
			}
			if got := th.ask("GET", path, agent).Code; got != want {
				t.Fatalf("%s of %q: got %d, but what is told says %d:\n%s\nsources: %+v", path, agent, got, want, told, h.Sources)
			}
		}
	}
	if least := rounds * requests / 20; disallowed < least {
		t.Errorf("disallowed requests: got %d of %d, want at least %d", disallowed, rounds*requests, least)
	}
}
