package caddymodule

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-robots/caddy-robots/internal/compliance"
	"github.com/caddy-robots/caddy-robots/internal/policies"
	"github.com/caddy-robots/caddy-robots/robotsrules"
)

// newReportPage provisions p, and has it tell the time of the handler's clock.
func newReportPage(t *testing.T, th *testHandler, p *ReportPage) *ReportPage {
	t.Helper()
	p.Allow = []string{"203.0.113.7"} // who asks
	if err := p.Provision(contextWithStorage(t)); err != nil {
		t.Fatal(err)
	}
	p.reporter.now, p.reporter.app = th.clock.now, th.app // as in one config
	return p
}

// get asks for the page as a browser does.
func (p *ReportPage) get(t *testing.T, method, target string) *httptest.ResponseRecorder {
	t.Helper()
	rec := httptest.NewRecorder()
	err := p.ServeHTTP(rec, newRequest(method, target, chrome), caddyhttp.HandlerFunc(func(http.ResponseWriter, *http.Request) error {
		t.Error("the page hands the request on")
		return nil
	}))
	var failed caddyhttp.HandlerError
	if errors.As(err, &failed) {
		rec.Code = failed.StatusCode
	} else if err != nil {
		t.Fatal(err)
	}
	return rec
}

// visited is a handler to which robots came: GPTBot, which disobeys, and CCBot, which does not.
func visited(t *testing.T) *testHandler {
	t.Helper()
	th := newTestHandler(t, "User-agent: *\nDisallow: /private/\n", &Handler{})
	th.ask("GET", "/private/a", gptBot)
	th.ask("GET", "/", ccBot)
	return th
}

func TestTheReportIsAPageThatNothingFromOutsideCanScript(t *testing.T) {
	page := newReportPage(t, visited(t), &ReportPage{}).get(t, "GET", "/report")
	if page.Code != 200 || page.Header().Get("Content-Type") != "text/html; charset=utf-8" {
		t.Errorf("got %d %s, want a page", page.Code, page.Header().Get("Content-Type"))
	}
	for header, want := range map[string]string{
		"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
	} {
		if got := page.Header().Get(header); got != want {
			t.Errorf("%s: got %q, want %q", header, got, want)
		}
	}
	policy := page.Header().Get("Content-Security-Policy")
	_, rest, _ := strings.Cut(policy, "script-src 'nonce-")
	nonce, _, _ := strings.Cut(rest, "'")
	if !strings.HasPrefix(policy, "default-src 'none';") || len(nonce) < 22 || !strings.Contains(page.Body.String(), `nonce="`+nonce+`"`) {
		t.Errorf("Content-Security-Policy: got %q, want one that lets nothing but the page's own run", policy)
	}
}

func TestTheReportShowsRobotsAndOfEachWhatItDid(t *testing.T) {
	p := newReportPage(t, visited(t), &ReportPage{})
	for target, wanted := range map[string][]string{
		"/report":              {"GPTBot", "CCBot", "Disallow: /private/"},
		"/report?robot=GPTBot": {"GPTBot", "/private/a", "203.0.113.0/24"},
	} {
		body := p.get(t, "GET", target).Body.String()
		for _, want := range wanted {
			if !strings.Contains(body, want) {
				t.Errorf("%s lacks %q", target, want)
			}
		}
	}
}

func TestEachPageHasANonceOfItsOwn(t *testing.T) {
	p := newReportPage(t, visited(t), &ReportPage{})
	policy := func() string { return p.get(t, "GET", "/report").Header().Get("Content-Security-Policy") }
	if one, other := policy(), policy(); one == other {
		t.Errorf("two answers have the policy %q", one)
	}
}

func TestTheReportInOtherForms(t *testing.T) {
	p := newReportPage(t, visited(t), &ReportPage{})
	var report compliance.Report
	if err := json.Unmarshal(p.get(t, "GET", "/report?format=json").Body.Bytes(), &report); err != nil {
		t.Fatal(err)
	}
	if report.Total.Requests != 2 || report.Total.Disobedient != 1 || len(report.Sites) != 1 || report.Sites[0].RobotsTxt == "" {
		t.Errorf("JSON: got %+v, want two requests, one of them disobedient, and the robots.txt in force", report)
	}
	for format, want := range map[string]int{"csv": 3, "evidence.csv": 2} {
		answer := p.get(t, "GET", "/report?format="+format)
		rows, err := csv.NewReader(answer.Body).ReadAll()
		if err != nil || len(rows) != want || answer.Header().Get("Content-Type") != "text/csv; charset=utf-8" {
			t.Errorf("%s: got %d rows of %s, error %v; want %d of text/csv", format, len(rows), answer.Header().Get("Content-Type"), err, want)
		}
	}
}

