package caddymodule

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
)

// directives are those of this module that are read from a Caddyfile, with what says whether a
// config in JSON would be taken.
var directives = map[string]func() (directive caddyfile.Unmarshaler, check func() error){
	"robots": func() (caddyfile.Unmarshaler, func() error) {
		h := new(Handler)
		return h, func() error {
			s, err := h.readOptions()
			if err == nil {
				err = h.checkTogether(s)
			}
			return err
		}
	},
	"robots_report":    func() (caddyfile.Unmarshaler, func() error) { p := new(ReportPage); return p, p.check },
	"robots_global":    func() (caddyfile.Unmarshaler, func() error) { g := new(globalRobots); return g, g.Validate },
	"crawler":          func() (caddyfile.Unmarshaler, func() error) { m := new(MatchCrawler); return m, m.check },
	"robots_disallows": func() (caddyfile.Unmarshaler, func() error) { m := new(MatchDisallows); return m, m.check },
}

// globalRobots is the global option robots, read as a directive is.
type globalRobots struct{ App }

// UnmarshalCaddyfile implements caddyfile.Unmarshaler.
func (g *globalRobots) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	value, err := parseGlobalOption(d, nil)
	if err != nil {
		return err
	}
	return json.Unmarshal(value.(httpcaddyfile.App).Value, &g.App)
}

// FuzzCaddyfile reads anything as each of the directives of this module. It holds three properties:
//
//   - where: an error says in which file and line, and does not begin with "failed to";
//   - twice: what is taken gives the same config each time;
//   - JSON: that config, read from JSON, is taken too, and is the same.
func FuzzCaddyfile(f *testing.F) {
	names, err := filepath.Glob("testdata/caddyfile/*.caddyfiletest")
	if err != nil || len(names) < 50 {
		f.Fatalf("%d Caddyfiles, %v, want more", len(names), err)
	}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		text, _, _ := strings.Cut(string(data), separator)
		if _, options, found := strings.Cut(text, "robots {"); found {
			text = options
		}
		f.Add("{" + text)
	}
	f.Add("{\n\tshare redis://127.0.0.1 within 20ms\n\tresolver 9.9.9.9\n}")
	f.Add("googlebot * verified {\n}")
	f.Add(`""`)
	f.Add("costly\n")
	f.Add("{\n\trefresh off\n\tsites a b\n}")
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) || len(text) > 4<<10 {
			t.Skip()
		}
		for name, make := range directives {
			tokens, err := caddyfile.Tokenize([]byte(name+" "+text), "Caddyfile")
			if err != nil {
				return
			}
			directive, _ := make()
			if err := directive.UnmarshalCaddyfile(caddyfile.NewDispenser(tokens)); err != nil {
				message := err.Error()
				if !strings.Contains(message, "Caddyfile:") || strings.HasPrefix(message, "failed to") {
					t.Errorf("where: %s %s: got the error %q", name, text, message)
				}
				continue
			}
			again, _ := make()
			if err := again.UnmarshalCaddyfile(caddyfile.NewDispenser(tokens)); err != nil || marshal(t, again) != marshal(t, directive) {
				t.Errorf("twice: %s %s: got %s, %v, want %s", name, text, marshal(t, again), err, marshal(t, directive))
			}
			read, check := make()
			decoder := json.NewDecoder(bytes.NewReader([]byte(marshal(t, directive))))
			decoder.DisallowUnknownFields()
			if err := decoder.Decode(read); err != nil || marshal(t, read) != marshal(t, directive) {
				t.Errorf("JSON: %s %s: got %s, %v, want %s", name, text, marshal(t, read), err, marshal(t, directive))
			}
			if err := check(); err != nil {
				t.Errorf("JSON: %s is not taken, %v; of %s %s", marshal(t, directive), err, name, text)
			}
		}
	})
}

func marshal(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
