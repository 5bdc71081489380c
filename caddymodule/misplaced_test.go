package caddymodule

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"
)

func adaptText(text string) error {
	_, _, err := caddyconfig.GetAdapter("caddyfile").Adapt([]byte(text), map[string]any{"filename": "Caddyfile"})
	return err
}

// Each directive that is taken for one is known to this Caddy.
func TestDirectivesAreThoseOfCaddy(t *testing.T) {
	for _, name := range caddyDirectives {
		if err := adaptText("example.com {\n\t" + name + "\n}\n"); err != nil && strings.Contains(err.Error(), "unrecognized directive") {
			t.Errorf("%s is no directive of this Caddy: %v", name, err)
		}
	}
	for _, name := range []string{"robots", "robots_report", "file_server", "header", "@name", "reverse_proxy", "php_fastcgi"} {
		if !isDirective(name) {
			t.Errorf("%s is not taken for a directive", name)
		}
	}
	for _, name := range append(slices.Clone(optionNames), "blocklist", "user_agent", "GPTBot") {
		if isDirective(name) {
			t.Errorf("%s is taken for a directive", name)
		}
	}
}

var (
	mistakeRow  = regexp.MustCompile(`^\| (\x60.*\x60) \| (.+) \| (\x60.*\x60) \|$`)
	mistakeLine = regexp.MustCompile("`([^`]*)`")
)

// siteOf returns the Caddyfile that a cell stands for: lines, each in backquotes, of the block of a
// site or, where the first is none that begins a block or directive, of the block of robots in it.
func siteOf(cell string) string {
	var lines []string
	for _, m := range mistakeLine.FindAllStringSubmatch(cell, -1) {
		lines = append(lines, strings.ReplaceAll(m[1], `\|`, "|"))
	}
	if lines[0] == "{" {
		return strings.Join(lines, "\n") + "\n"
	}
	if !strings.HasPrefix(lines[0], "robots") {
		lines = append(append([]string{"robots {"}, lines...), "}")
	}
	return "example.com {\n" + strings.Join(lines, "\n") + "\n}\n"
}

// docs/mistakes.md gives for each mistake the message of this Caddy, and what to write instead loads.
func TestTheTableOfMistakesIsTrue(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	text, err := os.ReadFile("../docs/mistakes.md")
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for line := range strings.Lines(string(text)) {
		m := mistakeRow.FindStringSubmatch(strings.TrimSpace(line))
		if m == nil {
			continue
		}
		count++
		err := adaptText(siteOf(m[1]))
		if err == nil {
			t.Errorf("%s is no mistake", m[1])
			continue
		}
		got := strings.TrimPrefix(err.Error(), "parsing caddyfile tokens for 'robots': ")
		got = regexp.MustCompile(`(?s)(, at Caddyfile:\d+$)|(^Caddyfile:\d+: )`).ReplaceAllString(got, "")
		got = strings.Join(strings.Fields(got), " ")
		want := strings.ReplaceAll(strings.ReplaceAll(m[2], `\|`, "|"), "`", "")
		if beginning, cut := strings.CutSuffix(want, " ..."); got != want && !(cut && strings.HasPrefix(got, beginning)) {
			t.Errorf("%s: got\n%s\nwant\n%s", m[1], got, want)
		}
		adapted, _, err := caddyconfig.GetAdapter("caddyfile").Adapt([]byte(siteOf(m[3])), nil)
		if err == nil {
			err = caddy.Validate(config(t, adapted))
		}
		if err != nil {
			t.Errorf("%s, to be written instead, does not load: %v", m[3], err)
		}
	}
	if count < 25 {
		t.Errorf("mistakes: got %d, want at least 25", count)
	}
}