func TestAPartOfTheReport(t *testing.T) {
	p := newReportPage(t, visited(t), &ReportPage{})
	for query, want := range map[string]uint64{
		"": 2, "robot=gptbot": 1, "robot=CCBot&class=robot": 1, "site=site.example": 2, "site=other.example": 0, "class=app": 0, "standing=-": 2, "robot=nobody": 0,
		"operator=OpenAI": 1, "purpose=AI-Training": 2, "operator=-": 0, "purpose=seo&operator=OpenAI": 0,
	} {
		var report compliance.Report
		if err := json.Unmarshal(p.get(t, "GET", "/report?format=json&"+query).Body.Bytes(), &report); err != nil {
			t.Fatal(err)
		}
		if got := report.Total.Requests; got != want {
			t.Errorf("%s: got %d requests, want %d", query, got, want)
		}
	}
}

func TestAReportSaysHowRobotsTxtIs(t *testing.T) {
	th := visited(t)
	for _, sites := range [][]string{{allSites}, nil} {
		var report compliance.Report
		p := newReportPage(t, th, &ReportPage{Sites: sites})
		if err := json.Unmarshal(p.get(t, "GET", "/report?format=json").Body.Bytes(), &report); err != nil {
			t.Fatal(err)
		}
		if len(report.Hosts) != 1 || report.Hosts[0].Status != "loaded" || report.Hosts[0].Holds != "what was loaded last" || report.Hosts[0].Warnings != 0 {
			t.Errorf("sites %q: got %+v, want one host, whose robots.txt is loaded", sites, report.Hosts)
		}
	}
}

