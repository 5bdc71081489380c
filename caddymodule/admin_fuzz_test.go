package caddymodule

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-robots/caddy-robots/internal/enforce"
	"github.com/caddy-robots/caddy-robots/internal/ratelimit"
	"github.com/caddy-robots/caddy-robots/internal/storage"
)

// FuzzAdmin asks the admin API for anything. It holds five properties:
//
//   - answer: it is one of those that the API has, and what is said to be JSON is JSON;
//   - reading changes nothing: only DELETE does;
//   - lifted: DELETE takes away the bans that fit all that is given, and no other;
//   - selection: a report holds nothing but what is asked for;
//   - link: what was asked for reads the same from the query that the page writes.
func FuzzAdmin(f *testing.F) {
	for _, target := range []string{
		"GET /robots/bans", "DELETE /robots/bans?robot=FIGTREE", "DELETE /robots/bans?address=[::ffff:203.0.113.7]&site=site.example",
		"GET /robots/status", "POST /robots/observe?set=on", "PUT /robots/observe?set=off", "DELETE /robots/bans?all=true", "DELETE /robots/bans?robot=figtree&sites=x", "DELETE /robots/bans?robot=figtree&site%zz=x", "DELETE /robots/bans?all=true&robot=",
		"DELETE /robots/bans", "GET /robots/trapped", "DELETE /robots/trapped?address=203.0.113.7", "GET /robots/sites", "GET /robots/sites/%00",
		"GET /robots/robots?site=site.example&class=robot", "GET /robots/robots?format=csv&robot=-", "GET /robots/evidence?standing=-",
		"HEAD /robots/report?robot=GPTBot", "GET /robots/report?robot=%3Cscript%3E", "POST /robots/refresh?host=", "PUT /robots/evidence?a;b=%",
	} {
		method, target, _ := strings.Cut(target, " ")
		f.Add(method, target)
	}
	th := visitedBy(f, gptBot, ccBot)
	routes := make(map[string]caddy.AdminHandler)
	for _, route := range testAPI().Routes() {
		routes[route.Pattern] = route.Handler
	}
	f.Fuzz(func(t *testing.T, method, target string) {
		u, err := url.ParseRequestURI(target)
		if err != nil || method == http.MethodPost && u.Path == "/robots/refresh" { // which only loads again
			t.Skip()
		}
		handler := routes[u.Path]
		if strings.HasPrefix(u.Path, "/robots/sites/") {
			handler = routes["/robots/sites/"]
		}
		if handler == nil {
			t.Skip()
		}
		before := th.banned()
		rec := httptest.NewRecorder()
		err = handler.ServeHTTP(rec, &http.Request{Method: method, URL: u, Host: "localhost", Header: http.Header{}})
		checkAdminAnswer(t, method, target, rec, err)
		checkLifted(t, th, before, method, u)
		checkSelection(t, target, u, rec)
		checkLink(t, u)
	})
}

// visitedBy is a handler to which disobedient robots came.
func visitedBy(tb testing.TB, agents ...string) *testHandler {
	tb.Helper()
	th := newTestHandler(tb, "User-agent: *\nDisallow: /private/\n", &Handler{})
	for _, agent := range agents {
		th.ask("GET", "/private/a", agent)
		th.ask("GET", "/", agent)
	}
	return th
}

// banned puts the same bans in force again, and returns them.
func (th *testHandler) banned() []storage.BanRecord {
	now := time.Now()
	for _, key := range []ratelimit.Key{{Site: "site.example", Robot: "figtree"}, {Site: "other.example", Robot: "figtree"}, {Site: "site.example", Robot: "unhipbot"}} {
		for _, address := range []string{"203.0.113.7", "2001:db8::7", ""} {
			th.app.memory.Bans().Put(ratelimit.Ban{Key: key, Address: address, Since: now, Until: now.Add(time.Hour)})
		}
	}
	return storage.BanRecords(th.app.memory.Bans(), now)
}

