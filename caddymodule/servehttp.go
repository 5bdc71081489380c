package caddymodule

import (
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-robots/caddy-robots/crawler"
	"github.com/caddy-robots/caddy-robots/internal/enforce"
	"github.com/caddy-robots/caddy-robots/internal/policies"
)

// ServeHTTP passes people on, which is most of what it does, and has the others judged.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler) error {
	if h.policies.WantsRequests() {
		next = h.watch(r, next)
	}
	sent, several := userAgent(r)
	who := h.app.crawlers.Identify(sent)
	if several {
		sent, who = h.strictest(r)
	}
	if who.Class == crawler.Browser && !h.settings.browsersToo {
		return next.ServeHTTP(w, r)
	}
	return h.serveClient(w, r, next, sent, who)
}

// serveClient judges a client that may be bound, and passes it on or refuses it.
func (h *Handler) serveClient(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler, sent string, who *crawler.Identity) error {
	if sent == policies.FetcherName {
		if mark, isOwn := h.ownFetch(r); isOwn {
			return serveOwnFetch(w, r, next, mark)
		}
	}
	x := exchange{r: r, state: stateOf(r)}
	h.fill(&x, sent)
	if h.settings.serve && x.request.Path == policies.Path {
		next = serving{h, x.request.Host, next}
	}
	if x.request.IsChallenge() || x.internal {
		return next.ServeHTTP(w, r)
	}
	x.verdict = h.engine.Decide(r.Context(), &x.request, who)
	if x.verdict.TooEarly {
		return caddyhttp.Error(http.StatusTooEarly, errTooEarly)
	}
	h.observers.learn(&x)
	var announcer *announcer
	if h.settings.announce != 0 {
		announcer = h.announcer(w, &x)
	}
	if announcer == nil {
		return h.answer(w, next, &x)
	}
	err := h.answer(announcer, next, &x)
	announcer.finish() // for who answers an error, and for an answer that is empty
	return err
}

// answer passes the request on or refuses it, and notes which.
func (h *Handler) answer(w http.ResponseWriter, next caddyhttp.Handler, x *exchange) error {
	switch {
	case x.request.IsForRules():
		return h.serveRobotsTxt(w, next, x)
	case x.verdict.Kind == enforce.Allowed:
		return h.serveAllowed(w, next, x)
	}
	told := h.observers.tell(x)
	if !x.verdict.Refused {
		return h.serveObserved(w, next, x)
	}
	if x.state.claim() {
		h.observers.note(x, answered{status: statusOf(&x.verdict)})
	}
	x.state.save()
	return h.refuse(w, x.r, told)
}

// fill fills the request for the decision from the one that came: from its request line, before
// any rewrite.
func (h *Handler) fill(x *exchange, sent string) {
	r := x.r
	u, target := originalTarget(r)
	x.internal = target == ""
	if !strings.HasPrefix(target, "/") {
		target = u.RequestURI() // absolute-form, or a request made in a test
	}
	q := &x.request // filled in place: it is large
	q.Method, q.Host, q.Authority = r.Method, policies.Host(r.Host), r.Host
	q.Target, q.Path, q.Query = target, enforce.ServedPath(u.Path), u.RawQuery
	q.UserAgent, q.Header = sent, r.Header
	q.Peer, q.EarlyData = r.RemoteAddr, isEarly(r)
	q.At, q.Counted = h.arrival(&x.state), x.state.isCounted()
	q.CanWait = r.ContentLength == 0 // else the end of its client is not noticed before the body is read
	q.Site = h.site(x)
	if h.settings.needsScheme {
		q.Scheme = schemeOf(r)
	}
}

// originalTarget returns the URL and the target that r came with, before any rewrite. The target of a
// request is empty only where Caddy itself makes one: no request line has an empty one.
func originalTarget(r *http.Request) (u *url.URL, target string) {
	if original, ok := r.Context().Value(caddyhttp.OriginalRequestCtxKey).(http.Request); ok {
		return original.URL, original.RequestURI
	}
	return r.URL, r.RequestURI
}

