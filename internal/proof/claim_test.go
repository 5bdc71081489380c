package proof

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/crawler"
)

// That the catalogue is well formed is for its own tests; a claim has its own form.
func TestKnownIsWhatTheCatalogueCanVerify(t *testing.T) {
	claims := map[string]Claim{}
	for _, claim := range Known() {
		if _, ok := claims[strings.ToLower(claim.Token)]; ok {
			t.Errorf("%s is claimed twice", claim.Token)
		}
		if err := claim.Check(); err != nil {
			t.Errorf("%s: %v", claim.Token, err)
		}
		claims[strings.ToLower(claim.Token)] = claim
	}
	if len(claims) < 45 {
		t.Errorf("%d claims, want 45 at least", len(claims))
	}
	for _, c := range crawler.Catalogue() {
		claim, ok := claims[strings.ToLower(c.Tokens[0])]
		if ok != c.IsVerifiable() || !slices.Equal(claim.DNS, c.DNS) || !slices.Equal(claim.Ranges, c.Ranges) {
			t.Errorf("%s: got %+v, want %q and %q", c.Name, claim, c.DNS, c.Ranges)
		}
	}
	if _, ok := claims["googlebot-image"]; ok {
		t.Error("Googlebot-Image is a claim of its own, want it to be Googlebot's")
	}
	if got, want := claims["yandexbot"].DNS, []string{"yandex.ru", "yandex.net", "yandex.com"}; !slices.Equal(got, want) {
		t.Errorf("YandexBot's suffixes are %q, want %q", got, want)
	}
}

func TestKnownIsTheCallersOwn(t *testing.T) {
	Known()[0].DNS[0] = "evil.example"
	if got := Known()[0].DNS[0]; got == "evil.example" {
		t.Errorf("Known()[0].DNS[0] = %q after a caller changed its own", got)
	}
}

func TestClaimsThatProveNothingAreRefused(t *testing.T) {
	for want, claim := range map[string]Claim{
		"too short":                          {Token: " Go ", DNS: []string{"googlebot.com"}},
		"a name alone":                       {Token: "Googlebot/2.1", DNS: []string{"googlebot.com"}},
		"write how":                          {Token: "Googlebot"},
		`"com" is not a domain`:              {Token: "Googlebot", DNS: []string{"com"}},
		`"*.google.com" is not a domain`:     {Token: "Googlebot", DNS: []string{"*.google.com"}},
		`"192.0.2.0/99" is not a CIDR range`: {Token: "Googlebot", Ranges: []string{"list.json", "192.0.2.0/99"}},
		`"Googlebot" is no signer`:           {Token: "Googlebot", Signers: []string{"Googlebot"}},
		"16.0.0.0/4 is too broad":            {Token: "Googlebot", Ranges: []string{"16.1.2.3/4"}},
	} {
		if err := claim.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Check of %+v = %v, want %q", claim, err, want)
		}
	}
	for _, claim := range append(Known(), Claim{Token: "bot", Ranges: []string{"./list", "2001:db8::1", "cafe/list"}}) {
		if err := claim.Check(); err != nil {
			t.Errorf("Check of %+v = %v, want nil", claim, err)
		}
	}
}

func TestMergePrefersTheOwner(t *testing.T) {
	got := Merge(
		[]Claim{{Token: "GoogleBot", DNS: []string{"a.example"}}, {Token: "mybot", Ranges: []string{"192.0.2.1"}}, {Token: "googlebot", Ranges: []string{"192.0.2.2"}}, {Token: "bingbot", Signers: []string{"bots.example"}}},
		[]Claim{{Token: "Googlebot", DNS: []string{"googlebot.com"}}, {Token: "bingbot", DNS: []string{"search.msn.com"}}},
	)
	want := []Claim{
		{Token: "GoogleBot", DNS: []string{"a.example"}, Ranges: []string{"192.0.2.2"}},
		{Token: "mybot", Ranges: []string{"192.0.2.1"}}, {Token: "bingbot", DNS: []string{"search.msn.com"}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("Merge = %+v, want %+v", got, want)
	}
}

// The table of signers, and the tokens that their robots go by.
func TestSignersAreTheCataloguesAndTheOwners(t *testing.T) {
	const wellKnown = "/.well-known/http-message-signatures-directory"
	own := []Claim{{Token: "OurBot", Signers: []string{"bots.example", "https://chatgpt.com"}}, {Token: "Googlebot", DNS: []string{"googlebot.com"}}}
	for _, test := range []struct {
		own   []Claim
		known bool
		want  map[string]string
	}{
		{nil, false, map[string]string{}},
		{nil, true, map[string]string{
			"chatgpt.com": "ChatGPT-User", "agent.bot.goog": "Google-Agent", "ahrefs.com": "AhrefsBot", "search.bot.kernel.sh": "KernelSearchBot",
		}},
		{own, false, map[string]string{"bots.example": "OurBot", "chatgpt.com": "OurBot"}},
		{own, true, map[string]string{
			"bots.example": "OurBot", "chatgpt.com": "OurBot", "agent.bot.goog": "Google-Agent", "ahrefs.com": "AhrefsBot", "search.bot.kernel.sh": "KernelSearchBot",
		}},
	} {
		signers, err := Signers(test.own, test.known)
		got := map[string]string{}
		for id, signer := range signers {
			host := strings.TrimSuffix(strings.TrimPrefix(id, "https://"), wellKnown)
			got[host] = signer.Token
			if signer.URL != id || signer.Inside != (signer.Token == "OurBot") {
				t.Errorf("%s: got %+v", id, signer)
			}
		}
		if err != nil || !maps.Equal(got, test.want) {
			t.Errorf("Signers(%+v, %t) = %v, %v, want %v", test.own, test.known, got, err, test.want)
		}
	}
	_, err := Signers(append(own, Claim{Token: "OtherBot", Signers: []string{"bots.example"}}), true)
	if err == nil || err.Error() != "bots.example signs for OurBot already; write it once" {
		t.Errorf("one signer for two tokens: got %v", err)
	}
}
