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
)

// refreshTime bounds how long the admin API waits for loads that it has begun.
const refreshTime = 30 * time.Second

// refreshRecord is what came of a load.
type refreshRecord struct {
	Host    string `json:"host"`
	Version string `json:"version"`
	Changed bool   `json:"changed"`
	Failure string `json:"failure,omitempty"`
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
	records := []policies.Record{} // an empty list, not null, in JSON
	var full *policies.FullRecord
	if app := a.app(); app != nil {
		for _, st := range app.hosts() {
			rec := st.policies.Record(&st.State, now)
			records = append(records, rec)
			exact := strings.EqualFold(st.Host, host)
			if one && st.Policy != nil && (exact || full == nil && st.Host == "") {
				full = rec.Full(st.Policy)
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