// serverOf returns the server that r came through, nil if it came through none.
func serverOf(r *http.Request) *caddyhttp.Server {
	server, _ := r.Context().Value(caddyhttp.ServerCtxKey).(*caddyhttp.Server)
	return server
}

// serveAllowed passes on a request that is allowed, and notes it when that is over, unless
// another handler has judged it meanwhile.
func (h *Handler) serveAllowed(w http.ResponseWriter, next caddyhttp.Handler, x *exchange) (err error) {
	var turn marks
	if x.verdict.IsNoted() {
		turn = x.state.join()
	}
	x.state.save()
	if turn == 0 {
		return next.ServeHTTP(w, x.r)
	}
	at := x.request.At
	m := newMeter(w, h.since(at))
	defer func() {
		if a := m.stop(h.since(at), err); x.state.isLast(turn) {
			h.observers.note(x, a)
		}
	}()
	return next.ServeHTTP(m, x.r)
}

// serveObserved serves a request that is only observed, and notes what it was answered.
func (h *Handler) serveObserved(w http.ResponseWriter, next caddyhttp.Handler, x *exchange) (err error) {
	mine := x.state.claim()
	x.state.save()
	if !mine {
		return next.ServeHTTP(w, x.r)
	}
	at := x.request.At
	m := newMeter(w, h.since(at))
	defer func() { h.observers.note(x, m.stop(h.since(at), err)) }()
	return next.ServeHTTP(m, x.r)
}

// learnServer notes the server that the handler stands in, from a request that came through it:
// a request for this site's own robots.txt is put through it, so that whatever serves the site
// answers, also when it is another route than the handler's.
func (h *Handler) learnServer(r *http.Request) {
	server := serverOf(r)
	if server == nil {
		return
	}
	o := policies.Origin{Server: server, Name: server.Name(), TLS: r.TLS}
	o.Local, _ = r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	h.policies.LearnServer(o)
}

// ownFetch reports whether r is a request that this module makes itself, through the server or over
// HTTP, and returns its mark, nil if it has none.
func (h *Handler) ownFetch(r *http.Request) (mark *policies.Mark, isOwn bool) {
	mark = h.app.policies.Mark(r.Header.Get(policies.MarkHeader))
	return mark, policies.IsOwnFetch(r.Context()) || mark.Covers(r.URL.Path)
}

// serveOwnFetch passes on a request that this module makes itself, through the server or over HTTP,
// with its mark. It is never judged: a robots.txt that stands behind a redirect would wait for
// itself. Nor does it stand in the access log, which is about visitors.
func serveOwnFetch(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler, mark *policies.Mark) error {
	caddyhttp.SetVar(r.Context(), caddyhttp.LogSkipVar, true)
	if mark == nil {
		return next.ServeHTTP(w, r)
	}
	if err := mark.Enter(); err != nil {
		return caddyhttp.Error(http.StatusLoopDetected, err)
	}
	defer mark.Leave()
	return next.ServeHTTP(w, r)
}

// userAgent returns the first User-Agent header of r, "" if there is none, and whether there are
// several.
func userAgent(r *http.Request) (sent string, several bool) {
	if values := r.Header["User-Agent"]; len(values) > 0 {
		return values[0], len(values) > 1
	}
	return "", false
}

// strictest returns which of the several User-Agent headers of r decides, and who says it.
func (h *Handler) strictest(r *http.Request) (sent string, who *crawler.Identity) {
	x := exchange{r: r, state: stateOf(r)}
	h.fill(&x, "")
	return h.engine.Strictest(r.Context(), &x.request, r.Header["User-Agent"], h.app.crawlers.Identify)
}

// schemeOf returns the scheme that the client used: where the site trusts a proxy, the one that this
// says.
func schemeOf(r *http.Request) string {
	if r.TLS != nil {
		return "https"
	}
	if trusted, _ := caddyhttp.GetVar(r.Context(), caddyhttp.TrustedProxyVarKey).(bool); trusted {
		if told := r.Header.Get("X-Forwarded-Proto"); told == "https" {
			return told
		}
	}
	return "http"
}
