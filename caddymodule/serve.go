package caddymodule

import (
	"net/http"
	"strconv"
	"strings"
)

// serveRules answers with the text that is enforced, also when it is empty. It returns false
// while there is none that could be told: robots are allowed everything then, unless the
// owner would have them stay out, which a robots.txt that answers 503 says too (RFC 9309,
// 2.3.1.4).
func (h *Handler) serveRules(w http.ResponseWriter, r *http.Request, host string) bool {
	e := h.loader.inForce(r, host)
	header := w.Header()
	refresh := strconv.Itoa(int(h.settings.refresh.Seconds()))
	if !e.loaded {
		if e.denied == "" {
			return false
		}
		header.Set("Retry-After", refresh)
		header.Set("Cache-Control", "no-store")
		http.Error(w, e.denied, http.StatusServiceUnavailable)
		return true
	}
	header.Set("Content-Type", "text/plain; charset=utf-8")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Cache-Control", "max-age="+refresh)
	header.Set("ETag", `"`+e.version+`"`)
	http.ServeContent(w, r, "", e.modified, strings.NewReader(e.text))
	return true
}
