package policies

import (
	"fmt"
	"time"

	"github.com/caddy-robots/caddy-robots/robotsrules"
)

// Record is a site as the admin API shows it, in JSON.
type Record struct {
	Host     string   `json:"host"` // empty where one robots.txt holds for all hosts
	Sources  []string `json:"sources"`
	Version  string   `json:"version"`
	Bytes    int      `json:"bytes"`
	Records  int      `json:"records"`
	Rules    int      `json:"rules"`
	Errors   int      `json:"errors"`   // lines that do not do what they seem to
	Warnings int      `json:"warnings"` // lines that may not

	Since   time.Time `json:"since,omitzero"`        // when this text came into force
	Status  string    `json:"status"`                // StatusWaiting, StatusLoaded or StatusFailing
	Holds   string    `json:"holds"`                 // whose rules are in force
	Loaded  time.Time `json:"loaded,omitzero"`       // when the sources were last read well
	Age     float64   `json:"age_seconds,omitempty"` // how long ago that was
	Due     time.Time `json:"due,omitzero"`          // when they are read again
	Failure string    `json:"failure,omitempty"`     // why the last load did not go well
	Denied  string    `json:"denied,omitempty"`      // why everything is disallowed
}

// FullRecord is a site with the text that is in force.
type FullRecord struct {
	Record
	Text        string             `json:"text"`
	Diagnostics []DiagnosticRecord `json:"diagnostics"`
}

// DiagnosticRecord is one thing that is wrong in the text.
type DiagnosticRecord struct {
	Line     int    `json:"line"`
	Severity string `json:"severity"`
	What     string `json:"what"`
	Instead  string `json:"instead,omitempty"`
}

// Record returns what is known of a site of the loader. Before its first load ended that is next
// to nothing.
func (l *Loader) Record(st *State, now time.Time) Record {
	rec := Record{Host: st.Host, Sources: l.SourceNames(), Failure: st.Failure, Loaded: st.Loaded.UTC(), Due: st.Due.UTC()}
	if !st.Loaded.IsZero() {
		rec.Age = now.Sub(st.Loaded).Seconds()
	}
	rec.Status, rec.Holds = st.Status(), l.holding(st)
	if s := st.Summary; s != nil {
		rec.Version, rec.Bytes, rec.Records, rec.Rules = s.Version, s.Bytes, s.Records, s.Rules
		rec.Errors, rec.Warnings = s.Diagnostics[robotsrules.Error], s.Diagnostics[robotsrules.Warning]
		rec.Since, rec.Denied = s.Since.UTC(), s.Denied
	}
	return rec
}

// The statuses of a site.
const (
	StatusWaiting = "waiting" // its first load is still to end
	StatusLoaded  = "loaded"  // the last load went well
	StatusFailing = "failing" // it did not
)

// Status returns how the last load of the site ended.
func (st *State) Status() string {
	switch {
	case st.Failure != "":
		return StatusFailing
	case st.Loaded.IsZero():
		return StatusWaiting
	default:
		return StatusLoaded
	}
}

// holding says for a person whose rules are in force.
func (l *Loader) holding(st *State) string {
	switch {
	case st.Refused != 0 && st.Failure == "":
		return fmt.Sprintf("what a visitor is answered; our own fetch is refused with %d", st.Refused)
	case st.Summary != nil && st.Summary.Loaded && st.Failure == "":
		return "what was loaded last"
	case st.Summary != nil && st.Summary.Loaded && !st.Loaded.IsZero():
		return "what was loaded before"
	case st.Summary != nil && st.Summary.Loaded && st.Summary.Bytes > 0:
		return "what the sources gave that could be loaded"
	case l.cfg.DenyUnknown:
		return "no rules: all robots are kept out (unreachable deny)"
	default:
		return "no rules: all robots are let through"
	}
}

// Full returns the record with the text of a policy.
func (r Record) Full(p *Policy) *FullRecord {
	full := &FullRecord{Record: r, Text: p.Rules.Text, Diagnostics: []DiagnosticRecord{}} // an empty list, not null, in JSON
	for _, d := range p.Rules.Diagnostics {
		full.Diagnostics = append(full.Diagnostics, DiagnosticRecord{d.Line, d.Severity.String(), d.Message, d.Instead})
	}
	return full
}
