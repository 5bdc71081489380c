package crawler

import (
	"net/url"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
)

func TestCatalogueFileIsWellFormed(t *testing.T) {
	if errCatalogue != nil {
		t.Fatal(errCatalogue)
	}
	if len(catalogue) < 200 {
		t.Fatalf("got %d crawlers, want at least 200", len(catalogue))
	}
	if !slices.IsSortedFunc(catalogue, func(a, b Crawler) int {
		return strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name))
	}) {
		t.Error("catalogue.txt is not sorted by name")
	}
	date := regexp.MustCompile(`^20\d\d-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$`)
	for _, c := range catalogue {
		if c.Name == "" || c.Operator == "" || !date.MatchString(c.Date) {
			t.Errorf("%q: operator %q, date %q", c.Name, c.Operator, c.Date)
		}
		if !slices.Contains(purposes, c.Purpose) {
			t.Errorf("%s: %q is no purpose", c.Name, c.Purpose)
		}
		if !slices.Contains(c.Tokens, c.Name) {
			t.Errorf("%s: its name is none of its tokens %q", c.Name, c.Tokens)
		}
		if len(c.Sources) == 0 && (c.IsVerifiable() || len(c.Signers) > 0 || c.CrawlDelay != Unknown) {
			t.Errorf("%s: something is known of it without a source", c.Name)
		}
		for _, list := range [][]string{c.Tokens, c.DNS, c.Ranges, c.Signers, c.Sources} {
			if slices.Contains(list, "") || len(list) != len(slices.Compact(slices.Sorted(slices.Values(list)))) {
				t.Errorf("%s: %q has an empty value, or one twice", c.Name, list)
			}
		}
		checkHosts(t, &c)
		for _, address := range slices.Concat(c.Ranges, c.Sources) {
			u, err := url.Parse(address)
			if err != nil || u.Scheme != "https" || !strings.Contains(u.Host, ".") || u.User != nil || u.Fragment != "" {
				t.Errorf("%s: the address %q (%v), want one that begins with https://", c.Name, address, err)
			}
		}
		for _, address := range c.Ranges {
			if u, err := url.Parse(address); err == nil && (u.Path == "" || u.RawQuery != "") {
				t.Errorf("%s: the list %q, want one with a path and without a query", c.Name, address)
			}
		}
	}
}

// checkHosts checks domains and signers: with a dot, in small letters, and none of a public
// suffix that anybody could have a host under.
func checkHosts(t *testing.T, c *Crawler) {
	t.Helper()
	form := regexp.MustCompile(`^[a-z0-9-]+(\.[a-z0-9-]+)+$`)
	for _, host := range slices.Concat(c.DNS, c.Signers) {
		if !form.MatchString(host) {
			t.Errorf("%s: the domain %q, want one in lower case, such as googlebot.com", c.Name, host)
		}
		for _, rented := range []string{"amazonaws.com", "googleusercontent.com", "azure.com", "co.uk", "com.cn"} {
			if host == rented || strings.HasSuffix(host, "."+rented) {
				t.Errorf("%s: anybody can have a host under %q", c.Name, host)
			}
		}
	}
}

func TestNoTokenStandsTwice(t *testing.T) {
	seen := map[string]string{}
	for _, c := range catalogue {
		for _, token := range c.Tokens {
			key := strings.ToLower(token)
			if other, ok := seen[key]; ok {
				t.Errorf("%q stands at %s and at %s", token, other, c.Name)
			}
			seen[key] = c.Name
			if _, ok := ParsePurpose(token); ok {
				t.Errorf("%s: the token %q is the word of a purpose", c.Name, token)
			}
		}
	}
}

// A lookup that finds a token finds the crawler, whatever the case of letters.
func TestFind(t *testing.T) {
	for _, c := range Catalogue() {
		for _, token := range c.Tokens {
			for _, spelt := range []string{token, strings.ToLower(token), strings.ToUpper(token)} {
				if got, ok := Find(spelt); (!ok || got.Name != c.Name) && strings.EqualFold(spelt, token) {
					t.Errorf("Find(%q) = %q, %v, want %q", spelt, got.Name, ok, c.Name)
				}
			}
		}
	}
	if got, ok := Find("examplebot"); ok || got.Name != "" {
		t.Errorf("Find(examplebot) = %+v, want nobody", got)
	}
}

func TestAClientIsWhoItSaysItIs(t *testing.T) {
	for userAgent, want := range map[string]string{
		"Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)": "Googlebot",
		"Googlebot-Image/1.0": "Googlebot", "Googlebot-Image-Test/1.0": "Googlebot", "SemrushBot-OCOB/1 bot": "SemrushBot",
		"Googlebots/1.0": "", "examplebot/1.0": "", "NotGooglebot-Image/1.0": "", "": "",
	} {
		who := Identify(userAgent)
		if got, ok := who.Crawler(); got.Name != want || ok != (want != "") {
			t.Errorf("%q: got %q, %v, want %q", userAgent, got.Name, ok, want)
		}
	}
}

