package enforce

import (
	"context"
	"net/netip"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/crawler"
	"github.com/caddy-robots/caddy-robots/internal/ratelimit"
	"github.com/caddy-robots/caddy-robots/robotsrules"
)

// onePolicy is the policy of every host.
type onePolicy struct{ Policy }

func (p *onePolicy) ForHost(context.Context, string, Asker) (*Policy, bool) { return &p.Policy, false }

func (p *onePolicy) Asked(string, netip.Addr, time.Time) {}

// oneProof says the same of every robot that has a name to check, and of every signature.
type oneProof struct{ proof Proof }

func (p oneProof) Prove(context.Context, Request, *crawler.Identity) Proof { return p.proof }
func (p oneProof) Signer(context.Context, Request) Proof                   { return Proof{} }

const slowSite = "User-agent: *\nCrawl-delay: 10\nDisallow: /private/\n\nUser-agent: NightBot\nCrawl-delay: 10\nVisit-time: 2200-0600\n"

// thirdOf returns what becomes of the third of three requests at once.
func thirdOf(o Options, proof *Proof, name, path string) Kind {
	rules := &Rules{Compiled: robotsrules.Compile(robotsrules.Parse([]byte(slowSite), robotsrules.Options{}), robotsrules.MatchSubstring)}
	e := Engine{Options: o, Policies: &onePolicy{Policy{Rules: rules}}, Limiter: ratelimit.NewMemory(100)}
	if proof != nil {
		e.Prover = oneProof{*proof}
	}
	who := crawler.AsRobot(name)
	var v Verdict
	for range 3 {
		r := Request{Host: "example.com", UserAgent: name, Origin: OriginAt("192.0.2.1"), At: time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)}
		r.SetTarget(path)
		v = e.Decide(context.Background(), &r, &who)
	}
	return v.Kind
}

func TestUnpaced(t *testing.T) {
	verified, unverified := Proof{Claimed: "Googlebot", Standing: Verified}, Proof{Claimed: "Googlebot"}
	impostor := Proof{Claimed: "Googlebot", Standing: Impostor, Reason: "no"}
	signed := Proof{Claimed: "ChatGPT-User", Signed: true, Standing: Verified}
	nothing := Proof{}
	google := Unpaced{Tokens: []string{"googleBOT"}}
	search := Unpaced{Kinds: Kinds{Purposes: []crawler.Purpose{crawler.PurposeSearch}}}
	for _, test := range []struct {
		name    string
		unpaced Unpaced
		proof   *Proof
		robot   string
		path    string
		want    Kind
	}{
		{"nobody is named", Unpaced{}, nil, "Googlebot", "/", TooFast},
		{"by name", google, nil, "Googlebot", "/", Allowed},
		{"its kin", google, nil, "Googlebot-Image", "/", Allowed},
		{"not whose name begins so", google, nil, "Googlebots", "/", TooFast},
		{"not in whose name it stands", google, nil, "NotGooglebot", "/", TooFast},
		{"not another one", google, nil, "bingbot", "/", TooFast},
		{"not the one for its kin", Unpaced{Tokens: []string{"Googlebot-Image"}}, nil, "Googlebot", "/", TooFast},
		{"its paths stay", google, nil, "Googlebot", "/private/", Disallowed},
		{"its hours stay", Unpaced{Tokens: []string{"NightBot"}}, nil, "NightBot", "/", OffHours},
		{"a robot of which nothing is known", Unpaced{Tokens: []string{"OurBot"}}, nil, "OurBot", "/", Allowed},
		{"by purpose", search, nil, "bingbot", "/", Allowed},
		{"by purpose, its kin", search, nil, "Googlebot-Image", "/", Allowed},
		{"of another purpose", search, nil, "GPTBot", "/", TooFast},
		{"of no purpose that is known", search, nil, "OurSearchBot", "/", TooFast},
		{"verified", google, &verified, "Googlebot", "/", Allowed},
		{"not verified in time", google, &unverified, "Googlebot", "/", TooFast},
		{"an impostor", google, &impostor, "Googlebot", "/", TooFast},
		{"an impostor, by purpose", search, &impostor, "Googlebot", "/", TooFast},
		{"what cannot be checked", google, &nothing, "Googlebot", "/", Allowed},
		{"signed", Unpaced{Tokens: []string{"ChatGPT-User"}}, &signed, "ExampleAgent", "/", Allowed},
		{"signed, by purpose", Unpaced{Kinds: Kinds{Purposes: []crawler.Purpose{crawler.PurposeAIUser}}}, &signed, "ExampleAgent", "/", Allowed},
		{"signed by another", google, &signed, "Googlebot", "/", TooFast},
		{"as verified", Unpaced{Kinds: Kinds{Verified: true}}, &verified, "Googlebot", "/", Allowed},
		{"as verified, not in time", Unpaced{Kinds: Kinds{Verified: true}}, &unverified, "Googlebot", "/", TooFast},
		{"as verified, where nothing can be checked", Unpaced{Kinds: Kinds{Verified: true}}, &nothing, "OurBot", "/", TooFast},
	} {
		if got := thirdOf(Options{Unpaced: test.unpaced}, test.proof, test.robot, test.path); got != test.want {
			t.Errorf("%s: got %s, want %s", test.name, got, test.want)
		}
	}
	// A default pace is a pace; a disallowed page that is served at a rate is not about the robot's own.
	rate, _ := robotsrules.ParseRate("1/1m")
	if got := thirdOf(Options{Unpaced: google, DefaultPace: rate}, nil, "Googlebot", "/"); got != Allowed {
		t.Errorf("with a default pace: got %s, want it to be allowed", got)
	}
	if got := thirdOf(Options{Unpaced: google, Disallowed: Pace, DisallowedPace: rate}, nil, "Googlebot", "/private/"); got != TooFast {
		t.Errorf("a disallowed page at a rate: got %s, want too_fast", got)
	}
}

