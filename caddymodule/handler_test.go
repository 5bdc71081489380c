package caddymodule

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	_ "github.com/caddyserver/caddy/v2/modules/filestorage" // the storage of a config that names none
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/caddy-robots/caddy-robots/crawler"
	"github.com/caddy-robots/caddy-robots/internal/policies"
	"github.com/caddy-robots/caddy-robots/internal/testutil"
)

const (
	chrome    = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36"
	gptBot    = "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)"
	ccBot     = "CCBot/2.0 (https://commoncrawl.org/faq/)"
	curl      = "curl/8.14.1"
	someApp   = "ExampleReader/4.2 CFNetwork/1498 Darwin/23.6.0"
	closedAll = "User-agent: *\nDisallow: /\n"
)

// testHandler is a handler as Caddy provisions it, with a clock that only the test moves,
// in front of a page that anybody may have.
type testHandler struct {
	*Handler
	clock *testClock
	logs  *observer.ObservedLogs
}

// testClock moves only when it is told to. Background loads read it too.
type testClock struct{ nanos atomic.Int64 }

func newTestClock(at time.Time) *testClock {
	c := new(testClock)
	c.nanos.Store(at.UnixNano())
	return c
}

func (c *testClock) now() time.Time          { return time.Unix(0, c.nanos.Load()).UTC() }
func (c *testClock) advance(d time.Duration) { c.nanos.Add(int64(d)) }

// newTestHandler provisions h, with robotsTxt as its one source unless it is empty.
func newTestHandler(t testing.TB, robotsTxt string, h *Handler) *testHandler {
	t.Helper()
	th := &testHandler{Handler: h, clock: newTestClock(time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC))}
	h.now = th.clock.now
	if robotsTxt != "" {
		h.Sources = []policies.Source{{Text: robotsTxt}}
	}
	provision(t, h)
	core, logs := observer.New(zap.DebugLevel)
	th.logs, h.observers.log = logs, sampled(zap.New(core))
	if len(h.Sources) > 0 {
		h.policies.PolicyFor(t.Context(), "")
	}
	return th
}

// lastApp is the app of the handler that was provisioned last: to the admin API of tests, that of
// the config that runs.
var lastApp atomic.Pointer[App]

func testAPI() adminAPI { return adminAPI{app: lastApp.Load} }

// provision provisions h in a config of its own, which ends with the test.
func provision(t testing.TB, h *Handler) {
	t.Helper()
	ctx := contextWithStorage(t)
	t.Cleanup(func() {
		if err := h.Cleanup(); err != nil {
			t.Error(err)
		}
	})
	if err := h.Provision(ctx); err != nil {
		t.Fatal(err)
	}
	lastApp.Store(h.app)
	t.Cleanup(func() { lastApp.Store(nil) })
	if err := h.Validate(); err != nil {
		t.Fatal(err)
	}
}

// home is a folder that outlives every test: what handlers share is stored when the last of
// them ends.
var home string

func TestMain(m *testing.M) {
	var err error
	if home, err = os.MkdirTemp("", "caddy-robots-test-"); err == nil {
		err = os.Setenv("XDG_DATA_HOME", home) // where Caddy keeps its name
	}
	if err != nil {
		panic(err)
	}
	status := m.Run()
	_ = os.RemoveAll(home)
	os.Exit(status)
}