func TestWhatTheCatalogueSays(t *testing.T) {
	for _, test := range []struct {
		token    string
		operator string
		purpose  Purpose
		delay    Answer
		dns      string
		byPerson bool
	}{
		{"googlebot-image", "Google", PurposeSearch, No, "googlebot.com", false},
		{"BINGBOT", "Microsoft", PurposeSearch, Yes, "search.msn.com", false},
		{"Amazonbot", "Amazon", PurposeAITraining, No, "crawl.amazonbot.amazon", false},
		{"YandexBot", "Yandex", PurposeSearch, No, "yandex.ru yandex.net yandex.com", false},
		{"Baiduspider", "Baidu", PurposeSearch, No, "baidu.com baidu.jp", false},
		{"ClaudeBot", "Anthropic", PurposeAITraining, Yes, "", false},
		{"ChatGPT-User", "OpenAI", PurposeAIUser, Unknown, "", true},
		{"Bytespider", "ByteDance", PurposeAITraining, Unknown, "", false},
		{"ELB-HealthChecker", "Amazon", PurposeMonitor, Unknown, "", false},
	} {
		c, ok := Find(test.token)
		if !ok || c.Operator != test.operator || c.Purpose != test.purpose || c.CrawlDelay != test.delay ||
			strings.Join(c.DNS, " ") != test.dns || c.ByPerson != test.byPerson {
			t.Errorf("%s: got %+v, want %+v", test.token, c, test)
		}
	}
	for _, token := range []string{"Slurp", "AhrefsBot", "SemrushBot", "PetalBot", "DataForSeoBot", "CCBot", "DotBot", "MJ12bot"} {
		if c, _ := Find(token); c.CrawlDelay != Yes {
			t.Errorf("%s: Crawl-delay %s, want yes", token, c.CrawlDelay)
		}
	}
	for _, c := range catalogue {
		if c.Operator == "Google" && c.CrawlDelay == Yes {
			t.Errorf("%s reads Crawl-delay, want none of Google's", c.Name)
		}
	}
}

func TestPurposes(t *testing.T) {
	for _, p := range Purposes() {
		if got, ok := ParsePurpose(strings.ToUpper(string(p))); !ok || got != p {
			t.Errorf("ParsePurpose(%q) = %q, %v", p, got, ok)
		}
		if !slices.ContainsFunc(catalogue, func(c Crawler) bool { return c.Purpose == p }) {
			t.Errorf("no crawler is for %s", p)
		}
	}
	if _, ok := ParsePurpose("ai"); ok {
		t.Error(`"ai" is a purpose`)
	}
}

func TestMalformedCatalogueFilesAreRefused(t *testing.T) {
	const good = "A | = | B | search | no | unknown | - | - | 2026-11-22"
	if all, err := parseCatalogue("# x\n\n" + good); err != nil || len(all) != 1 {
		t.Fatalf("%q: got %d entries, %v", good, len(all), err)
	}
	for _, bad := range []string{
		"A | =", good + " | x",
		strings.Replace(good, "search", "ai", 1),
		strings.Replace(good, "| no |", "| unknown |", 1),
		strings.Replace(good, "unknown", "perhaps", 1),
		strings.Replace(good, "| - |", "| a.example |", 1),
	} {
		if all, err := parseCatalogue(good + "\n" + bad); err == nil || len(all) != 1 || !strings.Contains(err.Error(), "line 2") {
			t.Errorf("%q: got %d entries, %v", bad, len(all), err)
		}
	}
}

func TestWellKnownNamesAreWhatIdentifyGives(t *testing.T) {
	for _, c := range catalogue {
		for _, name := range c.Tokens {
			userAgent := "Mozilla/5.0 (compatible; " + name + "/1.0; +https://robot.example/about)"
			if who := Identify(userAgent); who.Name != name {
				t.Errorf("%q: got %s %q, want %q", userAgent, who.Class, who.Name, name)
			}
		}
	}
}

// A robot in our cases that is well known by its key is so under the name it gives itself.
func TestWellKnownNamesAreSpeltAsTheRobotsSpellThem(t *testing.T) {
	met := map[string]bool{}
	for _, s := range readSamples(t, "[rs]*s*.txt") {
		who := Identify(s.userAgent)
		name, ok := WellKnown(who.Key)
		if ok && name != who.Name {
			t.Errorf("%s: got %q, want %q", s.at, name, who.Name)
		}
		met[name] = ok
	}
	if len(met) < 100 {
		t.Errorf("got %d well-known robots among the cases, want at least 100", len(met))
	}
}

func TestStrangersAreNotWellKnown(t *testing.T) {
	for _, key := range []string{"", "*", "examplebot", "GPTBot", "curl"} {
		if name, ok := WellKnown(key); ok {
			t.Errorf("%q: got %q, want nobody", key, name)
		}
	}
}

func TestLookupsInTheCatalogueDoNotAllocate(t *testing.T) {
	who := Identity{Key: "googlebot-image-test"}
	allocations := testing.AllocsPerRun(100, func() {
		who.Crawler()
		WellKnown("gptbot")
		WellKnown("nobody-knows-this-one")
		Find("gptbot")
	})
	if allocations != 0 {
		t.Errorf("got %v allocations, want 0", allocations)
	}
}

func TestTheCatalogueIsSmall(t *testing.T) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	all, err := parseCatalogue(strings.Clone(catalogueFile))
	tokens := indexTokens(all)
	runtime.GC()
	runtime.ReadMemStats(&after)
	if got := int64(after.HeapAlloc) - int64(before.HeapAlloc); got > 1<<20 {
		t.Errorf("it takes %d bytes, want at most 1 MiB", got)
	} else {
		t.Logf("%d crawlers with %d tokens take %d bytes", len(all), len(tokens), got)
	}
	if err != nil {
		t.Error(err)
	}
	runtime.KeepAlive(all)
	runtime.KeepAlive(tokens)
}

func TestTheCallerOwnsTheCatalogue(t *testing.T) {
	Catalogue()[0].Name = "changed"
	if Catalogue()[0].Name == "changed" {
		t.Error("a caller changed the catalogue")
	}
	Purposes()[0] = "changed"
	if Purposes()[0] == "changed" {
		t.Error("a caller changed the purposes")
	}
}
