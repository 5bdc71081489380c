package crawler

import (
	"os"
	"strings"
	"testing"
)

// serviceKinds are the kinds of services of the issue, and how many cases each has at least.
var serviceKinds = map[string]int{
	"health check": 20, "uptime monitor": 40, "validator": 12, "webhook": 50, "site's own software": 6, "federation": 25,
	"feed reader": 25, "podcasts": 6, "preview": 20, "association": 2, "image proxy": 3,
}

func TestEveryServiceHasItsKindAndItsSource(t *testing.T) {
	text, err := os.ReadFile("testdata/services.txt")
	if err != nil {
		t.Fatal(err)
	}
	kind, of, total := "", map[string]int{}, 0
	for n, line := range strings.Split(string(text), "\n") {
		switch comment, isComment := strings.CutPrefix(line, "# "); {
		case line == "":
		case isComment && strings.Contains(comment, "; "):
			var source string
			kind, source, _ = strings.Cut(comment, "; ")
			if _, ok := serviceKinds[kind]; !ok || len(source) < 5 {
				t.Errorf("line %d: got kind %q with source %q", n+1, kind, source)
			}
		case isComment:
		case kind == "":
			t.Errorf("line %d has no kind", n+1)
		default:
			of[kind]++
			total++
		}
	}
	for kind, least := range serviceKinds {
		if of[kind] < least {
			t.Errorf("got %d of kind %q, want at least %d", of[kind], kind, least)
		}
	}
	if total < 200 {
		t.Errorf("got %d services, want at least 200", total)
	}
}

func TestServicesInAnyCaseAreServices(t *testing.T) {
	for _, s := range readSamples(t, "services.txt") {
		for _, changed := range []string{strings.ToUpper(s.userAgent), strings.ToLower(s.userAgent)} {
			if got := Identify(changed); got.Class != Service || !strings.EqualFold(got.Name, s.name) {
				t.Errorf("%s: Identify(%q) = %s %q, want service %q", s.at, changed, got.Class, got.Name, s.name)
			}
		}
	}
}

// Who writes the name of a service beside that of a crawler is the crawler.
func TestNoServiceOutranksACrawlersName(t *testing.T) {
	for _, robot := range []string{"GPTBot", "Bytespider", "ExampleCrawler", "Googlebot", "ia_archiver", "CCBot", "AhrefsSiteAudit"} {
		for _, form := range []string{
			"Mozilla/5.0 (compatible; NAME/1.0; +https://x.example) UptimeRobot/2.0", "NAME/1.0 (monitoring; webhook/1.0)",
			"NAME/1.0 Stripe/1.0", "Stripe/1.0 NAME/1.0", "kube-probe/1.33 (NAME/1.0)", "Mastodon/4.2 (NAME/2.0; +https://x.example)",
			"Mozilla/5.0 (Linux; Android 9) Chrome/99.0 Superhuman/1.0 (compatible; NAME/1.0)",
		} {
			userAgent := strings.ReplaceAll(form, "NAME", robot)
			if got := Identify(userAgent); got.Class != Robot {
				t.Errorf("Identify(%q) = %s %q, want a robot", userAgent, got.Class, got.Name)
			}
		}
	}
}

// What stands in an address says nothing about a robot's trade.
func TestAddressesMakeNoService(t *testing.T) {
	for _, userAgent := range []string{
		"ExampleFetcher/1.0 (+https://monitoring.example/webhook)", "Mozilla/5.0 (compatible; Seeker/1.0; +https://uptime.example)",
	} {
		if got := Identify(userAgent); got.Class != Robot {
			t.Errorf("Identify(%q) = %s %q, want a robot", userAgent, got.Class, got.Name)
		}
	}
}

// A robot that is asked for as one stays one.
func TestAServiceAsRobotIsARobot(t *testing.T) {
	if got := AsRobot("kube-probe/1.33"); got.Class != Robot || got.Name != "kube-probe" {
		t.Errorf("got %s %q, want robot kube-probe", got.Class, got.Name)
	}
}