// contextWithStorage is a context as that of a running Caddy, whose storage is the test's.
func contextWithStorage(t testing.TB) caddy.Context {
	t.Helper()
	root, err := os.MkdirTemp(home, "storage-")
	if err != nil {
		t.Fatal(err)
	}
	ctx, err := caddy.ProvisionContext(&caddy.Config{
		StorageRaw: json.RawMessage(fmt.Sprintf(`{"module": "file_system", "root": %q}`, root)),
		Logging:    &caddy.Logging{Logs: map[string]*caddy.CustomLog{"default": {BaseLog: caddy.BaseLog{WriterRaw: json.RawMessage(`{"output": "discard"}`)}}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := caddy.NewContext(ctx)
	t.Cleanup(end)
	return ctx
}

// page is what stands behind the handler.
var page = caddyhttp.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) error {
	_, err := io.WriteString(w, "page")
	return err
})

// newRequest is a request as Caddy's server hands it on.
func newRequest(method, target, userAgent string) *http.Request {
	r := httptest.NewRequest(method, "http://site.example/", nil)
	u, err := r.URL.Parse(target)
	if err != nil {
		panic(err)
	}
	r.URL, r.RequestURI = u, target
	r.Header.Set("User-Agent", userAgent)
	if userAgent == "" {
		r.Header.Del("User-Agent")
	}
	r.RemoteAddr = "203.0.113.7:4711"
	r = caddyhttp.PrepareRequest(r, caddy.NewReplacer(), httptest.NewRecorder(), new(caddyhttp.Server))
	caddyhttp.SetVar(r.Context(), caddyhttp.ClientIPVarKey, "203.0.113.7")
	return r
}

// ask sends a request through the handler and returns its answer. A refusal that is left
// to error routes comes back as its status, without a body.
func (th *testHandler) ask(method, target, userAgent string) *httptest.ResponseRecorder {
	return th.do(newRequest(method, target, userAgent))
}

func (th *testHandler) do(r *http.Request) *httptest.ResponseRecorder {
	rec := httptest.NewRecorder()
	if err := th.ServeHTTP(rec, r, page); err != nil {
		rec.Code = err.(caddyhttp.HandlerError).StatusCode
	}
	return rec
}

// userAgents reads rows "class | name | User-Agent" of package crawler's test data.
func userAgents(t *testing.T, glob string) (rows [][3]string) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join("..", "crawler", "testdata", glob))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		file, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		lines := bufio.NewScanner(file)
		for lines.Scan() {
			line := strings.TrimSpace(lines.Text())
			if line == "" || strings.HasPrefix(line, "#") {
				continue
			}
			parts := strings.SplitN(line, "|", 3)
			if len(parts) != 3 {
				t.Fatalf("%s: malformed row %q", name, line)
			}
			for i := range parts {
				parts[i] = strings.TrimSpace(parts[i])
			}
			if unquoted, err := strconv.Unquote(parts[2]); err == nil {
				parts[2] = unquoted
			}
			rows = append(rows, [3]string(parts))
		}
		if err := lines.Err(); err != nil {
			t.Fatal(err)
		}
	}
	if len(rows) == 0 {
		t.Fatalf("no rows in crawler/testdata/%s", glob)
	}
	return rows
}

func TestNoRobotsTxtBindsABrowserAndEveryOneBindsRobots(t *testing.T) {
	hostile := closedAll
	for _, token := range []string{"Mozilla", "Safari", "Chrome", "Fetch", "DOC", "Java", "fast", "bot", "Mozilla/5.0", "like Gecko", "es", "ng", "lcc"} {
		hostile += "\nUser-agent: " + token + "\nDisallow: /\n"
	}
	for name, robotsTxt := range map[string]string{"for all": closedAll, "with names of browsers": hostile} {
		for _, dialect := range []string{"rfc9309", "draft1996", "norobots1994"} {
			for _, match := range []string{"substring", "token"} {
				t.Run(fmt.Sprint(name, "/", dialect, "/", match), func(t *testing.T) {
					th := newTestHandler(t, robotsTxt, &Handler{Dialect: dialect, Match: match})
					judged := map[string]int{}
					for _, row := range userAgents(t, "*.txt") {
						class, agent := row[0], row[2]
						got := th.ask("GET", "/page", agent).Code
						judged[class]++
						switch class {
						case "browser":
							if got != http.StatusOK {
								t.Errorf("browser refused: %d for %q", got, agent)
							}
						case "robot":
							if got != http.StatusForbidden {
								t.Errorf("robot not refused: %d for %q", got, agent)
							}
						case "app", "service": // a record may name them
							if got != http.StatusOK && robotsTxt == closedAll {
								t.Errorf("%s refused: %d for %q", class, got, agent)
							}
						}
					}
					for class, least := range map[string]int{"browser": 500, "app": 200, "service": 200, "robot": 500} {
						if judged[class] < least {
							t.Errorf("judged %d of class %s, want at least %d", judged[class], class, least)
						}
					}
					t.Logf("judged %v", judged)
				})
			}
		}
	}
}

