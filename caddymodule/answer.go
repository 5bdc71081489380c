package caddymodule

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// refusal is a judgement as the error that Caddy's error handling sees. Its text is made
// only when somebody asks.
type refusal struct{ judgement }

// Error says in one sentence who was refused and why.
func (e *refusal) Error() string { return e.robot() + ": " + e.reason() }

// robot names the client for a person.
func (j *judgement) robot() string {
	if j.who.Name != "" {
		return j.who.Name
	}
	if j.who == trappedRobot {
		return "a robot that fetched a page no person is led to"
	}
	return j.who.Class.String() + " client"
}

// reason says in one sentence what decided.
func (j *judgement) reason() string {
	switch {
	case j.verdict == Banned:
		return fmt.Sprintf("banned until %s: disobeyed again and again, last %s", j.until.UTC().Format(time.RFC3339), j.broken())
	case j.verdict == Impostor:
		return "impostor: " + j.proof.reason
	case j.verdict == TooFast && j.throttle != "":
		return fmt.Sprintf("too fast: %s, and such pages are served at %q", cmp.Or(j.denied, j.decision.String()), j.throttle)
	case j.denied != "":
		return "disallowed: " + j.denied
	case j.verdict == TooFast && j.line == 0:
		return fmt.Sprintf("too fast: %q, as robots.txt states no pace", j.rule)
	case j.verdict == TooFast:
		return fmt.Sprintf("too fast: line %d %q in the record for %q", j.line, j.rule, j.decision.Binding.Token())
	case j.verdict == OffHours:
		return fmt.Sprintf("off hours: line %d %q in the record for %q", j.line, j.rule, j.decision.Binding.Token())
	default:
		return j.decision.String()
	}
}

// cause is the line that decided, as written, or a sentence where no line did.
func (j *judgement) cause() string {
	if j.rule != "" {
		return j.rule
	}
	return j.reason()
}

// broken says what a ban goes back to.
func (j *judgement) broken() string {
	if j.line > 0 {
		return fmt.Sprintf("line %d %q", j.line, j.rule)
	}
	return j.rule
}

// status is the HTTP status of a refusal.
func (j *judgement) status() int {
	if j.verdict == TooFast || j.verdict == OffHours {
		return http.StatusTooManyRequests
	}
	return http.StatusForbidden
}

// retrySeconds is the wait in whole seconds, rounded up: a robot that waits as told must
// not come too early.
func (j *judgement) retrySeconds() int64 {
	return int64(math.Ceil(j.retryAfter.Seconds()))
}

// describedByRules leads from a refusal to what it goes by.
const describedByRules = "<" + robotsPath + `>; rel="describedby"`

// refuse answers the request: by the error routes of the site where there are any for it,
// else with a short text for a person.
func (h *Handler) refuse(w http.ResponseWriter, r *http.Request, j *judgement) error {
	header := w.Header()
	header.Set("Cache-Control", "no-store")
	if !hasRelation(header["Link"], "describedby") {
		header.Add("Link", describedByRules)
	}
	if j.retryAfter > 0 {
		header.Set("Retry-After", strconv.FormatInt(j.retrySeconds(), 10))
	}
	err := caddyhttp.Error(j.status(), &refusal{*j})
	if siteAnswers(r, err) {
		return err
	}
	header.Set("Content-Type", "text/plain; charset=utf-8")
	header.Set("X-Content-Type-Options", "nosniff")
	body := j.explanation(h.now())
	header.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(j.status())
	if r.Method != http.MethodHead {
		_, _ = io.WriteString(w, body) // a client that is gone needs no answer
	}
	return nil
}

// siteAnswers tells whether an error route of the server matches r with this error, so
// that it, and not this module, is to answer.
func siteAnswers(r *http.Request, err error) bool {
	server, ok := r.Context().Value(caddyhttp.ServerCtxKey).(*caddyhttp.Server)
	if !ok || server.Errors == nil || len(server.Errors.Routes) == 0 {
		return false
	}
	return anyAnswers(server.Errors.Routes, server.Errors.WithError(r, err))
}

// anyAnswers looks into subroutes, since that is what handle_errors becomes: a route for
// the site that holds routes for some statuses.
func anyAnswers(routes caddyhttp.RouteList, r *http.Request) bool {
	for _, route := range routes {
		matches, err := route.MatcherSets.AnyMatchWithError(r)
		if err != nil {
			return true // the error routes are to deal with it
		}
		if !matches {
			continue
		}
		for _, handler := range route.Handlers {
			subroute, ok := handler.(*caddyhttp.Subroute)
			if !ok || anyAnswers(subroute.Routes, r) {
				return true
			}
		}
	}
	return false
}

// explanation is the body of a refusal: for the person behind the robot.
func (j *judgement) explanation(now time.Time) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d %s\n\n", j.status(), http.StatusText(j.status()))
	switch j.verdict {
	case Disallowed:
		fmt.Fprintf(&b, "The robots.txt of this site does not allow %s to fetch this page.\n\n", j.robot())
	case TooFast:
		fmt.Fprintf(&b, "%s comes faster than the robots.txt of this site allows.\n\n", j.robot())
	case Impostor:
		fmt.Fprintf(&b, "%s is not who it says it is.\n\n", j.robot())
	case Banned:
		fmt.Fprintf(&b, "%s disobeyed the robots.txt of this site again and again, and is refused for a time.\n\n", j.robot())
	case OffHours:
		fmt.Fprintf(&b, "The robots.txt of this site asks %s to come at other hours.\n\n", j.robot())
	}
	fmt.Fprintf(&b, "Taken for:  %s (%s)\n", j.robot(), j.who.Class)
	if j.proof.reason != "" {
		fmt.Fprintf(&b, "Which:      %s\n", j.proof.reason)
	}
	if j.denied != "" {
		fmt.Fprintf(&b, "Because:    %s\n", j.denied)
	}
	if binding := j.decision.Binding; binding != nil {
		fmt.Fprintf(&b, "Record:     User-agent: %s (line %d)\n", binding.Token(), binding.Line())
	}
	switch {
	case j.line > 0:
		fmt.Fprintf(&b, "Line %-6s %s\n", strconv.Itoa(j.line)+":", j.rule)
	case j.rule != "":
		fmt.Fprintf(&b, "Because:    %s\n", j.rule)
	case j.denied == "" && j.verdict != Impostor:
		fmt.Fprintf(&b, "Because:    %s\n", j.decision)
	}
	if j.throttle != "" {
		fmt.Fprintf(&b, "Pace:       %s\n", j.throttle)
	}
	if j.retryAfter > 0 {
		fmt.Fprintf(&b, "Come back:  in %d seconds, at %s\n", j.retrySeconds(),
			now.Add(time.Duration(j.retrySeconds())*time.Second).UTC().Format(http.TimeFormat))
	}
	for _, comment := range j.decision.Binding.Comments() {
		fmt.Fprintf(&b, "Comment:    %s\n", comment)
	}
	fmt.Fprintf(&b, "Rules:      %s\n", robotsPath)
	return b.String()
}
