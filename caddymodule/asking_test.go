package caddymodule

import (
	"os"
	"path/filepath"
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
	names, err := filepath.Glob("testdata/asking/*.caddyfiletest")
	if err != nil || len(names) < 30 {
		t.Fatalf("testdata/asking: got %d cases, error %v", len(names), err)
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".caddyfiletest"), func(t *testing.T) {
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			caddyfile, want, found := strings.Cut(string(data), separator)
			want = strings.TrimSpace(want)
			switch got := loadError(t, caddyfile); {
			case !found:
				t.Errorf("%s has no line of dashes", name)
			case want == "" && got != "" || !strings.Contains(got, want):
				t.Errorf("got error\n%s\nwant\n%s", got, want)
			}
		})
	}
}
