package integration

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// recipeBlocks returns the blocks of one kind under a heading of docs/recipes.md.
func recipeBlocks(t *testing.T, heading, kind string) []string {
	t.Helper()
	_, section, found := strings.Cut(read(t, "docs/recipes.md"), "\n### "+heading+"\n")
	section, _, _ = strings.Cut(section, "\n### ")
	var blocks []string
	for _, m := range regexp.MustCompile("(?ms)^```"+kind+"\n(.*?)^```$").FindAllStringSubmatch(section, -1) {
		blocks = append(blocks, m[1])
	}
	if !found || len(blocks) == 0 {
		t.Fatalf("docs/recipes.md has no %s under %q", kind, heading)
	}
	return blocks
}

// runRecipe runs the Caddyfile of a recipe as it stands, but for its addresses and folders: the
// site is in folder, and so are logs.
func runRecipe(t *testing.T, heading, folder string) *caddy {
	t.Helper()
	text := recipeBlocks(t, heading, "caddyfile")[0]
	global := strings.TrimSuffix(strings.TrimPrefix(proxied, "{\n"), "}\n")
	if strings.HasPrefix(text, "{\n") {
		text = withGlobal(text, global)
	} else {
		text = proxied + text
	}
	text = strings.NewReplacer("\nexample.com {", "\nhttp://example.com:{$PORT} {", "/srv/example", folder, "/var/log/caddy", folder).Replace(text)
	return startWith(t, text, nil)
}

// recipeSite is the folder of a site with this robots.txt.
func recipeSite(t *testing.T, rules string) string {
	t.Helper()
	folder := t.TempDir()
	write(t, filepath.Join(folder, "robots.txt"), rules)
	write(t, filepath.Join(folder, "page.html"), "page")
	write(t, filepath.Join(folder, "license.xml"), "<rsl/>")
	return folder
}