func TestUnnamedSaysWhomTheDefaultRecordBinds(t *testing.T) {
	clients := []string{gptBot, "", curl, someApp, chrome}
	for unnamed, want := range map[string]string{
		"":         "403 403 200 200 200",
		"robots":   "403 403 200 200 200",
		"clients":  "403 403 403 403 200",
		"everyone": "403 403 403 403 403",
		"nobody":   "200 200 200 200 200",
	} {
		th := newTestHandler(t, closedAll, &Handler{Unnamed: unnamed})
		var got []string
		for _, agent := range clients {
			got = append(got, fmt.Sprint(th.ask("GET", "/", agent).Code))
		}
		if got := strings.Join(got, " "); got != want {
			t.Errorf("unnamed %q: robot, none stated, library, app, browser: got %s, want %s", unnamed, got, want)
		}
	}
}

func TestAnAppIsBoundOnlyByARecordThatNamesJustIt(t *testing.T) {
	th := newTestHandler(t, "User-agent: curl\nUser-agent: Reader\nUser-agent: CFNetwork\nDisallow: /\n", &Handler{})
	for agent, want := range map[string]int{curl: 403, "CURL/7": 403, "curlew/1.0": 200, someApp: 200} {
		if got := th.ask("GET", "/", agent).Code; got != want {
			t.Errorf("%q: got %d, want %d", agent, got, want)
		}
	}
}

func TestRobotsTxtIsAlwaysServed(t *testing.T) {
	for name, h := range map[string]*Handler{
		"disallowed": {}, "to everyone": {Unnamed: "everyone"}, "unreachable": {Unreachable: "deny"}, "draft": {Dialect: "draft1996"},
	} {
		th := newTestHandler(t, closedAll+"Crawl-delay: 3600\nVisit-time: 0000-0001\n", h)
		for _, target := range []string{"/robots.txt", "/robots.txt?", "/robots%2Etxt"} {
			for range 3 {
				if got := th.ask("GET", target, gptBot); got.Code != http.StatusOK || got.Body.String() != "page" {
					t.Errorf("%s: GET %s: got %d %q, want what the site serves", name, target, got.Code, got.Body)
				}
			}
		}
	}
}

func TestEveryMethodIsJudged(t *testing.T) {
	th := newTestHandler(t, closedAll, &Handler{})
	for _, method := range []string{"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PROPFIND"} {
		if got := th.ask(method, "/", gptBot).Code; got != http.StatusForbidden {
			t.Errorf("%s: got %d, want 403", method, got)
		}
	}
}

func TestTheRefusalExplainsItself(t *testing.T) {
	th := newTestHandler(t, "# the site's rules\nUser-agent: GPTBot\nComment: Write to us.\nComment: We may say yes.\nAllow: /open\nDisallow: /\n", &Handler{})
	got := th.ask("GET", "/page", gptBot)
	want := `403 Forbidden

The robots.txt of this site does not allow GPTBot to fetch this page.

Taken for:  GPTBot (robot)
Record:     User-agent: GPTBot (line 2)
Line 6:     Disallow: /
Comment:    Write to us.
Comment:    We may say yes.
Rules:      /robots.txt
`
	if got.Body.String() != want {
		t.Errorf("body: got\n%s\nwant\n%s", got.Body, want)
	}
	for header, want := range map[string]string{
		"Cache-Control": "no-store", "Content-Type": "text/plain; charset=utf-8", "X-Content-Type-Options": "nosniff", "Retry-After": "",
	} {
		if got := got.Header().Get(header); got != want {
			t.Errorf("%s: got %q, want %q", header, got, want)
		}
	}
	if head := th.ask("HEAD", "/page", gptBot); head.Code != 403 || head.Body.Len() != 0 {
		t.Errorf("HEAD: got %d and a body of %d bytes, want 403 and none", head.Code, head.Body.Len())
	}
}

