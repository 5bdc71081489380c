package enforce

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/crawler"
	"github.com/caddy-robots/caddy-robots/internal/ratelimit"
	"github.com/caddy-robots/caddy-robots/robotsrules"
)

// pacedBy is an engine for a site with this robots.txt.
func pacedBy(text string, options Options) *Engine {
	compiled := robotsrules.Compile(robotsrules.Parse([]byte(text), robotsrules.Options{}), robotsrules.MatchSubstring)
	memory := ratelimit.NewMemory(0)
	return &Engine{Options: options, Policies: &onePolicy{Policy{Rules: &Rules{Compiled: compiled}}}, Limiter: memory, Bans: memory.Bans()}
}

// comes returns what becomes of a request that comes so many seconds after the first.
func (e *Engine) comes(t *testing.T, seconds int, address, userAgent string) Verdict {
	t.Helper()
	who := crawler.Identify(userAgent)
	r := Request{
		Method: "GET", Host: "a.example", Target: "/x", Path: "/x", UserAgent: userAgent,
		Origin: OriginAt(address), At: time.Unix(1e9+int64(seconds), 0),
	}
	return e.Decide(t.Context(), &r, &who)
}

// Names that nobody knows are held together by their network, however many are made up. Who is
// known has one budget from everywhere, and spends no other's.
func TestWhoseBudgetIsWhose(t *testing.T) {
	const rules = "User-agent: FigBot\nUser-agent: Wget\nUser-agent: Stripe\nUser-agent: GPTBot\nCrawl-delay: 10\n\nUser-agent: *\nCrawl-delay: 10\n"
	type visit struct {
		seconds            int
		address, userAgent string
		want               Kind
	}
	for name, visits := range map[string][]visit{
		"a robot that is named has one budget": {
			{0, "203.0.113.1", "FigBot/1.0", Allowed}, {1, "198.51.100.1", "FigBot/2.0", TooFast}, {10, "192.0.2.1", "FigBot/1.0", Allowed},
		},
		"so has one of the catalogue": {
			{0, "203.0.113.1", "CCBot/2.0", Allowed}, {1, "198.51.100.1", "CCBot/2.0", TooFast}, {1, "203.0.113.1", "AhrefsBot/7.0", Allowed},
		},
		"names that nobody knows share their network's": {
			{0, "203.0.113.1", "AppleTreeBot/1.0", Allowed}, {1, "203.0.113.1", "PearTreeBot/1.0", TooFast}, {1, "203.0.113.2", "PearTreeBot/1.0", Allowed},
			{1, "203.0.113.1", "FigBot/1.0", Allowed}, {1, "203.0.113.1", "CCBot/2.0", Allowed}, {10, "203.0.113.1", "PlumTreeBot/1.0", Allowed},
		},
		"also a /64": {
			{0, "2001:db8::1", "AppleTreeBot/1.0", Allowed}, {1, "2001:db8::2", "PearTreeBot/1.0", TooFast}, {1, "2001:db8:0:1::1", "PlumTreeBot/1.0", Allowed},
		},
		"with those that have no name": {
			{0, "203.0.113.1", "AppleTreeBot/1.0", Allowed}, {1, "203.0.113.1", "", TooFast}, {1, "203.0.113.2", "", Allowed}, {2, "203.0.113.2", "PearTreeBot/1", TooFast},
		},
		"and have one of their own besides": {
			{0, "203.0.113.1", "AppleTreeBot/1.0", Allowed}, {1, "198.51.100.1", "AppleTreeBot/1.0", TooFast}, {1, "198.51.100.1", "PearTreeBot/1.0", Allowed},
		},
		"a longer name than that of a record is not known": {
			{0, "203.0.113.1", "GPTBot1/1.0", Allowed}, {1, "203.0.113.1", "GPTBot2/1.0", TooFast}, {1, "203.0.113.1", "GPTBot/1.3", Allowed},
		},
		"who is refused pays nothing": {
			{0, "203.0.113.1", "AppleTreeBot/1.0", Allowed}, {4, "203.0.113.1", "PearTreeBot/1.0", TooFast}, {5, "198.51.100.1", "PearTreeBot/1.0", Allowed},
			{6, "192.0.2.1", "PearTreeBot/1.0", TooFast}, {6, "192.0.2.1", "PlumTreeBot/1.0", Allowed},
		},
		"an app and a service are many people's": {
			{0, "203.0.113.1", "Wget/1.21", Allowed}, {1, "203.0.113.1", "Wget/1.21", TooFast}, {1, "198.51.100.1", "Wget/1.21", Allowed},
			{1, "203.0.113.1", "Stripe/1.0 (+https://stripe.com/docs/webhooks)", Allowed}, {2, "198.51.100.1", "Stripe/1.0", Allowed},
		},
		"who cannot be told from others has none": {
			{0, "10.0.0.1", "Wget/1.21", Allowed}, {1, "10.0.0.1", "Wget/1.21", Allowed}, {0, "10.0.0.1", "AppleTreeBot/1.0", Allowed},
			{1, "10.0.0.1", "PearTreeBot/1.0", Allowed}, {1, "10.0.0.1", "PearTreeBot/1.0", TooFast},
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := pacedBy(rules, Options{})
			for _, v := range visits {
				if got := e.comes(t, v.seconds, v.address, v.userAgent); got.Kind != v.want {
					t.Errorf("%s at %s after %ds: got %s (%s), want %s", v.userAgent, v.address, v.seconds, got.Kind, got.Who.Class, v.want)
				}
			}
		})
	}
}

