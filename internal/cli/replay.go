package cli

import (
	"cmp"
	"context"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/caddy-robots/caddy-robots/crawler"
	"github.com/caddy-robots/caddy-robots/internal/accesslog"
	"github.com/caddy-robots/caddy-robots/internal/compliance"
	"github.com/caddy-robots/caddy-robots/internal/enforce"
	"github.com/caddy-robots/caddy-robots/internal/policies"
	"github.com/caddy-robots/caddy-robots/internal/ratelimit"
)

// replay judges the requests of a log, at the times of the log.
type replay struct {
	engine         enforce.Engine
	rules          *policies.Rules // of all hosts
	place          string          // where the rules are, which is the site of requests of which the log names no host
	wholeAddresses bool
	wholeQueries   bool

	crawlers *crawler.Cache
	arrivals arrivals
	ledger   *compliance.Ledger
	exact    *compliance.Exact
	counts   replayCounts
}

// replayCounts is what there was in a log.
type replayCounts struct {
	Requests int64 `json:"requests"`
	Browsers int64 `json:"browsers"`
	Services int64 `json:"services"`
	Apps     int64 `json:"apps"`
	Robots   int64 `json:"robots"`
	Unstated int64 `json:"unstated"` // clients that state no User-Agent
	Unlogged int64 `json:"user_agent_not_in_log"`

	// What would have been refused, by who it was.
	RefusedRobots   int64 `json:"refused_robots"`
	RefusedUnstated int64 `json:"refused_unstated"`
	RefusedServices int64 `json:"refused_services"`
	RefusedApps     int64 `json:"refused_apps"`
	RefusedBrowsers int64 `json:"refused_browsers"`

	// What was sent to those that were judged, and how long the back end took for it, as the log has it;
	// and how much of it would have been saved.
	RobotBytes   int64   `json:"robot_bytes"`
	RobotSeconds float64 `json:"robot_seconds"`
	SavedBytes   int64   `json:"would_save_bytes"`
	SavedSeconds float64 `json:"would_save_seconds"`

	First      time.Time `json:"first,omitzero"`
	Last       time.Time `json:"last,omitzero"`
	Unreadable int64     `json:"unreadable_lines"`
	Skipped    int64     `json:"other_lines"`
}

// What a replay keeps is bounded, whatever the log holds.
const (
	maxUserAgents   = 1 << 14 // whose reading is remembered
	maxReplaySites  = 1000
	maxReplayRobots = 5000 // on all sites together; one that comes to two sites counts twice
	maxReplayLedger = 96 << 20
)

func newReplay(rules *policies.Rules, place string, wholeAddresses, wholeQueries bool) *replay {
	return &replay{
		engine: enforce.Engine{
			Policies: &samePolicy{Rules: &rules.Rules},
			Limiter:  ratelimit.NewMemory(ratelimit.DefaultMaxKeys),
		},
		rules: rules, place: place, wholeAddresses: wholeAddresses, wholeQueries: wholeQueries,
		crawlers: crawler.NewCache(maxUserAgents),
		ledger:   compliance.NewLedger(compliance.Options{MaxSites: maxReplaySites, MaxRobots: maxReplayRobots, MaxBytes: maxReplayLedger}),
		exact:    compliance.NewExact(),
	}
}

// samePolicy is the policy of every host.
type samePolicy enforce.Policy

func (p *samePolicy) ForHost(context.Context, string, enforce.Asker) (*enforce.Policy, bool) {
	return (*enforce.Policy)(p), false
}

func (p *samePolicy) Asked(string, netip.Addr, time.Time) {}

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
	who := enforce.ByCircumstance(&enforce.Request{Method: rec.Method, Host: policies.Host(rec.Host)}, r.crawlers.Identify(rec.UserAgent))
	switch who.Class {
	case crawler.Browser:
		r.counts.Browsers++
		return // the directive does not look at them either
	case crawler.Service:
		r.counts.Services++
	case crawler.App:
		r.counts.Apps++
	case crawler.Unstated:
		r.counts.Unstated++
	default:
		r.counts.Robots++
	}
	r.arrivals.add(came, who, rec, r.judge)
}

// judge judges one request as the directive would have, and notes what became of it, unless it is
// a service's or an app's that nothing binds.
func (r *replay) judge(one *arrival) {
	rec := &one.record
	req, served := loggedRequest(rec)
	if !served {
		return
	}
	req.At = one.time
	v := r.engine.Decide(context.Background(), &req, one.who)
	if req.IsForRules() {
		v.Decision.Binding = r.engine.Binding(&r.rules.Rules, &v) // which is not looked for to serve it
	}
	if !v.IsNoted() {
		return
	}
	if v.Refused {
		*r.counts.refused(v.Who.Class)++
	}
	e := v.Event()
	e.Refused = false // it would have been; the log has what it was answered, and what that cost
	e.Site, e.Version, e.RobotsTxt = cmp.Or(req.Host, r.place), r.rules.Version, req.IsForRules()
	if v.Kind.Disobedient() {
		e.Line, e.Rule = v.Line, v.Rule
	}
	e.Method, e.Path, e.Address, e.Status, e.WholeAddress = rec.Method, req.Target, rec.Address, rec.Status, r.wholeAddresses
	e.WholeQuery = r.wholeQueries
	e.Measured, e.Bytes, e.Took = true, rec.Size, rec.Duration
	if !e.RobotsTxt {
		r.counts.RobotBytes += rec.Size
		r.counts.RobotSeconds += rec.Duration.Seconds()
		if v.Refused {
			r.counts.SavedBytes += rec.Size
			r.counts.SavedSeconds += rec.Duration.Seconds()
		}
	}
	r.ledger.Note(&e)
	r.exact.Note(&e)
}

// loggedRequest returns a request of a log, and whether a server would pass it on to a handler.
func loggedRequest(rec *accesslog.Record) (r enforce.Request, served bool) {
	target := rec.Target
	if !strings.HasPrefix(target, "/") {
		u, err := url.ParseRequestURI(target)
		switch {
		case rec.Method == http.MethodConnect:
			target = "/" // as net/http has it
		case err != nil || u.Host == "":
			return r, false
		default:
			target = u.RequestURI()
		}
	}
	r = enforce.Request{Method: rec.Method, Host: policies.Host(rec.Host), UserAgent: rec.UserAgent, Origin: enforce.OriginAt(rec.Address)}
	served = r.SetTarget(target)
	return r, served
}

// refused is the count of refusals of a class.
func (c *replayCounts) refused(class crawler.Class) *int64 {
	switch class {
	case crawler.Robot:
		return &c.RefusedRobots
	case crawler.Service:
		return &c.RefusedServices
	case crawler.App:
		return &c.RefusedApps
	case crawler.Unstated:
		return &c.RefusedUnstated
	}
	return &c.RefusedBrowsers
}

// report returns what the ledger holds, as of the last request, with exact counts of lines and paths.
func (r *replay) report() *compliance.Report {
	report := r.ledger.Snapshot(r.counts.Last)
	r.exact.Fill(report)
	report.MarkKnown(enforce.KnownRobot)
	report.Advise()
	return report
}
