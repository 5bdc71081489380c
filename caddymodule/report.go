package caddymodule

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/caddy-robots/caddy-robots/crawler"
	"github.com/caddy-robots/caddy-robots/internal/compliance"
	"github.com/caddy-robots/caddy-robots/internal/enforce"
	"github.com/caddy-robots/caddy-robots/internal/metrics"
	"github.com/caddy-robots/caddy-robots/internal/policies"
	"github.com/caddy-robots/caddy-robots/internal/storage"
	"github.com/caddy-robots/caddy-robots/robotsrules"
)

// reporter answers requests for what robots did: at the robots_report directive and at the
// admin API.
type reporter struct {
	app     *App                   // nil: there is nothing to report
	shows   func(site string) bool // whether a site is shown; nil: all are
	refresh time.Duration          // how often an open page is brought up to date; 0 or less: never
	now     func() time.Time
}

// reportQuery is what is asked for.
type reportQuery struct {
	compliance.Selection
	format string // html, json, csv or evidence.csv
}

// formats are the forms of a report, and their media types.
var formats = map[string]string{
	"html":         "text/html; charset=utf-8",
	"json":         "application/json",
	"csv":          "text/csv; charset=utf-8",
	"evidence.csv": "text/csv; charset=utf-8",
}

// readQuery reads the query of a request. An error says what is wrong with it.
func readQuery(query url.Values, format string) (reportQuery, error) {
	q := reportQuery{format: format}
	fields := map[string]*string{
		"site": &q.Site, "robot": &q.Robot, "class": &q.Class, "standing": &q.Standing,
		"operator": &q.Operator, "purpose": &q.Purpose, "period": &q.Period, "format": &q.format,
	}
	for name, values := range query {
		field := fields[name]
		switch {
		case field == nil:
			return q, fmt.Errorf("parameter %w", robotsrules.UnknownWord(name, "site, robot, class, standing, operator, purpose, period or format"))
		case len(values) > 1:
			return q, fmt.Errorf("parameter %q is there %d times; write it once", name, len(values))
		}
		*field = values[0]
	}
	if formats[q.format] == "" {
		return q, fmt.Errorf("format %w", robotsrules.UnknownWord(q.format, "html, json, csv or evidence.csv"))
	}
	return q, cmp.Or(checkPurpose(q.Purpose), q.Check())
}

// checkPurpose returns an error that says what to write instead if no robot comes for that.
func checkPurpose(word string) error {
	if _, known := crawler.ParsePurpose(word); known || word == "" || word == compliance.None {
		return nil
	}
	return fmt.Errorf("purpose %w", robotsrules.UnknownWord(word, strings.Replace(listPurposes, " or ", ", ", 1)+", or "+compliance.None))
}

// report returns what is asked for, as of now, and what is to be said about it.
func (p *reporter) report(ctx context.Context, q *reportQuery) (report *compliance.Report, source string) {
	report, source = p.snapshot(ctx)
	report.MarkKnown(enforce.KnownRobot)
	names := policies.RobotNames()
	report.MarkHosts(p.hosts(), metrics.MatchesHost, func(name string) string { return robotsrules.Closest(name, names, 2) })
	report.MarkBans(p.app.bansInForce(p.now()))
	texts := p.app.texts()
	for i := range report.Sites {
		report.Sites[i].RobotsTxt = texts[report.Sites[i].Version]
	}
	report = report.Select(q.Selection)
	report.Advise()
	return report, source
}

// snapshot returns what all Caddys of the fleet have seen, or else this one, and which it is.
func (p *reporter) snapshot(ctx context.Context) (report *compliance.Report, source string) {
	if p.app == nil {
		return new(compliance.Ledger).Snapshot(p.now()), "live"
	}
	ledger, nodes, err := p.app.publisher.Ledger(ctx)
	switch {
	case err != nil && nodes == 1:
		source = fmt.Sprintf("live, this Caddy only: %v", err)
	case err != nil:
		source = fmt.Sprintf("live, %d Caddys and not all: %v", nodes, err)
	case nodes > 1:
		source = fmt.Sprintf("live, %d Caddys", nodes)
	default:
		source = "live"
	}
	return ledger.SnapshotOf(p.now(), p.shows), source
}