func TestAThousandNamesGetThePaceOfOne(t *testing.T) {
	e := pacedBy("User-agent: *\nCrawl-delay: 10\n", Options{})
	served := 0
	for i := range 1000 {
		v := e.comes(t, i/10, "203.0.113.1", fmt.Sprintf("Invented%dBot/1.0", i))
		text := string(v.Explain(nil, v.At))
		switch {
		case v.Kind == Allowed:
			served++
		case !strings.Contains(text, "Budget:     shared by all names from your network"):
			t.Fatalf("the refusal does not say whose budget it is: %s", text)
		}
	}
	if served < 9 || served > 13 {
		t.Errorf("in 100 s at one in 10 s: %d were served, want 10, a fifth more at most", served)
	}
}

// With "unnamed clients" each network of apps keeps the pace for itself.
func TestUnnamedClientsHaveABudgetForEachNetwork(t *testing.T) {
	e := pacedBy("User-agent: *\nCrawl-delay: 10\n", Options{Unnamed: UnnamedClients})
	for i, c := range []struct {
		address, userAgent string
		want               Kind
	}{
		{"203.0.113.1", "ELB-HealthChecker/2.0", Allowed}, {"203.0.113.2", "ELB-HealthChecker/2.0", Allowed}, {"203.0.113.2", "ELB-HealthChecker/2.0", TooFast},
		{"203.0.113.3", "MyApp/1.0 okhttp/4.12.0", Allowed}, {"203.0.113.3", "YourApp/1.0 okhttp/4.12.0", TooFast}, {"203.0.113.3", "okhttp/4.12.0", TooFast},
	} {
		if v := e.comes(t, 0, c.address, c.userAgent); v.Kind != c.want {
			t.Errorf("%d: %s at %s: got %s, want %s", i, c.userAgent, c.address, v.Kind, c.want)
		}
	}
}

// An app that is banned is banned by its name at its address, as a robot is.
func TestAnAppIsBannedByItsName(t *testing.T) {
	e := pacedBy("User-agent: Wget\nCrawl-delay: 10\n", Options{Ban: &ratelimit.BanPolicy{Offences: 2, Within: time.Minute, For: time.Hour}})
	for i, want := range []Kind{Allowed, TooFast, TooFast, Banned} {
		v := e.comes(t, 1+i, "203.0.113.1", "Wget/1.21")
		if v.Kind != want {
			t.Errorf("request %d: got %s, want %s", i+1, v.Kind, want)
		}
		if b := v.NewBan; (b != nil) != (i == 2) || b != nil && (b.Key.Robot != "wget" || b.Address != "203.0.113.1") {
			t.Errorf("request %d: got the ban %+v", i+1, b)
		}
	}
	if v := e.comes(t, 9, "203.0.113.2", "Wget/1.21"); v.Kind != Allowed {
		t.Errorf("at another address: got %s, want allowed", v.Kind)
	}
}
