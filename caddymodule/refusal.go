package caddymodule

import (
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-robots/caddy-robots/internal/policies"
)

// describedByRules leads from a refusal to what it goes by.
const describedByRules = "<" + policies.Path + `>; rel="describedby"`

// refuse answers the request: by the error routes of the site where there are any for it, else
// with a short text for a person.
func (h *Handler) refuse(w http.ResponseWriter, r *http.Request, v *outcome) error {
	header := w.Header()
	values := v.values[:0]
	set := func(name, value string) {
		values = append(values, value)
		header[name] = values[len(values)-1 : len(values) : len(values)]
	}
	set("Cache-Control", "no-store")
	switch links := header["Link"]; {
	case len(links) == 0:
		set("Link", describedByRules)
	case !policies.HasRelation(links, "describedby"):
		header.Add("Link", describedByRules)
	}
	var now time.Time
	if v.RetryAfter > 0 {
		set("Retry-After", strconv.FormatInt(v.RetrySeconds(), 10))
		now = v.At.Add(h.since(v.At)) // it may have been held
	}
	status := statusOf(&v.Verdict)
	if err := h.siteAnswers(r, status, v); err != nil {
		return err
	}
	text := texts.Get().(*[]byte)
	body := append(strconv.AppendInt((*text)[:0], int64(status), 10), ' ')
	body = append(append(body, http.StatusText(status)...), "\n\n"...)
	body = v.Explain(body, now)
	set("Content-Type", "text/plain; charset=utf-8")
	set("X-Content-Type-Options", "nosniff")
	set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) // a client that is gone needs no answer
	}
	if cap(body) <= maxKeptText {
		*text = body
		texts.Put(text)
	}
	return nil
}

// texts are the buffers of texts that were sent: no writer keeps what it is given.
var texts = sync.Pool{New: func() any { return new([]byte) }}

// maxKeptText bounds them; a record can have a long Comment.
const maxKeptText = 4 << 10

// siteAnswers returns the refusal as an error if an error route of the server matches r with it,
// so that it, and not this module, is to answer.
func (h *Handler) siteAnswers(r *http.Request, status int, v *outcome) error {
	server := h.server
	if server == nil || server.Errors == nil || len(server.Errors.Routes) == 0 {
		return nil
	}
	err := caddyhttp.Error(status, v)
	if !anyAnswers(server.Errors.Routes, server.Errors.WithError(r, err)) {
		return nil
	}
	return err
}

// anyAnswers looks into subroutes, since that is what handle_errors becomes: a route for the
// site that holds routes for some statuses.
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
