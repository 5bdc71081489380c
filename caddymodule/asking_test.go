package caddymodule

import (
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"
)

// loadError returns what Caddy says of a Caddyfile when it loads it, "" for nothing.
func loadError(t *testing.T, caddyfile string) string {
	t.Helper()
	adapted, _, err := caddyconfig.GetAdapter("caddyfile").Adapt([]byte(caddyfile), map[string]any{"filename": "Caddyfile"})
	if err == nil {
		err = caddy.Validate(config(t, adapted))
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

// Each file holds a Caddyfile, a line of dashes, and a part of the error with which it is refused
// when it is loaded; nothing where it is not.
func TestWhatMatchersAskFor(t *testing.T) {
	eachCase(t, "testdata/asking", func(t *testing.T, caddyfile, want string) {
		want = strings.TrimSpace(want)
		if got := loadError(t, caddyfile); want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("got error\n%s\nwant\n%s", got, want)
		}
	})
}
