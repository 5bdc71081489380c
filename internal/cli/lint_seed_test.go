package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// seeds are mistakes of real files, as one line each, and the finding that each is.
var seeds = []struct{ line, code string }{
	{"Disallow: /a /b", "several-paths"}, {"Allow: /a, /b", "several-paths"}, {`Disallow: "/z"`, "quoted-path"}, {"Allow: '/z'", "quoted-path"},
	{`Disallow: \private\`, "backslash"}, {`Disallow: /private\`, "backslash"}, {"Disallow: ^/x", "expression"}, {`Disallow: /x\.php$`, "expression"},
	{"Disallow: /p/[0-9]+", "expression"}, {"Disallow: /(a|b)/c", "expression"}, {"Disallow：/x", "wrong-colon"}, {"Disallow； /x", "wrong-colon"},
	{"Disallow = /x", "wrong-colon"}, {"/bare/", "bare-path"}, {"*.pdf", "bare-path"}, {"https://example.com/sitemap.xml", "bare-address"},
	{`Disallow: /x\nDisallow: /y`, "two-fields"}, {"Disallow: /x Disallow: /y", "two-fields"}, {"Sitemap: https://example.com/a Sitemap: https://example.com/b", "two-fields"},
	{"Desallow: /x", "misspelt"}, {"Allows: /x", "misspelt"}, {"Dis-allow: /x", "misspelt"}, {"Sitemaps: https://example.com/s.xml", "misspelt"},
	{"useg-agent: GPTBot", "misspelt-user-agent"}, {"Dissallow: /x", "misspelt-but-read"}, {"Disallow /x", "no-colon"},
	{"Sitemap: /sitemap.xml", "relative-link"}, {"License: /license.xml", "relative-link"}, {"Sitemap: sitemap.xml", "no-link"},
	{"Disallow: /robots.txt", "disallowed-robots-txt"}, {"Disallow: x/", "no-slash"}, {"Disallow: .pdf", "no-slash"}, {"Disallow: none", "no-path"},
	{"Disallow: https://example.com", "address-of-site"}, {"Disallow: https://example.com/x", "address-as-path"}, {"Disallow: /größe", "raw-letters"},
	{"Disallow: /gr\xf6\xdfe", "not-utf-8"}, {"Content-Usage: ai-train=n", "other-word"}, {"Content-Usage: train-ai=no", "other-word"},
	{"Content-Signal: train-ai=no", "other-word"}, {"Content-Signal: use=never", "no-word"}, {"Crawl-delay: ten", "bad-delay"},
	{"User-agent: GPTBot, CCBot", "list-of-robots"}, {"User-agent: GPTBot; CCBot", "no-name"}, {"User-agent: GPTBot;", "no-name"},
	{`User-agent: "GPTBot"`, "no-name"}, {`User-agent: "*"`, "no-name"}, {"User-agent: (*)", "no-name"}, {"User-agent: GPTBot|CCBot", "no-name"}, {"User-agent: GPTBot 1.2", "version-in-name"},
	{"User-agent: *bot", "inner-star"}, {"User-agent: Google*bot", "inner-star"}, {"User-agent: www.example.com", "address-as-name"},
	{"User-agent: bot@example.com", "address-as-name"}, {"User-agent: GPTBot CCBot", "robots-without-line"}, {"User-agent: GPTBot User-agent: CCBot", "two-fields"},
	{"User-agent: Mozilla", "common-word"}, {"User-agent: Mozilla/5.0", "browser"}, {"User-agent: HeadlessChrome", "dressed-as-browser"},
	{"User-agent: PTST", "dressed-as-browser"}, {"User-agent: Google-Extended", "control-token"}, {"User-agent: GTPBot", "unknown-robot"},
	{"\u2060User-agent: GPTBot", "misspelt-user-agent"}, {"User\u2011agent: GPTBot", "misspelt-user-agent"}, {"- Disallow: /x", "misspelt"},
	{"\u2022 Allow: /x", "misspelt"}, {"- /bare/", "bare-path"}, {"Disallow\u2236 /x", "wrong-colon"}, {"User-agent:\u00a0*", "invisible"},
	{"Disallow: /x\u200b", "invisible"}, {"Allow: /x\v", "invisible"}, {"Disallow: /x<br/>", "markup"}, {"<br />", "markup"},
	{"<pre>User-agent: GPTBot", "markup"}, {"User-agent: GPTBot<br>Disallow: /x", "two-fields"}, {"User-agent: *\u2028Disallow: /x", "two-fields"},
	{"Disallow: {{ path }}", "placeholder"}, {"Sitemap: ${SITE}/sitemap.xml", "placeholder"}, {"Allow: /%PUBLIC_URL%/x", "placeholder"},
	{"User-agent: <%= robot %>", "placeholder"}, {"Disallow: /x // why", "other-comment"}, {"Allow: /x ; why", "other-comment"},
	{"Disallow: /x <!-- why -->", "markup"}, {"Disallow: /*.{jpg,png}", "expression"},
	{"User-agent: all", "all-robots"}, {"User-agent: Any robots", "all-robots"}, {"User-agent: .*", "all-robots"}, {"User-agent: !Googlebot", "exception"},
	{"User-agent: all except Googlebot", "exception"}, {"User-agent: GPTBot and CCBot", "robots-without-line"}, {"Agent: GPTBot", "misspelt-user-agent"},
	{"Deny: /x", "misspelt"}, {"<<<<<<< HEAD", "conflict"}, {"Disallow: /#/login", "hash"}, {"Allow: /x#y", "hash"}, {"Disallow: / x", "blank-in-path"},
	{"Disallow: /x/ *", "blank-in-path"}, {`Disallow: C:\wwwroot\docs\x`, "disk-path"}, {"Disallow: /var/www/html/x", "disk-path"}, {`Disallow: \docs\`, "backslash"},
	{"Disallow: example.com/x", "address-as-path"}, {"Sitemap: https://example.com/a.xml,https://example.com/b.xml", "several-links"},
}

// around are lines between which a mistake can stand, after each of them and at both ends.
var around = []string{
	"User-agent: SomeBot", "User-agent: OtherBot", "Disallow: /one/", "Allow: /one/two", "", "# a comment", "User-agent: *",
	"Disallow: /three/", "Crawl-delay: 1", "Sitemap: https://example.com/one.xml", "User-agent: ThirdBot", "Disallow: /four/",
}

// Each mistake is found in each place where its line can stand, with a line end of any kind, with
// and without a comment, blanks and a line below it. What can stand in a record only is not sought
// above the first.
func TestSeededMistakesAreFound(t *testing.T) {
	for _, seed := range seeds {
		name, _, _ := strings.Cut(seed.line, ":")
		for at := range len(around) + 1 {
			isRule := slices.Contains([]string{"Disallow", "Allow", "Content-Usage", "Content-Signal", "Crawl-delay"}, name)
			if at == 0 && isRule {
				continue // the line binds nobody there, which is what is told
			}
			for i, form := range []string{"%s", "  %s\t", "%s # why"} {
				lines := slices.Insert(slices.Clone(around), at, fmt.Sprintf(form, seed.line))
				end := []string{"\n", "\r\n", "\r"}[i]
				all := found(t, strings.Join(lines, end))
				if !slices.ContainsFunc(all, func(a advice) bool { return a.Code == seed.code && a.Line == at+1 }) {
					t.Errorf("%q in line %d: no %s in %+v", lines[at], at+1, seed.code, all)
				}
			}
		}
	}
}

func TestAFileOfNothingButMistakesHasABoundedAnswer(t *testing.T) {
	for _, seed := range seeds {
		var text strings.Builder
		text.WriteString("User-agent: *\n")
		for i := 0; text.Len() < 500<<10; i++ {
			fmt.Fprintf(&text, "%s%d\n", seed.line, i)
		}
		got := runCommand(strings.NewReader(text.String()), "lint", "-")
		if lines := strings.Count(got.out, "\n"); lines > 60 || len(got.out) > 20<<10 || got.status > 1 {
			t.Errorf("%s: got status %d, %d lines, %d bytes", seed.line, got.status, lines, len(got.out))
		}
	}
}

var yamlCommand = regexp.MustCompile(`(?m)^ +(?:run|entry): (caddy robots .*)$`)

// The commands of the action and of the hook in docs/commands.md can be run. A hook is given the
// files that changed.
func TestCommandsForContinuousIntegration(t *testing.T) {
	text, err := os.ReadFile("../../docs/commands.md")
	if err != nil {
		t.Fatal(err)
	}
	commands := yamlCommand.FindAllStringSubmatch(string(text), -1)
	if len(commands) != 2 {
		t.Fatalf("got %d commands, want 2", len(commands))
	}
	folder := t.TempDir()
	good, bad := filepath.Join(folder, "good", "robots.txt"), filepath.Join(folder, "bad", "robots.txt")
	for name, text := range map[string]string{good: "User-agent: *\nDisallow: /a\n", bad: "User-agent: *\nDesallow: /a\n"} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Dir(name), "robots.txt", text)
	}
	for _, command := range commands {
		args := strings.Fields(command[1])[2:]
		args = slices.DeleteFunc(args, func(arg string) bool { return arg == "robots.txt" })
		for _, test := range []struct {
			files  []string
			status int
		}{{[]string{good}, 0}, {[]string{bad}, 1}, {[]string{good, bad}, 1}} {
			if got := runCommand(nil, append(slices.Clone(args), test.files...)...); got.status != test.status {
				t.Errorf("%s %v: got %s", command[1], test.files, got)
			}
		}
	}
}
