package caddymodule

import (
	"net/http"
	"time"
)

// statusRecord is how this Caddy is, as the admin API shows it.
type statusRecord struct {
	Observe    bool            `json:"observe"`    // switched on, whatever the config says
	Directives int             `json:"directives"` // robots directives of the config
	Observing  int             `json:"observing"`  // those of them that say observe
	Sites      map[string]int  `json:"sites"`      // how many are loaded, waiting or failing
	Bans       int             `json:"bans"`
	Trapped    int             `json:"trapped"`
	Held       int             `json:"held"`
	Shares     map[string]bool `json:"shares"` // whether each shared store answers, by where it is
	Stored     time.Time       `json:"report_stored,omitzero"`
}

// status answers how this Caddy is. It asks nobody else.
func (a adminAPI) status(w http.ResponseWriter, r *http.Request) error {
	if err := onlyGet(w, r); err != nil {
		return err
	}
	return writeJSON(w, a.app().status(time.Now()))
}

// status returns how the app is, which may be nil.
func (a *App) status(now time.Time) statusRecord {
	rec := statusRecord{Sites: make(map[string]int), Shares: make(map[string]bool)}
	if a == nil {
		return rec
	}
	state := a.metricsState()
	rec.Observe, rec.Bans, rec.Held, rec.Shares = state.Observing, state.Bans, state.Held, state.Shares
	rec.Trapped, rec.Stored = len(a.traps.List(now)), state.LedgerStored.UTC()
	for _, s := range a.all() {
		rec.Directives++
		if h, ok := s.handler.(*Handler); ok && h.Observe {
			rec.Observing++
		}
	}
	for _, st := range distinct(a.hosts()) {
		rec.Sites[st.Status()]++
	}
	return rec
}

// observe switches for all sites whether anybody is refused, until it is switched again or another
// config is loaded. It answers how this Caddy is then.
func (a adminAPI) observe(w http.ResponseWriter, r *http.Request) error {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", "POST")
		return apiError(http.StatusMethodNotAllowed, "POST switches; GET /robots/status says what is switched")
	}
	query := r.URL.Query()
	set := query["set"]
	if len(query) != 1 || len(set) != 1 || set[0] != "on" && set[0] != "off" {
		return apiError(http.StatusBadRequest, "write POST /robots/observe?set=on or POST /robots/observe?set=off")
	}
	app := a.app()
	if app == nil || len(app.all()) == 0 {
		return apiError(http.StatusConflict, "no site of the config that runs has the robots directive, so nobody is refused")
	}
	on := set[0] == "on"
	switch was := app.observing.Swap(on); {
	case on && !was:
		app.log.Warn("observe was switched on: nobody is refused until it is switched off or another config is loaded")
	case !on && was:
		app.log.Warn("observe was switched off: the sites refuse again as the config says")
	}
	return writeJSON(w, app.status(time.Now()))
}
