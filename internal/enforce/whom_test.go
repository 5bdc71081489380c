package enforce

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/crawler"
	"github.com/caddy-robots/caddy-robots/internal/testutil"
	"github.com/caddy-robots/caddy-robots/robotsrules"
)

// knownRobots reads the well-known robots of a case, which are who they say.
func knownRobots(t *testing.T, text []byte) (robots []*crawler.Identity) {
	t.Helper()
	for line := range strings.Lines(string(text)) {
		name, userAgent, _ := strings.Cut(strings.TrimSpace(line), " | ")
		who := crawler.Identify(userAgent)
		if who.Class != crawler.Robot || who.Name != name {
			t.Fatalf("%q is a %s named %q, want robot %q", userAgent, who.Class, who.Name, name)
		}
		robots = append(robots, &who)
	}
	if len(robots) != 26 {
		t.Fatalf("got %d robots, want 26", len(robots))
	}
	return robots
}

// boundBy returns the names of the robots that a record with this value binds.
func boundBy(value string, robots []*crawler.Identity, dialect robotsrules.Dialect, match robotsrules.Match) string {
	file := robotsrules.Parse([]byte("User-agent: "+value+"\nDisallow: /\n"), robotsrules.Options{Dialect: dialect})
	rules := &Rules{Compiled: robotsrules.Compile(file, match)}
	var names []string
	for _, who := range robots {
		if (&Engine{}).Binding(rules, &Verdict{Who: who}) != nil {
			names = append(names, who.Name)
		}
	}
	if names == nil {
		return "nobody"
	}
	return strings.Join(names, ", ")
}

func TestWhomMisusedValuesBind(t *testing.T) {
	c := testutil.ReadCases(t, "testdata/misused_values.txt")[0]
	robots := knownRobots(t, c.Files[1].Data)
	tried := 0
	for line := range strings.Lines(string(c.Files[0].Data)) {
		columns := strings.Split(strings.TrimSpace(line), " | ")
		if len(columns) != 4 {
			t.Fatalf("%q: got %d columns, want 4", line, len(columns))
		}
		for _, dialect := range []robotsrules.Dialect{robotsrules.RFC9309, robotsrules.Draft1996, robotsrules.NoRobots1994} {
			for match, want := range map[robotsrules.Match]string{robotsrules.MatchSubstring: columns[1], robotsrules.MatchToken: columns[2]} {
				if got := boundBy(columns[0], robots, dialect, match); got != want {
					t.Errorf("%s, match %s: %q binds %s, want %s: %s", dialect, match, columns[0], got, want, columns[3])
				}
			}
		}
		tried++
	}
	if tried < 30 {
		t.Errorf("tried %d values, want at least 30", tried)
	}
}

// Programs that are no robots, against a record for "*" and one for the value.
var programs = []struct {
	userAgent, value string
	match            robotsrules.Match
	bound            bool
}{
	{"Stripe/1.0 (+https://stripe.com/docs/webhooks)", "Stripe", robotsrules.MatchSubstring, true},
	{"Stripe/1.0 (+https://stripe.com/docs/webhooks)", "docs", robotsrules.MatchSubstring, false},
	{"http.rb/5.1.1 (Mastodon/4.2.5; +https://mastodon.example/)", "Mastodon", robotsrules.MatchSubstring, true},
	{"http.rb/5.1.1 (Mastodon/4.2.5; +https://mastodon.example/)", "http.rb", robotsrules.MatchSubstring, true},
	{"http.rb/5.1.1 (Mastodon/4.2.5; +https://mastodon.example/)", "http", robotsrules.MatchSubstring, false},
	{"Twitterbot/1.0", "Twitterbot", robotsrules.MatchSubstring, true},
	{"Twitterbot/1.0", "bot", robotsrules.MatchSubstring, false},
	{"libwww-perl/6.77", "libwww", robotsrules.MatchSubstring, true},
	{"libwww-perl/6.77", "libwww", robotsrules.MatchToken, false},
	{"libwww-perl/6.77", "libwww-perl", robotsrules.MatchToken, true},
	{"libwww-perl/6.77", "lib", robotsrules.MatchSubstring, false},
	{"Apache-HttpClient/4.5.14 (Java/17.0.9)", "Java", robotsrules.MatchSubstring, true},
	{"Python/3.11 aiohttp/3.9.5", "aiohttp", robotsrules.MatchSubstring, true},
	{"Wget/1.21.2 (linux-gnu)", "wget", robotsrules.MatchSubstring, true},
	{"okhttp/4.12.0", "okhttp", robotsrules.MatchSubstring, true},
	{"okhttp/4.12.0", "http", robotsrules.MatchSubstring, false},
	{"MyShop/3 CFNetwork/1494.0.7 Darwin/23.4.0", "CFNetwork", robotsrules.MatchSubstring, false},
	{"MyShop/3 CFNetwork/1494.0.7 Darwin/23.4.0", "MyShop", robotsrules.MatchSubstring, true},
	{"Yandex/23.8 CFNetwork/1410.0.3 Darwin/22.6.0", "Yandex", robotsrules.MatchSubstring, false},
	{"Pinterest/11.5 (iPhone; iOS 17.1; Scale/3.00)", "Pinterest", robotsrules.MatchSubstring, false},
	{"fetch/1.0", "fetch", robotsrules.MatchSubstring, true},
	{"amazon-kendra-customer-id-123", "amazon-kendra", robotsrules.MatchSubstring, true},
}

