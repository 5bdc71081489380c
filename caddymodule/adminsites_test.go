package caddymodule

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-robots/caddy-robots/internal/policies"
)

// admin asks the admin API, by its routes, and returns the answer or the error as it is sent.
func admin(t *testing.T, method, target string) (status int, body string) {
	t.Helper()
	mux := http.NewServeMux()
	var failed error
	for _, route := range testAPI().Routes() {
		mux.HandleFunc(route.Pattern, func(w http.ResponseWriter, r *http.Request) { failed = route.Handler.ServeHTTP(w, r) })
	}
	rec := httptest.NewRecorder()
	mux.ServeHTTP(rec, httptest.NewRequest(method, target, nil))
	if apiErr, ok := failed.(caddy.APIError); ok {
		message, err := json.Marshal(map[string]string{"error": apiErr.Message})
		if err != nil {
			t.Fatal(err)
		}
		return apiErr.HTTPStatus, string(message)
	}
	return rec.Code, rec.Body.String()
}

func TestTheAdminAPIShowsSites(t *testing.T) {
	site := newChanging(t, "User-agent: *\nDisallow: /a\nDisallow: /b\nnonsense\n", &Handler{})
	site.ask("GET", "/", gptBot)
	var all []policies.Record
	_, body := admin(t, "GET", "/robots/sites")
	if err := json.Unmarshal([]byte(body), &all); err != nil || len(all) != 1 {
		t.Fatalf("got %s, error %v; want one site", body, err)
	}
	if s := all[0]; s.Host != "" || len(s.Sources) != 1 || s.Rules != 2 || s.Records != 1 || s.Warnings != 1 || s.Version == "" || s.Failure != "" {
		t.Errorf("got %+v, want a site with two rules and one warning", s)
	}
	var one policies.FullRecord
	_, body = admin(t, "GET", "/robots/sites/site.example")
	if err := json.Unmarshal([]byte(body), &one); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(one.Text, "User-agent: *") || len(one.Diagnostics) != 1 || one.Diagnostics[0].Line != 4 || one.Diagnostics[0].Severity != "warning" {
		t.Errorf("got %+v, want the text and a warning for line 4", one)
	}
}

func TestTheAdminAPISaysWhyALoadFailed(t *testing.T) {
	site := newChanging(t, closedAll, &Handler{})
	site.list.set(status(http.StatusBadGateway))
	code, body := admin(t, "POST", "/robots/refresh")
	if code != 200 || !strings.Contains(body, "502") || !strings.Contains(body, `"changed":false`) {
		t.Errorf("refreshed in vain: got %d %s, want the failure", code, body)
	}
	if _, body := admin(t, "GET", "/robots/sites"); !strings.Contains(body, "502") {
		t.Errorf("the site: got %s, want the failure", body)
	}
	if got := site.ask("GET", "/", gptBot).Code; got != 403 {
		t.Errorf("after it: got %d, want what was loaded before to hold", got)
	}
}

func TestTheAdminAPIRefreshes(t *testing.T) {
	site := newChanging(t, closedAll, &Handler{})
	if code, body := admin(t, "POST", "/robots/refresh"); code != 200 || !strings.Contains(body, `"changed":false`) {
		t.Errorf("the same text: got %d %s", code, body)
	}
	site.list.set(text("User-agent: *\nDisallow:\n"))
	if code, body := admin(t, "POST", "/robots/refresh?host=site.example"); code != 200 || !strings.Contains(body, `"changed":true`) {
		t.Errorf("another text: got %d %s", code, body)
	}
	if got := site.ask("GET", "/", gptBot).Code; got != 200 {
		t.Errorf("after it: got %d, want the new text in force", got)
	}
}

func TestTheAdminAPIIsAskedSensibly(t *testing.T) {
	newTestHandler(t, "", &Handler{}) // whose hosts nobody has asked for
	for ask, want := range map[string]int{
		"GET /robots/sites":                        200,
		"GET /robots/sites?host=x":                 400,
		"POST /robots/sites":                       405,
		"GET /robots/sites/unknown.example":        404,
		"GET /robots/sites/":                       404,
		"GET /robots/refresh":                      405,
		"POST /robots/refresh":                     200,
		"POST /robots/refresh?host=":               400,
		"POST /robots/refresh?site=x":              400,
		"POST /robots/refresh?host=x":              404,
		"POST /robots/robots":                      405,
		"DELETE /robots/evidence":                  405,
		"GET /robots/evidence?standing=perhaps":    400,
		"GET /robots/report?format=pdf":            400,
		"DELETE /robots/bans":                      400,
		"DELETE /robots/bans?all=true&site=x":      400,
		"DELETE /robots/bans?all=true":             404,
		"DELETE /robots/bans?robot=x&sites=y":      400,
		"GET /robots/bans?robots=x":                400,
		"GET /robots/bans?robot=x":                 200,
		"POST /robots/status":                      405,
		"GET /robots/observe":                      405,
		"POST /robots/observe":                     400,
		"POST /robots/observe?set=perhaps":         400,
		"POST /robots/observe?set=on&set=off":      400,
		"DELETE /robots/trapped":                   400,
		"DELETE /robots/trapped?address=192.0.2.1": 404,
	} {
		method, target, _ := strings.Cut(ask, " ")
		code, body := admin(t, method, target)
		if code != want {
			t.Errorf("%s: got %d %s, want %d", ask, code, body, want)
		}
		if code >= 400 && len(body) < len(`{"error":"write it so"}`) {
			t.Errorf("%s: got %s, want what to write instead", ask, body)
		}
	}
}

// What an error says to write instead can be copied as it stands.
func TestAdminErrorsAreWrittenAsTheyAre(t *testing.T) {
	for _, route := range testAPI().Routes() {
		if route.Pattern != "/robots/bans" {
			continue
		}
		answer := httptest.NewRecorder()
		if err := route.Handler.ServeHTTP(answer, httptest.NewRequest(http.MethodDelete, "/robots/bans", nil)); err != nil {
			t.Fatal(err)
		}
		if got := answer.Body.String(); answer.Code != http.StatusBadRequest || !strings.Contains(got, `{"error":"which ban? Write DELETE /robots/bans?robot=<name>, `) {
			t.Errorf("got %d %s, want 400 and what to write, with < and >", answer.Code, got)
		}
	}
}
