package integration

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// adapt has Caddy turn a Caddyfile into JSON, and returns the file and what Caddy says.
func adapt(t *testing.T, caddyfile string) (file, output string, err error) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "Caddyfile")
	write(t, file, caddyfile)
	out, err := exec.Command(caddyBinary(t), "adapt", "--config", file, "--adapter", "caddyfile").CombinedOutput()
	return file, string(out), err
}

// share and resolver stood in the sites once.
func TestAGlobalOptionInASiteIsAnErrorThatSaysWhereItGoes(t *testing.T) {
	t.Parallel()
	for option, example := range map[string]string{
		"share redis://127.0.0.1:6379 within 1s": "share redis://127.0.0.1:6379",
		"resolver 127.0.0.1:5353":                "resolver 9.9.9.9",
	} {
		file, told, err := adapt(t, "http://example.com {\n\trobots {\n\t\tobserve\n\t\t"+option+"\n\t}\n}\n")
		if err == nil {
			t.Errorf("%s in a site is taken: %s", option, told)
		}
		for _, want := range []string{
			"is set once for all sites", "global options at the top of the Caddyfile", `\n{\n\trobots {\n\t\t` + example + `\n\t}\n}\n`, file + ":4",
		} {
			if !strings.Contains(told, want) {
				t.Errorf("%s in a site: got %s\nwant %q in it", option, told, want)
			}
		}
	}
}

func TestGlobalOptionsAreTheAppOfTheJSONConfig(t *testing.T) {
	t.Parallel()
	_, out, err := adapt(t, `{
	robots {
		share    redis://127.0.0.1:6379 within 20ms
		resolver 127.0.0.1:5353
	}
}
http://example.com {
	robots
}
`)
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var config struct{ Apps map[string]json.RawMessage }
	_, object, _ := strings.Cut(out, `{"apps"`) // a warning may stand before and behind it
	if err := json.NewDecoder(strings.NewReader(`{"apps"` + object)).Decode(&config); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	const want = `{"resolver":"127.0.0.1:5353","share":{"timeout":20000000,"url":"redis://127.0.0.1:6379"}}`
	var got any
	if err := json.Unmarshal(config.Apps["robots"], &got); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if text, _ := json.Marshal(got); string(text) != want {
		t.Errorf("app robots: got %s, want %s", text, want)
	}
}

// What robots says comes from one logger, whichever part of it says it.
func TestARedisThatIsNotThereIsLoggedLikeAllElse(t *testing.T) {
	t.Parallel()
	const password = "hush-hush"
	c := startWith(t, fleetConfig("share {env.REDIS_URL}"), map[string]string{"REDIS_URL": "redis://:" + password + "@127.0.0.1:" + freePort(t)})
	c.expectAlone(t, hourBotNumber(1))
	told := c.log.wait(t, "Redis is gone", c.ended, message(msgAlone))
	if got, want := told.text("logger"), "http.handlers.robots"; got != want {
		t.Errorf("log line %q: got logger %q, want %q", msgAlone, got, want)
	}
	c.expectNowhere(t, password)
}
