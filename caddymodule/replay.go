package caddymodule

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"

	"github.com/caddy-robots/caddy-robots/crawler"
	"github.com/caddy-robots/caddy-robots/internal/accesslog"
	"github.com/caddy-robots/caddy-robots/internal/compliance"
)

// replay judges the requests of a log. Its handler lives in the time of the log.
type replay struct {
	h       *Handler
	ledger  *compliance.Ledger
	site    string // under which all is noted
	rules   *ruleset
	version string
	whole   bool // addresses

	request *http.Request // the one of all: what differs is written into it
	vars    map[string]any
	agent   []string // its User-Agent header
	now     time.Time

	arrivals arrivals
	counts   replayCounts
}

// replayCounts is what there was in a log.
type replayCounts struct {
	Requests int64 `json:"requests"`
	Browsers int64 `json:"browsers"`
	Apps     int64 `json:"apps"`
	Robots   int64 `json:"robots"` // and clients that state no User-Agent
	Unlogged int64 `json:"user_agent_not_in_log"`

	// What would have been refused, by who it was.
	RefusedRobots   int64 `json:"refused_robots"`
	RefusedUnstated int64 `json:"refused_unstated"`
	RefusedApps     int64 `json:"refused_apps"`
	RefusedBrowsers int64 `json:"refused_browsers"`

	First      time.Time `json:"first,omitzero"`
	Last       time.Time `json:"last,omitzero"`
	Unreadable int64     `json:"unreadable_lines"`
	Skipped    int64     `json:"other_lines"`
}

func newReplay(e *examiner, rules *ruleset, place string, wholeAddresses bool) *replay {
	r := &replay{
		h: e.h, site: place, rules: rules, version: rules.version, whole: wholeAddresses,
		ledger: compliance.NewLedger(compliance.Options{}),
		vars:   make(map[string]any), agent: []string{""},
	}
	h := e.h
	h.now = func() time.Time { return r.now }
	h.notice = zap.NewNop()
	h.loader = newLoader(h.settings, []Source{{Text: rules.text}}, h.shared, h.notice, h.now)
	site := h.loader.site("")
	site.current.Store(&edition{ruleset: rules, loaded: true})
	close(site.first)
	ctx := context.WithValue(context.Background(), caddyhttp.VarsCtxKey, r.vars)
	r.request = (&http.Request{Header: http.Header{"User-Agent": r.agent}}).WithContext(ctx)
	return r
}

// run judges all that the log holds.
func (r *replay) run(log *accesslog.Reader, p *progress) {
	defer p.end()
	for n := 0; ; n++ {
		if n%1024 == 0 {
			p.show(log.Progress())
		}
		rec, err := log.Next()
		if err != nil { // io.EOF, and nothing else
			break
		}
		r.take(rec)
	}
	r.arrivals.end(r.judge)
	r.counts.Unreadable, _ = log.Unreadable()
	r.counts.Skipped = log.Skipped()
}

// take counts a request, and has it judged if it is not a person's.
func (r *replay) take(rec *accesslog.Record) {
	r.counts.Requests++
	came := rec.Time.Add(-rec.Duration)
	if r.counts.First.IsZero() || came.Before(r.counts.First) {
		r.counts.First = came
	}
	if came.After(r.counts.Last) {
		r.counts.Last = came
	}
	if !rec.UserAgentLogged {
		r.counts.Unlogged++
		return
	}
	who := r.h.shared.crawlers.Identify(rec.UserAgent)
	switch who.Class {
	case crawler.Browser:
		r.counts.Browsers++
		return // ServeHTTP does not look further either
	case crawler.App:
		r.counts.Apps++
	default:
		r.counts.Robots++
	}
	r.arrivals.add(came, who, rec, r.judge)
}

// judge judges one request as the handler would have.
func (r *replay) judge(one *arrival) {
	rec := &one.record
	a, served := askedBy(rec)
	if !served {
		return
	}
	r.now = one.time
	r.agent[0], r.request.Host = rec.UserAgent, rec.Host
	a.host = hostOf(r.request)
	clear(r.vars)
	r.vars[caddyhttp.ClientIPVarKey] = rec.Address
	j := newJudgement(r.request, &a, one.who)
	r.h.consider(r.request, &a, rec.UserAgent, &j)
	r.note(rec, &a, &j)
}

// askedBy returns what was asked for, and whether a server would pass it on to a handler.
func askedBy(rec *accesslog.Record) (a asked, served bool) {
	text := rec.Target
	if !strings.HasPrefix(text, "/") {
		u, err := url.ParseRequestURI(text)
		switch {
		case rec.Method == http.MethodConnect:
			text = "/" // as net/http has it
		case err != nil || u.Host == "":
			return asked{}, false
		default:
			text = u.RequestURI()
		}
	}
	a, served = targetOf(text)
	a.method = rec.Method
	return a, served
}

// note notes what became of a request, unless it is an app's that nothing binds.
func (r *replay) note(rec *accesslog.Record, a *asked, j *judgement) {
	binding := j.decision.Binding
	if a.path == robotsPath {
		binding = r.h.binding(r.rules, j) // which is not looked for to serve it
	}
	if j.who.Class == crawler.App && binding == nil {
		return
	}
	if j.refused {
		*r.counts.refused(j.who.Class)++
	}
	e := j.event()
	e.Time, e.Site, e.Version, e.Record, e.RobotsTxt = r.now, r.site, r.version, binding.Token(), a.path == robotsPath
	e.Line, e.Rule = j.line, j.rule
	e.Method, e.Path, e.Address, e.Status, e.WholeAddress = rec.Method, a.target, rec.Address, rec.Status, r.whole
	r.ledger.Note(&e)
}

// refused is the count of refusals of a class.
func (c *replayCounts) refused(class crawler.Class) *int64 {
	switch class {
	case crawler.Robot:
		return &c.RefusedRobots
	case crawler.App:
		return &c.RefusedApps
	case crawler.Unstated:
		return &c.RefusedUnstated
	}
	return &c.RefusedBrowsers
}

// report returns what the ledger holds, as of the last request.
func (r *replay) report() *compliance.Report {
	report := r.ledger.Snapshot(r.counts.Last)
	for i := range report.Sites {
		report.Sites[i].RobotsTxt = r.rules.text
	}
	return report
}