func TestRecordsThatNameNobody(t *testing.T) {
	f := robotsrules.Parse([]byte("User-agent: *\nUser-agent: GPTBot\nUser-agent: Google-Extended\nUser-agent: Gogglebot\nDisallow: /\n"), robotsrules.Options{})
	got := unknownRecords(f)
	if want := []compliance.UnknownRecord{{Token: "Gogglebot", Line: 4}}; !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	for name, want := range map[string]string{"Gogglebot": "Googlebot", "figtree": "", "GPTBot": ""} {
		if got := robotsrules.Closest(name, policies.RobotNames(), 2); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}

func TestAReportOfSomeSites(t *testing.T) {
	p := newReportPage(t, visited(t), &ReportPage{Sites: []string{"other.example"}})
	for _, query := range []string{"", "?site=site.example"} {
		if body := p.get(t, "GET", "/report"+query).Body.String(); strings.Contains(body, "CCBot") {
			t.Errorf("GET /report%s shows a site that is not to be shown", query)
		}
	}
}

func TestAReportIsAskedForSensibly(t *testing.T) {
	p := newReportPage(t, visited(t), &ReportPage{})
	for query, want := range map[string]string{
		"sort=name":           `parameter "sort" is unknown; write site, robot, class, standing, operator, purpose, period or format`,
		"robot=a&robot=b":     `parameter "robot" is there 2 times; write it once`,
		"format=xml":          `format "xml" is unknown; write html, json, csv or evidence.csv`,
		"class=human":         `unknown class "human"`,
		"purpose=ai_training": `purpose "ai_training" is unknown; did you mean ai-training?`,
		"standing=perhaps":    `unknown standing "perhaps"`,
		"%3Cscript%3E=%3Cb":   `parameter "<script>" is unknown`,
	} {
		got := p.get(t, "GET", "/report?"+query)
		if got.Code != 400 || !strings.Contains(got.Body.String(), want) || !strings.HasPrefix(got.Header().Get("Content-Type"), "text/plain") {
			t.Errorf("%s: got %d %s %q, want 400 and %q as plain text", query, got.Code, got.Header().Get("Content-Type"), got.Body, want)
		}
		if err := testAPI().report("json")(httptest.NewRecorder(), httptest.NewRequest("GET", "/robots/robots?"+query, nil)); err == nil ||
			err.(caddy.APIError).HTTPStatus != 400 || !strings.Contains(err.(caddy.APIError).Message, want) {
			t.Errorf("%s at the admin endpoint: got %v, want 400 and %q", query, err, want)
		}
	}
	if got := p.get(t, "POST", "/report").Code; got != 405 {
		t.Errorf("POST: got %d, want 405", got)
	}
	if got := p.get(t, "HEAD", "/report"); got.Code != 200 || got.Body.Len() > 0 || got.Header().Get("Content-Security-Policy") == "" {
		t.Errorf("HEAD: got %d with %d bytes, want 200 and none", got.Code, got.Body.Len())
	}
}

// A rewrite, such as that of handle_path, must not lead the links of the page astray.
func TestTheLinksOfThePageAreThoseOfTheBrowser(t *testing.T) {
	p := newReportPage(t, visited(t), &ReportPage{})
	r := newRequest("GET", "/internal/report", chrome)
	r.URL.Path = "/"
	rec := httptest.NewRecorder()
	if err := p.ServeHTTP(rec, r, nil); err != nil {
		t.Fatal(err)
	}
	if body := rec.Body.String(); !strings.Contains(body, `"/internal/report?`) {
		t.Errorf("no link leads to the page itself: %q", body)
	}
}

func TestTheReportWhereNoHandlerRuns(t *testing.T) {
	for target, want := range map[string]string{"/robots/evidence": "[]\n", "/robots/robots": `"sites":[]`} {
		rec := httptest.NewRecorder()
		serve := testAPI().report("json")
		if target == "/robots/evidence" {
			serve = testAPI().evidence
		}
		if err := serve(rec, httptest.NewRequest("GET", target, nil)); err != nil || !strings.Contains(rec.Body.String(), want) {
			t.Errorf("%s: got %q, error %v; want %q", target, rec.Body, err, want)
		}
	}
}

func TestEvidenceAtTheAdminEndpoint(t *testing.T) {
	visited(t)
	ask := func(query string) string {
		rec := httptest.NewRecorder()
		if err := testAPI().evidence(rec, httptest.NewRequest("GET", "/robots/evidence"+query, nil)); err != nil {
			return err.Error()
		}
		return rec.Body.String()
	}
	var all []evidenceRecord
	if err := json.Unmarshal([]byte(ask("?robot=GPTBot")), &all); err != nil {
		t.Fatal(err)
	}
	if len(all) != 1 || all[0].Robot != "GPTBot" || all[0].Site != "site.example" || all[0].Path != "/private/a" || all[0].Line != 2 {
		t.Errorf("got %+v, want what GPTBot did", all)
	}
	if got := ask("?robot=CCBot"); got != "[]\n" {
		t.Errorf("a robot that obeyed: got %q, want an empty list", got)
	}
	if got := ask("?format=csv"); !strings.HasPrefix(got, "site,robot,") || strings.Count(got, "\n") != 2 {
		t.Errorf("CSV: got %q, want two rows", got)
	}
	if got := ask("?format=html"); !strings.Contains(got, "json or csv") {
		t.Errorf("as a page: got %q, want an error that says what there is", got)
	}
}

func TestTheReportSaysWhoIsBannedUntilWhen(t *testing.T) {
	th := newTestHandler(t, "User-agent: *\nDisallow: /private/\n", &Handler{Ban: thrice()})
	for _, target := range []string{"/private/", "/private/", "/private/", "/open", "/open"} {
		th.ask("GET", target, gptBot)
	}
	var report compliance.Report
	page := newReportPage(t, th, &ReportPage{}).get(t, "GET", "/report?format=json")
	if err := json.Unmarshal(page.Body.Bytes(), &report); err != nil {
		t.Fatal(err)
	}
	robot := report.Sites[0].Robots[0]
	until := th.app.memory.Bans().List(th.clock.now())[0].Until
	if robot.BannedUntil.IsZero() || !robot.BannedUntil.Equal(until) || robot.Disobedient != 3 || robot.Refused != 5 || len(robot.Evidence) != 3 {
		t.Errorf("got %+v, want it banned until %v, with 3 disobedient and 5 refused requests", robot, until)
	}
	for _, e := range robot.Evidence {
		if e.Path != "/private/" || e.Line != 2 {
			t.Errorf("evidence: got %+v, want requests for /private/ against line 2", e)
		}
	}
}

// What the report says to write is what the directive reads.
func TestAdviceCanBeWrittenDown(t *testing.T) {
	for _, line := range []string{"ban 10 in 1h for 24h", "impostors refuse\n\tverify known", "unpaced Googlebot", `exempt "UptimeRobot"`} {
		h := new(Handler)
		if err := h.UnmarshalCaddyfile(caddyfile.NewTestDispenser("robots {\n\t" + line + "\n}")); err != nil {
			t.Errorf("%s: %v", line, err)
		}
	}
}

func TestTheReportSaysWhatToDo(t *testing.T) {
	th := newTestHandler(t, "User-agent: *\nDisallow: /private/\n", &Handler{})
	for range 12 {
		th.ask("GET", "/private/", gptBot)
	}
	page := newReportPage(t, th, &ReportPage{}).get(t, "GET", "/report")
	if want := "GPTBot never read robots.txt, and broke its rules 12 times."; !strings.Contains(page.Body.String(), want) {
		t.Errorf("got no %q", want)
	}
}