func TestTooFast(t *testing.T) {
	th := newTestHandler(t, "User-agent: *\nCrawl-delay: 10\n", &Handler{})
	step := func(after time.Duration, want int, retryAfter string) {
		t.Helper()
		th.clock.advance(after)
		got := th.ask("GET", "/", gptBot)
		if got.Code != want || got.Header().Get("Retry-After") != retryAfter {
			t.Errorf("%s later: got %d, Retry-After %q; want %d, %q", after, got.Code, got.Header().Get("Retry-After"), want, retryAfter)
		}
	}
	step(0, 200, "")
	step(time.Second, 429, "9")
	step(500*time.Millisecond, 429, "9") // 8.5 s, rounded up: whoever waits so long is served
	step(8*time.Second, 429, "1")        // told to wait, it has no leeway
	step(500*time.Millisecond, 200, "")
	step(8*time.Second, 200, "") // a fifth too early: leeway
	if got := th.ask("GET", "/", ccBot).Code; got != 200 {
		t.Errorf("another robot: got %d, want 200: budgets are apart", got)
	}
	body := th.ask("GET", "/", gptBot).Body.String()
	for _, want := range []string{"429 Too Many Requests", "GPTBot comes faster", "Line 2:     Crawl-delay: 10", "Come back:  in 10 seconds, at Sun, 01 Nov 2026 12:00:28 GMT"} {
		if !strings.Contains(body, want) {
			t.Errorf("body lacks %q:\n%s", want, body)
		}
	}
}

func TestARobotCannotMultiplyItsBudgetByTheCaseOfItsName(t *testing.T) {
	th := newTestHandler(t, "User-agent: GPTBot\nCrawl-delay: 10\n", &Handler{})
	want := 200
	for _, name := range []string{"GPTBot/1.0", "gptbot/1.0", "GptBot/1.1"} {
		if got := th.ask("GET", "/", name).Code; got != want {
			t.Errorf("%s: got %d, want %d", name, got, want)
		}
		want = 429
	}
}

func TestClientsWithoutANameArePacedByAddress(t *testing.T) {
	th := newTestHandler(t, "User-agent: *\nCrawl-delay: 10\n", &Handler{})
	for _, step := range []struct {
		address string
		want    int
	}{{"198.51.100.1:1", 200}, {"198.51.100.2:1", 200}, {"198.51.100.1:2", 429}} {
		r := httptest.NewRequest("GET", "http://site.example/", nil)
		r.RemoteAddr = step.address
		r = caddyhttp.PrepareRequest(r, caddy.NewReplacer(), httptest.NewRecorder(), new(caddyhttp.Server))
		if got := th.do(r).Code; got != step.want {
			t.Errorf("%s: got %d, want %d", step.address, got, step.want)
		}
	}
}

func TestARequestThatMeetsTwoHandlersCountsOnce(t *testing.T) {
	const robotsTxt = "User-agent: *\nCrawl-delay: 10\n"
	outer, inner := newTestHandler(t, robotsTxt, &Handler{}), newTestHandler(t, robotsTxt, &Handler{})
	rec := httptest.NewRecorder()
	err := outer.ServeHTTP(rec, newRequest("GET", "/", gptBot), caddyhttp.HandlerFunc(func(w http.ResponseWriter, r *http.Request) error {
		return inner.ServeHTTP(w, r, page)
	}))
	if err != nil || rec.Code != 200 {
		t.Errorf("got %d, %v; want 200", rec.Code, err)
	}
}

func TestOffHours(t *testing.T) {
	th := newTestHandler(t, "User-agent: *\nVisit-time: 0200-0630\n", &Handler{})
	got := th.ask("GET", "/", gptBot)
	if got.Code != 429 || got.Header().Get("Retry-After") != "50400" {
		t.Errorf("at noon: got %d, Retry-After %q; want 429, 50400 (14 hours)", got.Code, got.Header().Get("Retry-After"))
	}
	if body := got.Body.String(); !strings.Contains(body, "Line 2:     Visit-time: 0200-0630") || !strings.Contains(body, "Mon, 02 Nov 2026 02:00:00 GMT") {
		t.Errorf("body:\n%s", body)
	}
	th.clock.advance(50400 * time.Second)
	if got := th.ask("GET", "/", gptBot).Code; got != 200 {
		t.Errorf("when told to come back: got %d, want 200", got)
	}
}