func TestRecipeForWhoMayLicense(t *testing.T) {
	t.Parallel()
	c := runRecipe(t, "401 or 402 for who may license", recipeSite(t, "User-agent: GPTBot\nUser-agent: SemrushBot\nAllow: /license.xml\nDisallow: /\n"))
	a := c.expect(t, "example.com", "/page.html", gptbot, 401)
	for name, want := range map[string]string{
		"WWW-Authenticate": `License error="invalid_request", error_description="These pages need a licence"`,
		"Link":             `</robots.txt>; rel="describedby", </license.xml>; rel="license"; type="application/rsl+xml"`,
		"Cache-Control":    "no-store",
	} {
		if got := strings.Join(a.header.Values(name), ", "); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	if want := "These pages are not free for AI: Disallow: /. The terms are at /license.xml"; a.body != want {
		t.Errorf("got %q, want %q", a.body, want)
	}
	c.expect(t, "example.com", "/license.xml", gptbot, 200)
	c.expect(t, "example.com", "/page.html", chrome, 200)
	if other := c.expect(t, "example.com", "/page.html", "SemrushBot/7", 403); !strings.Contains(other.body, "Disallow: /") || other.header.Get("WWW-Authenticate") != "" {
		t.Errorf("another robot: got %q, want the answer that explains itself", other.body)
	}
}

func TestRecipeForWhoFellIntoATrap(t *testing.T) {
	t.Parallel()
	c := runRecipe(t, "Another answer for who fell into a trap", recipeSite(t, "User-agent: *\nDisallow: /private/\n"))
	const disguised = "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0"
	if a := c.expectFrom(t, personal, "example.com", "/page.html", disguised, 200, "page"); a.header.Get("X-Robots-Tag") != "" {
		t.Error("before it fell into the trap: got X-Robots-Tag")
	}
	for _, path := range []string{"/private/trap", "/private/other"} {
		a := c.expectFrom(t, personal, "example.com", path, disguised, 403, "")
		if !strings.Contains(a.body, "If you are a person") || a.header.Get("Retry-After") != "86400" {
			t.Errorf("%s: got %q, Retry-After %q", path, a.body, a.header.Get("Retry-After"))
		}
	}
	if a := c.expectFrom(t, personal, "example.com", "/page.html", disguised, 200, "page"); a.header.Get("X-Robots-Tag") != "noindex, nofollow" {
		t.Errorf("what it may still fetch: got X-Robots-Tag %q", a.header.Get("X-Robots-Tag"))
	}
	c.expectFrom(t, realAddress, "example.com", "/private/other", disguised, 404, "") // somebody else
	if a := c.expectFrom(t, personal, "example.com", "/private/other", gptbot, 403, ""); !strings.Contains(a.body, "Disallow: /private/") {
		t.Errorf("a robot that says so: got %q, want the answer that explains itself", a.body)
	}
}

func TestRecipeForXRobotsTag(t *testing.T) {
	t.Parallel()
	c := runRecipe(t, "X-Robots-Tag for robots", recipeSite(t, "User-agent: *\nAllow: /\n"))
	for agent, want := range map[string]string{gptbot: "noarchive", bingbot: "noarchive", chrome: "", curl: ""} {
		a := c.expect(t, "example.com", "/page.html", agent, 200)
		if got := a.header.Get("X-Robots-Tag"); got != want || (want != "") != slices.Contains(a.header.Values("Vary"), "User-Agent") {
			t.Errorf("%s: got X-Robots-Tag %q and Vary %q, want %q", agent, got, a.header.Values("Vary"), want)
		}
	}
}

// refusedLog is the log of a Caddy with the recipe for one, to which robots came, some of which try
// to have another's address taken for theirs. wanted are the addresses to be found in it, each once
// for each line.
func refusedLog(t *testing.T) (name string, wanted []string) {
	t.Helper()
	folder := recipeSite(t, "User-agent: *\nDisallow: /private/\n\nUser-agent: bingbot\nCrawl-delay: 60\n")
	c := runRecipe(t, "A log of its own", folder)
	visit := func(address, path, agent string, want int) {
		c.expectFrom(t, address, "example.com", path, agent, want, "")
	}
	const victim = `"client_ip":"192.0.2.99","user_agent":"`
	visit("203.0.113.7", "/private/", gptbot, 403)
	visit("2001:db8::7", "/private/", gptbot, 403)
	visit("203.0.113.8", "/private/", `EvilBot/1.0 `+victim, 403)
	visit("203.0.113.8", "/private/?"+strings.ReplaceAll(victim, `"`, "%22"), `EvilBot/1.0 \`+victim, 403)
	visit("203.0.113.9", "/private/", chrome, 404) // a browser is not refused
	visit("203.0.113.10", "/page.html", bingbot, 200)
	visit("203.0.113.10", "/page.html", bingbot, 429) // too fast
	name = filepath.Join(folder, "robots.log")
	eventually(t, "all of them stand in the log", func() bool {
		text, err := os.ReadFile(name)
		return err == nil && strings.Count(string(text), `"msg":"robot refused"`) == 5
	})
	return name, []string{"2001:db8::7", "203.0.113.7", "203.0.113.8", "203.0.113.8"}
}

func TestRecipeForFail2ban(t *testing.T) {
	t.Parallel()
	installed(t, "fail2ban-regex")
	log, wanted := refusedLog(t)
	filter := filepath.Join(t.TempDir(), "caddy-robots.conf")
	write(t, filter, recipeBlocks(t, "fail2ban", "ini")[0])
	out, err := exec.Command("fail2ban-regex", "--out", "ip", log, filter).CombinedOutput()
	if err != nil {
		t.Fatalf("fail2ban-regex: %v\n%s", err, out)
	}
	got := strings.Fields(string(out))
	slices.Sort(got)
	if !slices.Equal(got, wanted) {
		t.Errorf("addresses that fail2ban finds: got %q, want %q", got, wanted)
	}
	out, err = exec.Command("fail2ban-regex", log, filter).CombinedOutput()
	if err != nil || !strings.Contains(string(out), `"ts":"Year-Month-DayT`) {
		t.Errorf("fail2ban-regex: %v, want that it finds the times\n%s", err, out)
	}
}

// What the parser for CrowdSec takes from a line stands in each: CrowdSec itself is not run here.
func TestRecipeForCrowdSecTakesWhatThereIs(t *testing.T) {
	t.Parallel()
	name, wanted := refusedLog(t)
	blocks := recipeBlocks(t, "CrowdSec", "yaml")
	fields := regexp.MustCompile(`JsonExtract\(evt\.Line\.Raw, '(\w+)'\)`).FindAllStringSubmatch(blocks[1], -1)
	if len(fields) < 6 || !strings.Contains(blocks[1], "'"+msgRefused+"'") {
		t.Fatalf("the parser asks for %d fields: %s", len(fields), blocks[1])
	}
	var words [][]string
	for _, list := range regexp.MustCompile(`\[(.*)\]`).FindAllString(blocks[2], -1) {
		words = append(words, regexp.MustCompile(`\w+`).FindAllString(list, -1))
	}
	if len(words) != 1 {
		t.Fatalf("the scenario has no list of verdicts: %s", blocks[2])
	}
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for raw := range strings.Lines(string(text)) {
		var l line
		if err := json.Unmarshal([]byte(raw), &l); err != nil {
			t.Fatal(err)
		}
		if l.text("msg") != msgRefused {
			continue
		}
		for _, field := range fields {
			if l.text(field[1]) == "" {
				t.Errorf("a refusal has no %s: %s", field[1], raw)
			}
		}
		if slices.Contains(words[0], l.text("verdict")) {
			got = append(got, l.text("client_ip"))
		}
	}
	slices.Sort(got)
	if !slices.Equal(got, wanted) {
		t.Errorf("addresses that the scenario counts: got %q, want %q", got, wanted)
	}
}
