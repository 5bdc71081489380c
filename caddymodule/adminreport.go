package caddymodule

import (
	"encoding/json"
	"net/http"
	"time"

	"github.com/caddy-robots/caddy-robots/internal/compliance"
)

// currentReporter answers for this process; with nothing to tell, where no handler runs.
func currentReporter() *reporter {
	sh := currentShared()
	if sh == nil {
		sh = &shared{ledger: newLedger()}
	}
	return &reporter{shared: sh, now: time.Now}
}

// report answers with the report: as JSON, as CSV, or as a page to be kept as a file, since
// Caddy's admin endpoint lets no browser open it.
func (a adminAPI) report(byDefault string) func(http.ResponseWriter, *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		if err := onlyGet(w, r); err != nil {
			return err
		}
		q, err := readQuery(r.URL.Query(), byDefault)
		if err != nil {
			return apiError(http.StatusBadRequest, err.Error())
		}
		return currentReporter().serve(w, r, &q, "")
	}
}

// evidenceRecord is a disobedient request with who made it.
type evidenceRecord struct {
	Site     string `json:"site"`
	Robot    string `json:"robot"`
	Class    string `json:"class"`
	Standing string `json:"standing,omitempty"`
	compliance.Evidence
}

// evidence answers with the disobedient requests that are kept: as JSON or as CSV.
func (a adminAPI) evidence(w http.ResponseWriter, r *http.Request) error {
	if err := onlyGet(w, r); err != nil {
		return err
	}
	q, err := readQuery(r.URL.Query(), "json")
	if err == nil && q.format != "json" && q.format != "csv" {
		err = unknown(q.format, "format json or csv")
	}
	if err != nil {
		return apiError(http.StatusBadRequest, err.Error())
	}
	p := currentReporter()
	if q.format == "csv" {
		q.format = "evidence.csv"
		return p.serve(w, r, &q, "")
	}
	report, _ := p.report(r.Context(), &q)
	records := []evidenceRecord{} // an empty list, not null, in JSON
	for _, site := range report.Sites {
		for _, robot := range site.Robots {
			for _, evidence := range robot.Evidence {
				records = append(records, evidenceRecord{site.Site, robot.Robot, robot.Class, robot.Standing, evidence})
			}
		}
	}
	w.Header().Set("Content-Type", "application/json")
	return json.NewEncoder(w).Encode(records)
}

// onlyGet returns an error for any other method.
func onlyGet(w http.ResponseWriter, r *http.Request) error {
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return nil
	}
	w.Header().Set("Allow", "GET, HEAD")
	return apiError(http.StatusMethodNotAllowed, "GET shows it")
}