func TestRefusedRequestsCostNothing(t *testing.T) {
	th := newTestHandler(t, "User-agent: *\nDisallow: /private/\nCrawl-delay: 10\n", &Handler{})
	for range 5 {
		if got := th.ask("GET", "/private/", gptBot).Code; got != 403 {
			t.Fatalf("got %d, want 403", got)
		}
	}
	if got := th.ask("GET", "/", gptBot).Code; got != 200 {
		t.Errorf("after refusals: got %d, want 200", got)
	}
}

func TestObserveRefusesNothingAndTellsEverything(t *testing.T) {
	const robotsTxt = "User-agent: *\nDisallow: /private/\nCrawl-delay: 10\n\nUser-agent: CCBot\nVisit-time: 0200-0300\n"
	for name, h := range map[string]*Handler{
		"observe":   {Observe: true},
		"each kind": {Disallowed: "observe", TooFast: "observe", OffHours: "observe"},
		"and more":  {Observe: true, Disallowed: "refuse"},
	} {
		t.Run(name, func(t *testing.T) {
			th := newTestHandler(t, robotsTxt, h)
			for _, test := range [][2]string{{gptBot, "/private/"}, {gptBot, "/"}, {gptBot, "/"}, {ccBot, "/"}} {
				if got := th.ask("GET", test[1], test[0]); got.Code != 200 || got.Body.String() != "page" {
					t.Errorf("%s: got %d %q", test[1], got.Code, got.Body)
				}
			}
			var verdicts []string
			for _, entry := range th.logs.FilterMessage("robot observed, not refused").All() {
				verdicts = append(verdicts, fmt.Sprint(entry.ContextMap()["verdict"]))
			}
			want := "disallowed too_fast off_hours"
			if name == "each kind" {
				want = "disallowed too_fast too_fast off_hours" // what is served counts against the pace
			}
			if got := strings.Join(verdicts, " "); got != want {
				t.Errorf("logged verdicts: got %s, want %s", got, want)
			}
			if th.logs.FilterMessage("robot refused").Len() != 0 {
				t.Error("the log says that something was refused")
			}
		})
	}
}

func TestAnObservedDisallowStillKeepsThePace(t *testing.T) {
	th := newTestHandler(t, "User-agent: *\nDisallow: /private/\nCrawl-delay: 10\n", &Handler{Disallowed: "observe"})
	for _, want := range []int{200, 429} {
		if got := th.ask("GET", "/private/", gptBot).Code; got != want {
			t.Errorf("got %d, want %d", got, want)
		}
	}
}

func TestExempt(t *testing.T) {
	for _, test := range []struct {
		exempt string
		want   int
	}{
		{"203.0.113.0/24", 200}, {"203.0.113.7", 200}, {"203.0.113.8", 403}, {"2001:db8::/32", 403}, {"private_ranges", 403},
		{"gptbot", 200}, {"openai.com", 200}, {"ClaudeBot", 403},
	} {
		th := newTestHandler(t, closedAll, &Handler{Exempt: []string{test.exempt}})
		r := newRequest("GET", "/", gptBot)
		caddyhttp.SetVar(r.Context(), caddyhttp.ClientIPVarKey, "203.0.113.7")
		if got := th.do(r).Code; got != test.want {
			t.Errorf("exempt %s: got %d, want %d", test.exempt, got, test.want)
		}
	}
}

func TestExemptRobotsSpendNoBudget(t *testing.T) {
	th := newTestHandler(t, "User-agent: *\nCrawl-delay: 10\n", &Handler{Exempt: []string{"openai.com"}})
	for _, step := range []struct {
		agent string
		want  int
	}{{gptBot, 200}, {gptBot, 200}, {"GPTBot/1.0", 200}, {"GPTBot/1.0", 429}} {
		if got := th.ask("GET", "/", step.agent).Code; got != step.want {
			t.Errorf("%s: got %d, want %d", step.agent, got, step.want)
		}
	}
}

