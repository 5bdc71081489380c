package caddymodule

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

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

// record returns what is known of a site. Before its first load ended that is next to nothing.
func (st *siteState) record(l *loader, now time.Time) siteRecord {
	rec := siteRecord{Host: st.host, Sources: []string{}, Failure: st.failure, Loaded: st.loaded.UTC(), Due: st.due.UTC()}
	for _, p := range l.parts {
		rec.Sources = append(rec.Sources, p.name)
	}
	if !st.loaded.IsZero() {
		rec.Age = now.Sub(st.loaded).Seconds()
	}
	e := st.edition
	if e == nil {
		return rec
	}
	f := e.figures()
	rec.Version, rec.Octets, rec.Records, rec.Rules = e.version, len(e.text), len(e.file.Groups), f.rules
	rec.Errors, rec.Warnings = f.diagnostics[robotsrules.Error], f.diagnostics[robotsrules.Warning]
	rec.Since, rec.Denied = e.since.UTC(), e.denied
	return rec
}

// siteStates calls do for each site, by host; of one that several handlers have with the same
// sources, for that of the newest.
func (sh *shared) siteStates(do func(*loader, siteState)) {
	type found struct {
		l  *loader
		st siteState
	}
	var all []found
	seen := make(map[string]bool)
	for _, h := range sh.handlers() {
		for _, st := range h.loader.states() {
			if key := h.loader.siteKey(st.host); key == "" || !seen[key] {
				seen[key] = true
				all = append(all, found{h.loader, st})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b found) int { return cmp.Compare(a.st.host, b.st.host) })
	for _, f := range all {
		do(f.l, f.st)
	}
}

// sites answers with all sites, or with the one that the path names.
func (adminAPI) sites(w http.ResponseWriter, r *http.Request) error {
	if err := onlyGet(w, r); err != nil {
		return err
	}
	if len(r.URL.Query()) > 0 {
		return apiError(http.StatusBadRequest, "there are no parameters here; write the host behind it: /robots/sites/<host>")
	}
	host, one := strings.CutPrefix(r.URL.Path, "/robots/sites/")
	sh, now := currentShared(), time.Now()
	records := []siteRecord{} // an empty list, not null, in JSON
	var full *siteInFull
	if sh != nil {
		sh.siteStates(func(l *loader, st siteState) {
			rec := st.record(l, now)
			records = append(records, rec)
			exact := strings.EqualFold(st.host, host)
			if one && st.edition != nil && (exact || full == nil && st.host == "") {
				full = &siteInFull{rec, st.edition.text, diagnosticRecords(st.edition.diagnostics)}
			}
		})
	}
	w.Header().Set("Content-Type", "application/json")
	switch {
	case !one:
		return json.NewEncoder(w).Encode(records)
	case full != nil:
		return json.NewEncoder(w).Encode(full)
	}
	w.Header().Del("Content-Type")
	return apiError(http.StatusNotFound, errUnknownSite.Error())
}

// refresh loads robots.txt again, and answers what came of it.
func (adminAPI) refresh(w http.ResponseWriter, r *http.Request) error {
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
	if sh := currentShared(); sh != nil {
		records = sh.refresh(ctx, strings.ToLower(host))
	}
	if one && len(records) == 0 {
		return apiError(http.StatusNotFound, errUnknownSite.Error())
	}
	w.Header().Set("Content-Type", "application/json")
	return json.NewEncoder(w).Encode(records)
}

// refresh loads the rules again of all sites, or of the one with this host, all at a time.
func (sh *shared) refresh(ctx context.Context, host string) []refreshRecord {
	var (
		mu      sync.Mutex // guards records
		records = []refreshRecord{}
		wg      sync.WaitGroup
	)
	sh.siteStates(func(l *loader, before siteState) {
		if host != "" && before.host != "" && before.host != host {
			return
		}
		wg.Go(func() {
			after, err := l.refreshNow(ctx, before.host)
			rec := refreshRecord{Host: before.host, Failure: after.failure}
			if err != nil {
				rec.Failure = err.Error()
			}
			if after.edition != nil {
				rec.Version = after.edition.version
				rec.Changed = before.edition.held() != after.edition.ruleset
			}
			mu.Lock()
			defer mu.Unlock()
			records = append(records, rec)
		})
	})
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
