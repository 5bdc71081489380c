package caddymodule

import (
	"cmp"
	"fmt"
	"math"
	"net/http"
	"strconv"
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
	values := make([]string, 0, 6) // of all headers, in one allocation
	set := func(name, value string) {
		values = append(values, value)
		header[name] = values[len(values)-1 : len(values) : len(values)]
	}
	set("Cache-Control", "no-store")
	switch links := header["Link"]; {
	case len(links) == 0:
		set("Link", describedByRules)
	case !hasRelation(links, "describedby"):
		header.Add("Link", describedByRules)
	}
	if j.retryAfter > 0 {
		set("Retry-After", strconv.FormatInt(j.retrySeconds(), 10))
	}
	if err := siteAnswers(r, j); err != nil {
		return err
	}
	body := j.explanation(h.now)
	set("Content-Type", "text/plain; charset=utf-8")
	set("X-Content-Type-Options", "nosniff")
	set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(j.status())
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) // a client that is gone needs no answer
	}
	return nil
}

// siteAnswers returns the refusal as an error if an error route of the server matches r with
// it, so that it, and not this module, is to answer.
func siteAnswers(r *http.Request, j *judgement) error {
	server, ok := r.Context().Value(caddyhttp.ServerCtxKey).(*caddyhttp.Server)
	if !ok || server.Errors == nil || len(server.Errors.Routes) == 0 {
		return nil
	}
	err := caddyhttp.Error(j.status(), &refusal{*j})
	if !anyAnswers(server.Errors.Routes, server.Errors.WithError(r, err)) {
		return nil
	}
	return err
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
func (j *judgement) explanation(now func() time.Time) []byte {
	b := make(explanation, 0, 512)
	b.write(strconv.Itoa(j.status()), " ", http.StatusText(j.status()), "\n\n")
	robot := j.robot()
	switch j.verdict {
	case Disallowed:
		b.write("The robots.txt of this site does not allow ", robot, " to fetch this page.\n\n")
	case TooFast:
		b.write(robot, " comes faster than the robots.txt of this site allows.\n\n")
	case Impostor:
		b.write(robot, " is not who it says it is.\n\n")
	case Banned:
		b.write(robot, " disobeyed the robots.txt of this site again and again, and is refused for a time.\n\n")
	case OffHours:
		b.write("The robots.txt of this site asks ", robot, " to come at other hours.\n\n")
	}
	b.line("Taken for:", robot, " (", j.who.Class.String(), ")")
	if j.proof.reason != "" {
		b.line("Which:", j.proof.reason)
	}
	if j.denied != "" {
		b.line("Because:", j.denied)
	}
	if binding := j.decision.Binding; binding != nil {
		b.line("Record:", "User-agent: ", binding.Token(), " (line ", strconv.Itoa(binding.Line()), ")")
	}
	switch {
	case j.line > 0:
		b.line("Line "+strconv.Itoa(j.line)+":", j.rule)
	case j.rule != "":
		b.line("Because:", j.rule)
	case j.denied == "" && j.verdict != Impostor:
		b.line("Because:", j.decision.String())
	}
	if j.throttle != "" {
		b.line("Pace:", j.throttle)
	}
	if j.retryAfter > 0 {
		at := now().Add(time.Duration(j.retrySeconds()) * time.Second)
		b.line("Come back:", "in ", strconv.FormatInt(j.retrySeconds(), 10), " seconds, at ", at.UTC().Format(http.TimeFormat))
	}
	for _, comment := range j.decision.Binding.Comments() {
		b.line("Comment:", comment)
	}
	b.line("Rules:", robotsPath)
	return b
}

// explanation is a text in the making.
type explanation []byte

func (b *explanation) write(parts ...string) { *b = b.with(parts) }

// line writes a line: what it is about, and from the same column on what there is to say.
func (b *explanation) line(about string, parts ...string) {
	const column = "            "
	start := append(append(*b, about...), column[min(len(about), len(column)-1):]...)
	*b = append(start.with(parts), '\n')
}

// with returns the text with parts behind it.
func (b explanation) with(parts []string) explanation {
	for _, part := range parts {
		b = append(b, part...)
	}
	return b
}