func TestOneLogLineForEachRefusal(t *testing.T) {
	th := newTestHandler(t, "User-agent: GPTBot\nDisallow: /private/\n", &Handler{})
	th.ask("GET", "/private/a?b", gptBot)
	th.ask("GET", "/open", gptBot)
	th.ask("GET", "/private/", chrome)
	entries := th.logs.All()
	if len(entries) != 1 {
		t.Fatalf("log lines: got %d, want 1: %v", len(entries), entries)
	}
	fields := entries[0].ContextMap()
	for key, want := range map[string]any{
		"verdict": "disallowed", "robot": "GPTBot", "class": "robot", "record": "GPTBot", "record_line": 1,
		"rule": "Disallow: /private/", "line": 2, "method": "GET", "host": "site.example", "uri": "/private/a?b", "user_agent": gptBot,
		"reason": `disallowed by line 2 "Disallow: /private/" in the record for "GPTBot" (line 1)`,
	} {
		if got := fields[key]; fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: got %v, want %v", key, got, want)
		}
	}
}

func TestTheLogIsSampledUnderAFlood(t *testing.T) {
	th := newTestHandler(t, closedAll, &Handler{})
	for range 10_000 {
		th.ask("GET", "/", gptBot)
	}
	if got := th.logs.Len(); got < perSecond || got > 2000 {
		t.Errorf("log lines for 10,000 refusals: got %d", got)
	}
}

func TestPlaceholders(t *testing.T) {
	th := newTestHandler(t, "User-agent: GPTBot\nDisallow: /private/\nCrawl-delay: 10\n", &Handler{})
	placeholders := func(target, agent string) string {
		r := newRequest("GET", target, agent)
		th.do(r)
		repl := r.Context().Value(caddy.ReplacerCtxKey).(*caddy.Replacer)
		return repl.ReplaceAll("{http.robots.verdict}|{http.robots.robot}|{http.robots.class}|{http.robots.record}|"+
			"{http.robots.rule}|{http.robots.line}|{http.robots.retry_after}|{http.robots.unknown}", "")
	}
	for _, test := range []struct{ target, agent, want string }{
		{"/private/", gptBot, "disallowed|GPTBot|robot|GPTBot|Disallow: /private/|2|0|"},
		{"/", gptBot, "|||||||"},
		{"/", gptBot, "too_fast|GPTBot|robot|GPTBot|Crawl-delay: 10|3|10|"},
		{"/private/", chrome, "|||||||"},
	} {
		if got := placeholders(test.target, test.agent); got != test.want {
			t.Errorf("%s: got %s, want %s", test.target, got, test.want)
		}
	}
}

// Placeholders in documents are held to those that a refusal sets, both ways.
func TestTheReferenceNamesEveryPlaceholder(t *testing.T) {
	source, err := os.ReadFile("observers.go")
	if err != nil {
		t.Fatal(err)
	}
	_, body, _ := strings.Cut(string(source), "placeholder(key string)")
	body, _, _ = strings.Cut(body, "\n}\n")
	set := make(map[string]bool)
	for _, name := range regexp.MustCompile(`case "(\w+)":`).FindAllStringSubmatch(body, -1) {
		set[name[1]] = true
	}
	named := make(map[string]bool)
	for _, pattern := range []string{"../*.md", "../docs/*.md", "../docs/guides/*.md", "*.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: got %q, error %v", pattern, files, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range regexp.MustCompile(`\{http\.robots\.(\w+)\}`).FindAllSubmatch(text, -1) {
				if strings.HasSuffix(file, "_test.go") {
					continue
				}
				named[string(name[1])] = true
				if !set[string(name[1])] {
					t.Errorf("%s names %s, which no refusal sets", file, name[0])
				}
			}
		}
	}
	for name := range set {
		if !named[name] {
			t.Errorf("no document names {http.robots.%s}", name)
		}
	}
	if len(set) < 9 {
		t.Errorf("got %d placeholders, want 9 or more", len(set))
	}
}