func checkAdminAnswer(t *testing.T, method, target string, rec *httptest.ResponseRecorder, err error) {
	t.Helper()
	status, body := rec.Code, rec.Body.String()
	if failed, ok := err.(caddy.APIError); ok {
		status = failed.HTTPStatus
		if body != "" || failed.Message == "" {
			t.Errorf("answer: %s %s: got the error %v after %q", method, target, failed, body)
		}
	} else if err != nil {
		t.Errorf("answer: %s %s: %v", method, target, err)
	}
	switch status {
	case http.StatusOK, http.StatusNoContent, http.StatusBadRequest, http.StatusNotFound, http.StatusMethodNotAllowed:
	default:
		t.Errorf("answer: %s %s: got %d", method, target, status)
	}
	if rec.Header().Get("Content-Type") == "application/json" && method != http.MethodHead && !json.Valid([]byte(body)) {
		t.Errorf("answer: %s %s: got %q, want JSON", method, target, body)
	}
}

func checkLifted(t *testing.T, th *testHandler, before []storage.BanRecord, method string, u *url.URL) {
	t.Helper()
	after := storage.BanRecords(th.app.memory.Bans(), time.Now())
	if method != http.MethodDelete || u.Path != "/robots/bans" {
		if !reflect.DeepEqual(after, before) {
			t.Errorf("reading changes nothing: %s %s: got %+v, want %+v", method, u, after, before)
		}
		return
	}
	query, err := url.ParseQuery(u.RawQuery)
	want := []storage.BanRecord{}
	isClear := err == nil
	for name := range query {
		isClear = isClear && slices.Contains(banFields, name)
	}
	robot, site, address := query.Get("robot"), query.Get("site"), plainAddress(query.Get("address"))
	for _, rec := range before {
		named := (robot != "" || site != "" || address != "") != (query.Get("all") == "true")
		fit := (robot == "" || strings.EqualFold(robot, rec.Robot)) && (site == "" || strings.EqualFold(site, rec.Site)) &&
			(address == "" || enforce.IsOf(rec.Address, address))
		if !isClear || !named || !fit {
			want = append(want, rec)
		}
	}
	if !reflect.DeepEqual(after, want) {
		t.Errorf("lifted: %s: got %+v, want %+v", u, after, want)
	}
}

// checkSelection reads the report that was answered as JSON.
func checkSelection(t *testing.T, target string, u *url.URL, rec *httptest.ResponseRecorder) {
	t.Helper()
	var report struct {
		Sites []struct {
			Site   string
			Robots []struct{ Robot, Class, Standing string }
		}
	}
	if u.Path != "/robots/robots" || json.Unmarshal(rec.Body.Bytes(), &report) != nil {
		return
	}
	query := u.Query()
	fits := func(field, value string) bool {
		wanted := query.Get(field)
		return wanted == "" || strings.EqualFold(wanted, value) || wanted == "-" && value == ""
	}
	for _, site := range report.Sites {
		for _, robot := range site.Robots {
			if !fits("site", site.Site) || !fits("robot", robot.Robot) || !fits("class", robot.Class) || !fits("standing", robot.Standing) {
				t.Errorf("selection: %s: got %+v on %q", target, robot, site.Site)
			}
		}
	}
}

// checkLink reads the query that a link of the page would have.
func checkLink(t *testing.T, u *url.URL) {
	t.Helper()
	q, err := readQuery(u.Query(), "html")
	if err != nil {
		return
	}
	for _, link := range links("/report", &q) {
		linked, err := url.Parse(link.Target)
		if err != nil {
			t.Fatalf("link: %q: %v", link.Target, err)
		}
		if again, err := readQuery(linked.Query(), ""); err != nil || again.Selection != q.Selection {
			t.Errorf("link: %q reads as %+v, %v, want %+v", link.Target, again, err, q.Selection)
		}
	}
}
