package proof

import (
	"net/url"
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
		if len(claim.Suffixes)+len(claim.RangeURLs) == 0 {
			t.Errorf("%s can be proved by nothing", claim.Token)
		}
		claims[claim.Token] = claim
		rows += min(len(claim.Suffixes), 1) + len(claim.RangeURLs)
	}
	if want := strings.Count(knownText, " | dns | ") + strings.Count(knownText, "| https://"); rows != want {
		t.Errorf("%d rows are claimed, want all %d", rows, want)
	}
	googlebot := claims["Googlebot"]
	if got, want := googlebot.Suffixes, []string{"googlebot.com"}; !slices.Equal(got, want) {
		t.Errorf("Googlebot's suffixes are %q, want %q", got, want)
	}
	if got, want := len(googlebot.RangeURLs), 1; got != want {
		t.Errorf("Googlebot has %d lists, want %d", got, want)
	}
	if got, want := claims["YandexBot"].Suffixes, []string{"yandex.ru", "yandex.net", "yandex.com"}; !slices.Equal(got, want) {
		t.Errorf("YandexBot's suffixes are %q, want %q", got, want)
	}
}

func TestKnownIsTheCallersOwn(t *testing.T) {
	Known()[0].Suffixes[0] = "evil.example"
	if got := Known()[0].Suffixes[0]; got == "evil.example" {
		t.Errorf("Known()[0].Suffixes[0] = %q after a caller changed its own", got)
	}
}