func TestProgramsAreBoundByARecordThatNamesThem(t *testing.T) {
	for _, p := range programs {
		who := crawler.Identify(p.userAgent)
		for _, text := range []string{"User-agent: *\nDisallow: /\n\n", ""} {
			text += "User-agent: " + p.value + "\nDisallow: /\n"
			rules := &Rules{Compiled: robotsrules.Compile(robotsrules.Parse([]byte(text), robotsrules.Options{}), p.match)}
			if who.Class == crawler.Robot && text[:13] == "User-agent: *" {
				continue
			}
			if got := (&Engine{}).Binding(rules, &Verdict{Who: &who}); (got != nil) != p.bound {
				t.Errorf("%s %q: bound by %q of %q, want bound %t", who.Class, p.userAgent, got.Token(), text, p.bound)
			}
		}
	}
}

func TestWhomTheDefaultRecordBinds(t *testing.T) {
	rules := &Rules{Compiled: robotsrules.Compile(robotsrules.Parse([]byte("User-agent: *\nDisallow: /\n"), robotsrules.Options{}), robotsrules.MatchSubstring)}
	classes := []crawler.Class{crawler.Browser, crawler.App, crawler.Service, crawler.Robot, crawler.Unstated}
	for unnamed, want := range map[Unnamed][]bool{
		UnnamedRobots: {false, false, false, true, true}, UnnamedClients: {false, true, true, true, true},
		UnnamedEveryone: {true, true, true, true, true}, UnnamedNobody: {false, false, false, false, false},
	} {
		e := &Engine{Options: Options{Unnamed: unnamed}}
		for i, class := range classes {
			if got := e.Binding(rules, &Verdict{Who: &crawler.Identity{Class: class}}) != nil; got != want[i] {
				t.Errorf("unnamed %d: binds a %s: %t, want %t", unnamed, class, got, want[i])
			}
		}
	}
}

// A record with a client's own name binds it, whatever its class and dress.
func TestARecordWithItsNameBindsEveryNamedClient(t *testing.T) {
	files, err := filepath.Glob("../../crawler/testdata/*s*.txt")
	if err != nil || len(files) < 5 {
		t.Fatalf("got %d files of clients: %v", len(files), err)
	}
	tried := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			columns := strings.SplitN(strings.TrimSpace(line), " | ", 3)
			if len(columns) != 3 || columns[0] != "robot" && columns[0] != "service" || columns[1] == "" || columns[2][0] == '"' {
				continue
			}
			who := crawler.Identify(columns[2])
			for _, match := range []robotsrules.Match{robotsrules.MatchSubstring, robotsrules.MatchToken} {
				parsed := robotsrules.Parse([]byte("User-agent: "+who.Name+"\nDisallow: /\n"), robotsrules.Options{})
				rules := &Rules{Compiled: robotsrules.Compile(parsed, match)}
				if (&Engine{}).Binding(rules, &Verdict{Who: &who}) == nil {
					t.Errorf("%s: %q is not bound by the record for %q (says %q, products %q)", match, columns[2], who.Name, who.Text, who.Products)
				}
			}
			tried++
		}
	}
	if tried < 400 {
		t.Errorf("tried %d clients, want at least 400", tried)
	}
}

// liars are the clients whose claims are all found false.
type liars struct{}

func (liars) Prove(context.Context, Request, *crawler.Identity) Proof {
	return Proof{Claimed: "Twitterbot", Standing: Impostor, Reason: "not its address"}
}

func (liars) Signer(context.Context, Request) Proof { return Proof{} }

// Who claims to be a service that it is not is a robot without a name.
func TestAFalseServiceIsARobot(t *testing.T) {
	compiled := robotsrules.Compile(robotsrules.Parse([]byte("User-agent: *\nDisallow: /\n\nUser-agent: Twitterbot\nAllow: /\n"), robotsrules.Options{}), robotsrules.MatchSubstring)
	policies := &onePolicy{Policy{Rules: &Rules{Compiled: compiled}}}
	who := crawler.Identify("Twitterbot/1.0")
	r := Request{Method: "GET", Host: "a.example", Target: "/x", Path: "/x", UserAgent: "Twitterbot/1.0"}
	honest := &Engine{Policies: policies}
	if v := honest.Decide(t.Context(), &r, &who); v.Kind != Allowed || v.Decision.Binding.Token() != "Twitterbot" {
		t.Errorf("unchecked: got %s by the record for %q, want allowed by its own", v.Kind, v.Decision.Binding.Token())
	}
	checked := &Engine{Policies: policies, Prover: liars{}}
	if v := checked.Decide(t.Context(), &r, &who); v.Kind != Disallowed || v.Decision.Binding.Token() != "*" || v.Who.Class != crawler.Robot {
		t.Errorf("an impostor: got %s by the record for %q as %s, want disallowed by *", v.Kind, v.Decision.Binding.Token(), v.Who.Class)
	}
}
