package caddymodule

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	_ "github.com/caddyserver/caddy/v2/modules/standard"
)

const separator = "----------\n"

// eachCase runs the cases of a folder: files that hold a Caddyfile, a line of dashes, and what is
// wanted.
func eachCase(t *testing.T, folder string, run func(t *testing.T, caddyfile, want string)) {
	t.Helper()
	names, err := filepath.Glob(folder + "/*.caddyfiletest")
	if err != nil || len(names) < 30 {
		t.Fatalf("%s: got %d cases, error %v, want at least 30", folder, len(names), err)
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".caddyfiletest"), func(t *testing.T) {
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			caddyfile, want, found := strings.Cut(string(data), separator)
			if !found {
				t.Fatalf("%s has no line of dashes", name)
			}
			run(t, caddyfile, want)
		})
	}
}

// Each file holds a Caddyfile, a line of dashes, and either the JSON it becomes or the
// error it is refused with.
func TestCaddyfiles(t *testing.T) {
	t.Setenv("ROBOTS_TEST_REDIS_URL", "redis://127.0.0.1:1")
	adapter := caddyconfig.GetAdapter("caddyfile")
	eachCase(t, "testdata/caddyfile", func(t *testing.T, input, want string) {
		adapted, _, err := adapter.Adapt([]byte(input), map[string]any{"filename": "Caddyfile"})
		if err != nil {
			if got, want := err.Error(), strings.TrimSpace(want); got != want {
				t.Errorf("error: got\n%s\nwant\n%s", got, want)
			}
			return
		}
		var pretty bytes.Buffer
		if err := json.Indent(&pretty, adapted, "", "\t"); err != nil {
			t.Fatal(err)
		}
		if got, want := pretty.String(), strings.TrimSpace(want); got != want {
			t.Errorf("JSON: got\n%s\nwant\n%s", got, want)
		}
		if err := caddy.Validate(config(t, adapted)); err != nil {
			t.Errorf("it does not load: %v", err)
		}
	})
}

func config(t *testing.T, adapted []byte) *caddy.Config {
	t.Helper()
	var cfg caddy.Config
	if err := json.Unmarshal(adapted, &cfg); err != nil {
		t.Fatal(err)
	}
	return &cfg
}

// The errors of a bad option are the same when it comes as JSON, where there is no line.
func TestBadOptionsInJSON(t *testing.T) {
	for options, want := range map[string]string{
		`{"serve":true}`:                             "serve needs a source",
		`{"dialect":"rfc9390"}`:                      `dialect: `,
		`{"unnamed":"all"}`:                          `unnamed: "all" is unknown; write robots, clients, everyone or nobody`,
		`{"too_fast":"hold"}`:                        `too_fast: "hold" is unknown; write refuse, observe or wait <duration>`,
		`{"too_fast":"wait"}`:                        `too_fast wait: write how long at the most`,
		`{"max_wait":"10s"}`:                         `max_wait is for too_fast wait`,
		`{"too_fast":"wait","max_wait":"-1s"}`:       `too_fast wait: -1s: write a duration up to 5m`,
		`{"disallowed":"pace"}`:                      `disallowed pace: write the rate too`,
		`{"disallowed_pace":"1/1m"}`:                 `disallowed_pace is for disallowed pace`,
		`{"default_pace":"1/0"}`:                     `default_pace: "1/0" is not a rate; write documents/time`,
		`{"ban":{"offences":5}}`:                     `ban: 0s: write a duration from 1s to 366d`,
		`{"exempt":["10.0.0.0/33"]}`:                 `exempt: "10.0.0.0/33" is not an address or CIDR range`,
		`{"refresh":"10ms"}`:                         `refresh 10ms: write a duration from 1s to 24h`,
		`{"max_size":-1}`:                            `max_size -1: write a size from 1B to 16MiB`,
		`{"announce":["robots"]}`:                    `announce: "robots" is unknown; write timegate, content_usage, noindex, sitemap or license`,
		`{"announce":["sitemap","sitemap"]}`:         `announce: "sitemap" is there twice`,
		`{"sources":[{}]}`:                           `source 1: write exactly one of file, url and text`,
		`{"sources":[{"url":"/robots.txt"}]}`:        `source 1: url "/robots.txt": write an absolute URL`,
		`{"sources":[{"file":"{http.vars.x}.txt"}]}`: `source 1: "{http.vars.x}.txt"`,
	} {
		var h Handler
		if err := json.Unmarshal([]byte(options), &h); err != nil {
			t.Fatal(err)
		}
		ctx := contextWithStorage(t)
		err := h.Provision(ctx)
		if err == nil {
			err = h.Validate()
		}
		if cleanup := h.Cleanup(); cleanup != nil {
			t.Errorf("%s: Cleanup: %v", options, cleanup)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got error %v, want one with %q", options, err, want)
		}
	}
}

func TestBadGlobalOptionsInJSON(t *testing.T) {
	for options, want := range map[string]string{
		`{"share":{"url":"http://127.0.0.1"}}`:                  `share: `,
		`{"share":{"url":"redis://127.0.0.1","timeout":"11s"}}`: `share: within 11s: write a duration from 1ms to 10s`,
		`{"share":{"url":"{env.ROBOTS_TEST_NONE}"}}`:            `share: the URL cannot be read: `,
		`{"resolver":"https://dns.example/query"}`:              `resolver: "https://dns.example/query" is not a server`,
	} {
		var a App
		if err := json.Unmarshal([]byte(options), &a); err != nil {
			t.Fatal(err)
		}
		err := a.Provision(contextWithStorage(t))
		if cleanup := a.Cleanup(); cleanup != nil {
			t.Errorf("%s: Cleanup: %v", options, cleanup)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got error %v, want one with %q", options, err, want)
		}
	}
}

// The syntax in UnmarshalCaddyfile's doc comment, in docs/caddyfile.md and in the parser
// name the same options.
func TestTheReferenceNamesEveryOption(t *testing.T) {
	var h Handler
	err := h.UnmarshalCaddyfile(caddyfile.NewTestDispenser("robots {\n\tnonsense\n}"))
	if err == nil {
		t.Fatal("an unknown option is accepted")
	}
	_, list, found := strings.Cut(err.Error(), "the options are ")
	if !found {
		t.Fatalf("the error does not name the options: %v", err)
	}
	list, _, _ = strings.Cut(list, ", at ")
	options := strings.Split(list, ", ")
	if len(options) < 22 {
		t.Errorf("options: got %d, want 22 or more: %q", len(options), options)
	}
	source, err := os.ReadFile("caddyfile.go")
	if err != nil {
		t.Fatal(err)
	}
	reference, err := os.ReadFile("../docs/caddyfile.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, option := range options {
		if !bytes.Contains(source, []byte("//\t\t"+option)) {
			t.Errorf("the doc comment of UnmarshalCaddyfile lacks %q", option)
		}
		if !bytes.Contains(reference, []byte("\n\t"+option)) || !bytes.Contains(reference, []byte("### `"+option)) {
			t.Errorf("docs/caddyfile.md lacks %q in its syntax or as a heading", option)
		}
	}
}
