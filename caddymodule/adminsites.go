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

// refreshRecord is what came of the loads of a site.
type refreshRecord struct {
	Host    string `json:"host"`
	Found   string `json:"found"` // for a person
	Version string `json:"version"`
	Changed bool   `json:"changed"`
	Failure string `json:"failure,omitempty"`
}

// hostState is a host as the policies of one handler know it.
type hostState struct {
	policies *policies.Loader
	asked    string // what the policies know it by
	policies.State
}

// hosts returns what each handler knows of each of its hosts, by host, the newest handler first.
// Where all hosts have the same rules, these are the names of its sites.
func (a *App) hosts() (all []hostState) {
	for _, h := range a.all() {
		for _, st := range h.policies.States() {
			names := []string{st.Host}
			if found := h.found.Load(); found != nil && !h.policies.PerHost() && len(h.named()) > 0 {
				names = h.named()
			}
			for _, name := range names {
				named := hostState{h.policies, st.Host, st}
				named.Host = strings.ToLower(name)
				all = append(all, named)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b hostState) int { return cmp.Compare(a.Host, b.Host) })
	return all
}

// distinct leaves of the hosts that several handlers have with the same sources those of the newest.
func distinct(all []hostState) []hostState {
	seen := make(map[string]bool)
	return slices.DeleteFunc(all, func(st hostState) bool {
		key := st.policies.Key(st.asked)
		known := key != "" && seen[st.Host+"\x00"+key]
		seen[st.Host+"\x00"+key] = true
		return known
	})
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
		for _, st := range distinct(app.hosts()) {
			rec := st.policies.Record(&st.State, now)
			records = append(records, rec)
			if exact := strings.EqualFold(st.Host, host); !one || !exact && (full != nil || st.Host != "") {
				continue
			}
			if p := st.policies.Known(st.asked); p != nil {
				full = rec.Full(p)
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

// refresh loads the rules again of all hosts, or of one, for each handler, all at a time.
func (a *App) refresh(ctx context.Context, host string) []refreshRecord {
	type copyOf struct {
		policies *policies.Loader
		asked    string
	}
	var wg sync.WaitGroup
	after := make(map[copyOf]*refreshRecord)
	hosts := slices.DeleteFunc(a.hosts(), func(st hostState) bool { return host != "" && st.Host != "" && st.Host != host })
	for _, before := range hosts {
		each := copyOf{before.policies, before.asked}
		if after[each] == nil {
			rec := new(refreshRecord)
			after[each] = rec
			wg.Go(func() { *rec = refreshed(ctx, before) })
		}
	}
	wg.Wait()
	records := []refreshRecord{}
	for _, st := range hosts {
		rec := *after[copyOf{st.policies, st.asked}]
		rec.Host = st.Host
		if n := len(records); n > 0 && records[n-1].Host == rec.Host && records[n-1].Version == rec.Version && records[n-1].Failure == rec.Failure {
			records[n-1].Changed = records[n-1].Changed || rec.Changed
			continue // another handler of the site found the same
		}
		records = append(records, rec)
	}
	return records
}

// refreshed loads the rules of a host again and says what came of it.
func refreshed(ctx context.Context, before hostState) (rec refreshRecord) {
	after, err := before.policies.Refresh(ctx, before.asked)
	rec.Failure = after.Failure
	if err != nil {
		rec.Failure = err.Error()
	}
	if s := after.Summary; s != nil {
		rec.Version = s.Version
		rec.Changed = before.Summary == nil || before.Summary.Version != s.Version || before.Summary.Denied != s.Denied
		rec.Found = s.String()
	}
	if rec.Failure != "" {
		rec.Found = "nothing; " + before.policies.Record(&after, time.Now()).Holds + " holds"
	}
	return rec
}