// serve answers a request for a report. self is the path of the page, empty where it is to be
// kept as a file.
func (p *reporter) serve(w http.ResponseWriter, r *http.Request, q *reportQuery, self string) error {
	report, source := p.report(r.Context(), q)
	header := w.Header()
	header.Set("Content-Type", formats[q.format])
	header.Set("Cache-Control", "no-store")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "no-referrer")
	if r.Method == http.MethodHead {
		if q.format == "html" {
			header.Set("Content-Security-Policy", compliance.CSP(rand.Text()))
		}
		return nil
	}
	switch q.format {
	case "json":
		return json.NewEncoder(w).Encode(report)
	case "csv":
		return report.WriteRobots(w)
	case "evidence.csv":
		return report.WriteEvidence(w)
	}
	nonce := rand.Text()
	header.Set("Content-Security-Policy", compliance.CSP(nonce))
	return compliance.WritePage(w, report, compliance.PageOptions{
		Source: source, Self: self, Selection: q.Selection, Nonce: nonce,
		RefreshSeconds: int(p.refresh.Seconds()), Links: links(self, q),
	})
}

// links are those to the same report in other forms.
func links(self string, q *reportQuery) []compliance.Link {
	if self == "" {
		return nil
	}
	link := func(text, format string) compliance.Link {
		values := q.Values()
		values.Set("format", format)
		return compliance.Link{Text: text, Target: self + "?" + values.Encode()}
	}
	return []compliance.Link{
		link("All of it as JSON", "json"), link("The robots as CSV", "csv"), link("The evidence as CSV", "evidence.csv"),
	}
}

// bansInForce returns who is banned. Those that are only observed are not.
func (a *App) bansInForce(now time.Time) (bans []compliance.Ban) {
	if a == nil {
		return nil
	}
	for _, rec := range storage.BanRecords(a.memory.Bans(), now) {
		ban := compliance.Ban{Site: rec.Site, Robot: rec.Robot, Standing: rec.Standing, Address: rec.Address, Until: rec.Until}
		if rec.Robot == rec.Address {
			ban.Robot = "" // a client without a name goes by its address
		}
		bans = append(bans, ban)
	}
	return bans
}

// hosts returns how the robots.txt of each host is that is shown.
func (p *reporter) hosts() (hosts []compliance.Host) {
	if p.app == nil {
		return nil
	}
	for _, st := range distinct(p.app.hosts()) {
		if p.shows != nil && st.Host != "" && !p.shows(st.Host) {
			continue
		}
		rec := st.policies.Record(&st.State, p.now())
		host := compliance.Host{
			Host: rec.Host, Status: rec.Status, Holds: rec.Holds, Since: rec.Since, Loaded: rec.Loaded,
			Errors: rec.Errors, Warnings: rec.Warnings, Failure: rec.Failure, Source: st.Source,
		}
		if st.Policy != nil {
			host.Unknown = func() []compliance.UnknownRecord { return unknownRecords(st.Policy.Rules.File) }
		}
		hosts = append(hosts, host)
	}
	return hosts
}

// unknownRecords returns the records that name robots which nobody knows.
func unknownRecords(f *robotsrules.File) (unknown []compliance.UnknownRecord) {
	for _, group := range f.Groups {
		for _, token := range group.Tokens {
			if _, known := crawler.Named(token.Value); !known && token.Value != "*" && crawler.TokenAdvice(token.Value).Code == "" {
				unknown = append(unknown, compliance.UnknownRecord{Token: token.Value, Line: token.Line})
			}
		}
	}
	return unknown
}

// texts returns the robots.txt in force of all handlers, by version.
func (a *App) texts() map[string]string {
	texts := make(map[string]string)
	if a == nil {
		return texts
	}
	for _, h := range a.all() {
		for _, st := range h.policies.States() {
			if st.Policy != nil {
				texts[st.Policy.Rules.Version] = st.Policy.Rules.Text
			}
		}
	}
	return texts
}
