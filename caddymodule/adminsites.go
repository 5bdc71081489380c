package caddymodule

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/caddy-robots/caddy-robots/internal/policies"
	"github.com/caddy-robots/caddy-robots/robotsrules"
)

// refreshTime bounds how long the admin API waits for loads that it has begun.
const refreshTime = 30 * time.Second

// siteRecord is a site as the admin API shows it.
type siteRecord struct {
	Host     string   `json:"host"` // empty where one robots.txt holds for all hosts
	Sources  []string `json:"sources"`
	Version  string   `json:"version"`
	Octets   int      `json:"octets"`
	Records  int      `json:"records"`
	Rules    int      `json:"rules"`
	Errors   int      `json:"errors"`   // lines that do not do what they seem to
	Warnings int      `json:"warnings"` // lines that may not

	Since   time.Time `json:"since,omitzero"`        // when this text came into force
	Loaded  time.Time `json:"loaded,omitzero"`       // when the sources were last read well
	Age     float64   `json:"age_seconds,omitempty"` // how long ago that was
	Due     time.Time `json:"due,omitzero"`          // when they are read again
	Failure string    `json:"failure,omitempty"`     // why the last load did not go well
	Denied  string    `json:"denied,omitempty"`      // why everything is disallowed
}

// siteInFull is a site with the text that is in force.
type siteInFull struct {
	siteRecord
	Text        string             `json:"text"`
	Diagnostics []diagnosticRecord `json:"diagnostics"`
}

type diagnosticRecord struct {
	Line     int    `json:"line"`
	Severity string `json:"severity"`
	What     string `json:"what"`
	Instead  string `json:"instead,omitempty"`
}

// refreshRecord is what came of a load.
type refreshRecord struct {
	Host    string `json:"host"`
	Version string `json:"version"`
	Changed bool   `json:"changed"`
	Failure string `json:"failure,omitempty"`
}

// newSiteRecord returns what is known of a site. Before its first load ended that is next to
// nothing.
func newSiteRecord(l *policies.Loader, st *policies.State, now time.Time) siteRecord {
	rec := siteRecord{Host: st.Host, Sources: l.SourceNames(), Failure: st.Failure, Loaded: st.Loaded.UTC(), Due: st.Due.UTC()}
	if !st.Loaded.IsZero() {
		rec.Age = now.Sub(st.Loaded).Seconds()
	}
	if st.Policy == nil {
		return rec
	}
	rules := st.Policy.Rules
	diagnostics := rules.SeverityCounts()
	rec.Version, rec.Octets, rec.Records, rec.Rules = rules.Version, len(rules.Text), len(rules.File.Groups), rules.RuleCount()
	rec.Errors, rec.Warnings = diagnostics[robotsrules.Error], diagnostics[robotsrules.Warning]
	rec.Since, rec.Denied = st.Policy.Since.UTC(), rules.Denied
	return rec
}

// hostState is a host as the policies of one handler know it.
type hostState struct {
	policies *policies.Loader
	policies.State
}

// hosts returns what is known of each host, by host; of one that several handlers have with the
// same sources, for that of the newest.
func (a *App) hosts() (all []hostState) {
	seen := make(map[string]bool)
	for _, h := range a.all() {
		for _, st := range h.policies.States() {
			if key := h.policies.Key(st.Host); key == "" || !seen[key] {
				seen[key] = true
				all = append(all, hostState{h.policies, st})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b hostState) int { return cmp.Compare(a.Host, b.Host) })
	return all
}

// sites answers with all sites, or with the one that the path names.
func (a adminAPI) sites(w http.ResponseWriter, r *http.Request) error {
	if err := onlyGet(w, r); err != nil {
		return err
	}
	if len(r.URL.Query()) > 0 {
		return apiError(http.StatusBadRequest, "there are no parameters here; write the host behind it: /robots/sites/<host>")
	}
	host, one := strings.CutPrefix(r.URL.Path, "/robots/sites/")
	now := time.Now()
	records := []siteRecord{} // an empty list, not null, in JSON
	var full *siteInFull
	if app := a.app(); app != nil {
		for _, st := range app.hosts() {
			rec := newSiteRecord(st.policies, &st.State, now)
			records = append(records, rec)
			exact := strings.EqualFold(st.Host, host)
			if one && st.Policy != nil && (exact || full == nil && st.Host == "") {
				full = &siteInFull{rec, st.Policy.Rules.Text, diagnosticRecords(st.Policy.Rules.Diagnostics)}
			}
		}
	}
	switch {
	case !one:
		return writeJSON(w, records)
	case full != nil:
		return writeJSON(w, full)
	}
	return apiError(http.StatusNotFound, policies.ErrUnknownHost.Error())
}

// refresh loads robots.txt again, and answers what came of it.
func (a adminAPI) refresh(w http.ResponseWriter, r *http.Request) error {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", "POST")
		return apiError(http.StatusMethodNotAllowed, "POST loads robots.txt again")
	}
	query := r.URL.Query()
	host, one := query.Get("host"), query.Has("host")
	if len(query) > 1 || len(query) == 1 && !one || one && host == "" {
		return apiError(http.StatusBadRequest, "write POST /robots/refresh, or POST /robots/refresh?host=<host> for one host")
	}
	ctx, cancel := context.WithTimeout(r.Context(), refreshTime)
	defer cancel()
	records := []refreshRecord{} // an empty list, not null, in JSON
	if app := a.app(); app != nil {
		records = app.refresh(ctx, strings.ToLower(host))
	}
	if one && len(records) == 0 {
		return apiError(http.StatusNotFound, policies.ErrUnknownHost.Error())
	}
	return writeJSON(w, records)
}

// refresh loads the rules again of all hosts, or of one, all at a time.
func (a *App) refresh(ctx context.Context, host string) []refreshRecord {
	var (
		mu      sync.Mutex // guards records
		records = []refreshRecord{}
		wg      sync.WaitGroup
	)
	for _, before := range a.hosts() {
		if host != "" && before.Host != "" && before.Host != host {
			continue
		}
		wg.Go(func() {
			after, err := before.policies.Refresh(ctx, before.Host)
			rec := refreshRecord{Host: before.Host, Failure: after.Failure}
			if err != nil {
				rec.Failure = err.Error()
			}
			if after.Policy != nil {
				rec.Version = after.Policy.Rules.Version
				rec.Changed = before.Policy == nil || before.Policy.Rules != after.Policy.Rules
			}
			mu.Lock()
			defer mu.Unlock()
			records = append(records, rec)
		})
	}
	wg.Wait()
	slices.SortFunc(records, func(a, b refreshRecord) int { return cmp.Compare(a.Host, b.Host) })
	return records
}

func diagnosticRecords(all []robotsrules.Diagnostic) []diagnosticRecord {
	records := []diagnosticRecord{} // an empty list, not null, in JSON
	for _, d := range all {
		records = append(records, diagnosticRecord{d.Line, d.Severity.String(), d.Message, d.Instead})
	}
	return records
}
