package proof

import (
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	tokenForm  = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9]*(-[A-Za-z0-9]+)*$`)
	suffixForm = regexp.MustCompile(`^[a-z0-9-]+(\.[a-z0-9-]+)+$`)
)

func TestEveryRowOfTheKnownTableIsWellFormed(t *testing.T) {
	rows := 0
	seen := map[string]bool{}
	for number, line := range slices.Collect(strings.Lines(knownText)) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		rows++
		fields := strings.Split(line, " | ")
		if len(fields) != 3 || !tokenForm.MatchString(fields[0]) {
			t.Errorf("line %d: %q, want token | dns or ranges | value", number+1, line)
			continue
		}
		if seen[fields[0]+fields[1]] {
			t.Errorf("line %d: %s has %s twice", number+1, fields[0], fields[1])
		}
		seen[fields[0]+fields[1]] = true
		switch fields[1] {
		case "dns":
			checkSuffixes(t, number+1, strings.Fields(fields[2]))
		case "ranges":
			checkRangeURL(t, number+1, fields[2])
		default:
			t.Errorf("line %d: %q, want dns or ranges", number+1, fields[1])
		}
	}
	if rows < 40 {
		t.Errorf("%d rows, want 40 at least", rows)
	}
}

func checkSuffixes(t *testing.T, line int, suffixes []string) {
	t.Helper()
	if len(suffixes) == 0 {
		t.Errorf("line %d: no suffix", line)
	}
	for _, suffix := range suffixes {
		if !suffixForm.MatchString(suffix) {
			t.Errorf("line %d: the suffix %q, want a domain in lower case, such as googlebot.com", line, suffix)
		}
	}
}

func checkRangeURL(t *testing.T, line int, text string) {
	t.Helper()
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "https" || u.Host == "" || u.Path == "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		t.Errorf("line %d: the address %q (%v), want one that begins with https:// and is without a query", line, text, err)
	}
}

func TestTheKnownTableIsDated(t *testing.T) {
	if first, _, _ := strings.Cut(knownText, "\n"); !regexp.MustCompile(`Dated 20\d\d-\d\d-\d\d\.$`).MatchString(first) {
		t.Errorf("the first line is %q, want it to end in a date", first)
	}
}

func TestKnownGathersTheRowsOfAToken(t *testing.T) {
	claims := map[string]Claim{}
	rows := 0
	for _, claim := range Known() {
		if _, ok := claims[claim.Token]; ok {
			t.Errorf("%s is claimed twice", claim.Token)
		}
		if len(claim.DNS)+len(claim.Ranges) == 0 {
			t.Errorf("%s can be proved by nothing", claim.Token)
		}
		claims[claim.Token] = claim
		rows += min(len(claim.DNS), 1) + len(claim.Ranges)
	}
	if want := strings.Count(knownText, " | dns | ") + strings.Count(knownText, "| https://"); rows != want {
		t.Errorf("%d rows are claimed, want all %d", rows, want)
	}
	googlebot := claims["Googlebot"]
	if got, want := googlebot.DNS, []string{"googlebot.com"}; !slices.Equal(got, want) {
		t.Errorf("Googlebot's suffixes are %q, want %q", got, want)
	}
	if got, want := len(googlebot.Ranges), 1; got != want {
		t.Errorf("Googlebot has %d lists, want %d", got, want)
	}
	if got, want := claims["YandexBot"].DNS, []string{"yandex.ru", "yandex.net", "yandex.com"}; !slices.Equal(got, want) {
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
		[]Claim{{Token: "GoogleBot", DNS: []string{"a.example"}}, {Token: "mybot", Ranges: []string{"192.0.2.1"}}, {Token: "googlebot", Ranges: []string{"192.0.2.2"}}},
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