func TestWhomAPaceHolds(t *testing.T) {
	googlebot, _ := crawler.Find("Googlebot")
	for _, test := range []struct {
		options Options
		record  string
		want    bool
	}{
		{Options{}, "*", true},
		{Options{Observe: true}, "*", true},
		{Options{TooFast: Observe}, "*", false},
		{Options{Unnamed: UnnamedNobody}, "*", false},
		{Options{Unnamed: UnnamedNobody}, "Googlebot", true},
		{Options{Unpaced: Unpaced{Tokens: []string{"googlebot"}}}, "*", false},
		{Options{Unpaced: Unpaced{Kinds: Kinds{Purposes: []crawler.Purpose{crawler.PurposeSearch}}}}, "*", false},
		{Options{Unpaced: Unpaced{Kinds: Kinds{Purposes: []crawler.Purpose{crawler.PurposeSEO}}}}, "*", true},
		{Options{Unpaced: Unpaced{Kinds: Kinds{Verified: true}}}, "*", false},
		{Options{Exempt: Exemptions{Kinds: Kinds{Purposes: []crawler.Purpose{crawler.PurposeSearch}}}}, "*", false},
	} {
		if got := test.options.Paces(&googlebot, test.record); got != test.want {
			t.Errorf("%+v, record %q: got %v, want %v", test.options, test.record, got, test.want)
		}
	}
}

func TestKindsAreExempt(t *testing.T) {
	verified, unverified := Proof{Claimed: "Googlebot", Standing: Verified}, Proof{Claimed: "Googlebot"}
	impostor := Proof{Claimed: "Googlebot", Standing: Impostor, Reason: "no"}
	for _, test := range []struct {
		exempt string
		proof  *Proof
		robot  string
		want   Kind
	}{
		{"search", nil, "Googlebot", Exempt},
		{"search", nil, "Googlebot-Image", Exempt},
		{"search", nil, "GPTBot", Disallowed},
		{"search", nil, "OurSearchBot", Disallowed}, // no text of the User-Agent
		{"Search", nil, "OurSearchBot", Exempt},     // a text
		{"search", &verified, "Googlebot", Exempt},
		{"search", &unverified, "Googlebot", Disallowed},
		{"search", &impostor, "Googlebot", Disallowed},
		{"search", &Proof{}, "Googlebot", Exempt}, // nothing of it can be checked
		{"verified", &verified, "Googlebot", Exempt},
		{"verified", &unverified, "Googlebot", Disallowed},
		{"verified", &impostor, "Googlebot", Disallowed},
		{"verified", nil, "Googlebot", Disallowed},
		{"verified", &Proof{}, "VerifiedBot", Disallowed},
	} {
		exempt, err := ParseExemptions([]string{test.exempt}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := thirdOf(Options{Exempt: exempt}, test.proof, test.robot, "/private/"); got != test.want {
			t.Errorf("exempt %s, %s with proof %+v: got %s, want %s", test.exempt, test.robot, test.proof, got, test.want)
		}
	}
}
