package robotsrules_test

import (
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/robotsrules"
)

// What is wrong with a value is told once, with the line to write.
func TestValuesThatAreNotWhatTheyLookLike(t *testing.T) {
	for line, want := range map[string]string{
		"Disallow: /a\u00a0b":              `write "Disallow: /a b"`,
		"Disallow: \u200b/a":               `write "Disallow: /a"`,
		"Disallow: /\u00a0":                `write "Disallow: /" if the whole site is meant`,
		"Disallow: <b>/</b>":               `write "Disallow: /" if the whole site is meant`,
		"Disallow: <b>/a</b>":              `write "Disallow: /a"`,
		"Disallow: /a<b":                   "", // no tag
		"Disallow: /a?x=<y":                "",
		"Disallow: /می\u200cخواهم/":        `write "Disallow: /%D9`, // joins letters
		"Disallow: /a%20b%20c":             "",
		"Disallow: /100%AB%CD%":            "",
		"Disallow: /Stra%DFE%20":           "",
		"Disallow: /%BASE_URL%/a":          "have the program",
		"Disallow: /%SITE_ROOT%/a":         "have the program",
		"Disallow: /{{ a }}":               "have the program",
		"Disallow: /{$root}/a":             "have the program",
		"Disallow: /<?= $a ?>":             "have the program",
		"Disallow: /a ; b":                 `write "Disallow: /a # b"`,
		"Disallow: /a; b":                  "",
		"Disallow: /a -- b -- c":           `write "Disallow: /a # b -- c"`,
		"Disallow: /my documents/":         "",
		"Disallow: /a // /b":               `write "Disallow: /a"`,
		"Disallow: /a //b":                 `write "Disallow: /a" and "Disallow: //b"`,
		"User-agent: <b>GPTBot</b>":        `write "User-agent: GPTBot"`,
		"User-agent: <GPTBot>":             `write "User-agent: GPTBot"`,
		"Sitemap: https://a.example/%NAME": "",
		"Sitemap: {{url}}":                 "have the program",
		"Comment: <b> {{x}} \u00a0":        "",
	} {
		file := robotsrules.Parse([]byte("User-agent: *\nDisallow: /z\n"+line+"\nDisallow: /y\n"), robotsrules.Options{})
		var told []string
		for _, d := range file.Diagnostics {
			told = append(told, d.Instead)
		}
		if got := strings.Join(told, "; "); want == "" && got != "" && !strings.Contains(line, "Sitemap") || !strings.HasPrefix(got, want) || len(told) > 1 {
			t.Errorf("%q: got %q, want %q", line, got, want)
		}
	}
}

// A text of which no line is one of a robots.txt has one finding, an error; one line that is, or was
// meant to be, is enough for the others.
func TestATextThatIsNoRobotsTxt(t *testing.T) {
	for text, want := range map[string]bool{
		`{"error": "not found"}`:    true,
		"google.com, pub-1, DIRECT": true,
		"\x1f\x8b\x08\x00:\n\x00":   true,
		"Contact: a@b.example\n":    true,
		"Not found":                 true,
		"<div>Not found</div>":      true,
		"":                          false,
		"# nothing\n\n":             false,
		"x: y\nDisallow: /\n":       false,
		"x: y\nDesallow: /\n":       false,
		"x: y\n/private/\n":         false,
		"Sitemap: /s.xml\nx\n":      false,
		"<p>User-agent: *</p>\n":    false,
	} {
		got := robotsrules.Parse([]byte(text), robotsrules.Options{}).Diagnostics
		if isError := len(got) == 1 && got[0].Code == "no-robots-txt" && got[0].Severity == robotsrules.Error; isError != want {
			t.Errorf("%q: got %v, want an error: %t", text, got, want)
		}
	}
}