func TestOurOwnRequestsAreNotJudged(t *testing.T) {
	th := newTestHandler(t, closedAll, &Handler{})
	answers := make(map[string]*http.Request)
	marks := make(chan string, 1)
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mark := r.Header.Get(policies.MarkHeader)
		marked := newRequest("GET", "/seo/robots.txt", policies.FetcherName)
		marked.Header.Set(policies.MarkHeader, mark)
		if got := th.do(marked).Code; got != 200 {
			t.Errorf("over HTTP: got %d, want 200", got)
		}
		answers["over HTTP"] = marked
		marks <- mark
	}))
	defer other.Close()
	if _, err := th.app.policies.Fetch(t.Context(), other.URL, 1024, nil, th.clock.now()); err != nil {
		t.Fatal(err)
	}
	if skipped, _ := caddyhttp.GetVar(answers["over HTTP"].Context(), caddyhttp.LogSkipVar).(bool); !skipped {
		t.Error("over HTTP: it stands in the access log")
	}
	through := newTestHandler(t, "", &Handler{})
	through.policies.LearnServer(policies.Origin{Name: t.Name(), Server: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = through.ServeHTTP(w, r, caddyhttp.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) error {
			_, err := io.WriteString(w, closedAll)
			return err
		}))
	})})
	if got := through.ask("GET", "/", gptBot).Code; got != 403 {
		t.Errorf("through the server: got %d, want 403 by the rules that it answered", got)
	}
	guessed := newRequest("GET", "/seo/robots.txt", policies.FetcherName)
	guessed.Header.Set(policies.MarkHeader, "guessed")
	replayed := newRequest("GET", "/seo/robots.txt", policies.FetcherName)
	replayed.Header.Set(policies.MarkHeader, <-marks)
	unmarked := newRequest("GET", "/seo/robots.txt", policies.FetcherName)
	for name, test := range map[string]struct {
		r    *http.Request
		want int
	}{
		"somebody who guesses the mark":  {guessed, 403},
		"a server that was shown a mark": {replayed, 403}, "somebody who takes our name": {unmarked, 403},
	} {
		if got := th.do(test.r).Code; got != test.want {
			t.Errorf("%s: got %d, want %d", name, got, test.want)
		}
		skipped, _ := caddyhttp.GetVar(test.r.Context(), caddyhttp.LogSkipVar).(bool)
		if want := test.want == 200; skipped != want {
			t.Errorf("%s: left out of the access log: got %t, want %t", name, skipped, want)
		}
	}
}

func TestWhatIsJudgedIsTheRequestLineNotTheRewrite(t *testing.T) {
	th := newTestHandler(t, "User-agent: *\nDisallow: /private/\n", &Handler{})
	for target, want := range map[string]int{"/private/a": 403, "/open": 200} {
		r := newRequest("GET", target, gptBot)
		r.URL.Path, r.RequestURI = "/rewritten", "/rewritten"
		if target == "/open" {
			r.URL.Path, r.RequestURI = "/private/index.php", "/private/index.php"
		}
		if got := th.do(r).Code; got != want {
			t.Errorf("%s: got %d, want %d", target, got, want)
		}
	}
}

func TestOrdinaryRequestsAllocateNothing(t *testing.T) {
	th := newTestHandler(t, "User-agent: GPTBot\nDisallow: /private/\nCrawl-delay: 1\n\nUser-agent: *\nDisallow: /x\n", &Handler{})
	bare := caddyhttp.HandlerFunc(func(http.ResponseWriter, *http.Request) error { return nil })
	rec := httptest.NewRecorder()
	for name, agent := range map[string]string{"browser": chrome, "allowed robot with a pace": gptBot, "allowed robot": ccBot, "library": curl} {
		r := newRequest("GET", "/page/1?x=y", agent)
		vars := r.Context().Value(caddyhttp.VarsCtxKey).(map[string]any)
		serve := func() {
			delete(vars, marksKey) // a new request each time
			th.clock.advance(2 * time.Second)
			if err := th.ServeHTTP(rec, r, bare); err != nil {
				t.Fatal(err)
			}
		}
		serve()
		if got := testing.AllocsPerRun(200, serve); got != 0 {
			t.Errorf("%s: %v allocations, want 0", name, got)
		}
	}
}

// A refusal allocates what lives as long as the request: what the log is told, and what Caddy keeps of that.
func TestARefusalAllocatesLittle(t *testing.T) {
	const text = "User-agent: GPTBot\nDisallow: /private/\n\nUser-agent: *\nCrawl-delay: 86400\n"
	th := newTestHandler(t, text, &Handler{})
	for agent, status := range map[string]int{gptBot: 403, ccBot: 429} {
		th.ask("GET", "/private/page", agent)
		r, w := newRequest("GET", "/private/page", agent), &discard{header: make(http.Header)}
		if got := th.do(r).Code; got != status {
			t.Fatalf("%s: got %d, want %d", agent, got, status)
		}
		vars := r.Context().Value(caddyhttp.VarsCtxKey).(map[string]any)
		refuse := func() {
			delete(vars, marksKey) // a new request each time
			clear(w.header)
			if err := th.ServeHTTP(w, r, page); err != nil {
				t.Fatal(err)
			}
		}
		for range 2 * perSecond {
			refuse() // the log has enough of them
		}
		if got := testing.AllocsPerRun(200, refuse); got > 6 && !testutil.Race {
			t.Errorf("%d: %v allocations, want 6 at most", status, got)
		}
	}
}

func TestAFloodOfUserAgentsStopsNobody(t *testing.T) {
	th := newTestHandler(t, "User-agent: *\nDisallow: /private/\nCrawl-delay: 10\n", &Handler{})
	th.ask("GET", "/", ccBot)
	for i := range 100_000 {
		want := 429 // of one network, they draw on one budget
		if i == 0 {
			want = 200
		}
		if got := th.ask("GET", "/", fmt.Sprintf("Flood%dBot/1.0 (+http://flood%d.example/)", i, i)).Code; got != want {
			t.Fatalf("robot %d: got %d, want %d", i, got, want)
		}
	}
	if got := th.ask("GET", "/", chrome).Code; got != 200 {
		t.Errorf("browser: got %d, want 200", got)
	}
	if got := th.ask("GET", "/", ccBot).Code; got != 429 {
		t.Errorf("the robot that was there before, too fast: got %d, want 429", got)
	}
	if got := th.app.memory.Len(); got > 3 {
		t.Errorf("pace keys: got %d, want those of CCBot, of the network and of the name that was served", got)
	}
}

func TestIdentityOfTheTestAgents(t *testing.T) {
	for agent, want := range map[string]crawler.Class{
		chrome: crawler.Browser, gptBot: crawler.Robot, ccBot: crawler.Robot, curl: crawler.App, someApp: crawler.App, "": crawler.Unstated,
	} {
		if got := crawler.Identify(agent).Class; got != want {
			t.Errorf("%q: got %s, want %s", agent, got, want)
		}
	}
}

// withOriginal returns r as if original had come in and been rewritten to r.
func withOriginal(r *http.Request, original http.Request) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), caddyhttp.OriginalRequestCtxKey, original))
}

func TestTheLogNamesTheOptionWhereNoLineDecided(t *testing.T) {
	th := newTestHandler(t, "User-agent: *\nDisallow: /private/\n", &Handler{DefaultPace: "1/1h"})
	th.ask("GET", "/", gptBot)
	th.ask("GET", "/", gptBot)
	lines := th.logs.FilterMessage("robot refused").All()
	if len(lines) != 1 {
		t.Fatalf("got %d log lines, want 1", len(lines))
	}
	fields := lines[0].ContextMap()
	if got, want := fields["rule"], "default_pace 1/1h"; got != want {
		t.Errorf("rule: got %v, want %q", got, want)
	}
	if line, ok := fields["line"]; ok {
		t.Errorf("line: got %v, want none", line)
	}
}
