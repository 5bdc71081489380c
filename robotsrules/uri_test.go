package robotsrules_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/robotsrules"
)

func TestWhatNoURIHoldsIsEncoded(t *testing.T) {
	for s, want := range map[string]string{
		"https://a.example/b?c=d&e=%C3%A9": "https://a.example/b?c=d&e=%C3%A9",
		"a b\t<c>\"d\"#e\\^`{|}":           "a%20b%09%3Cc%3E%22d%22%23e%5C%5E%60%7B%7C%7D",
		"\r\n\x00\x7f":                     "%0D%0A%00%7F",
		"é":                                "%C3%A9",
		"100%":                             "100%",
		"":                                 "",
	} {
		if got := string(robotsrules.AppendURI([]byte("x"), s)); got != "x"+want {
			t.Errorf("AppendURI(%q) = %q, want %q", s, got, "x"+want)
		}
	}
}

// FuzzAppendURI holds two properties: what is appended holds bytes of URIs only, and
// those stay as they are.
func FuzzAppendURI(f *testing.F) {
	f.Add("/a>;rel=\"x\"\r\n#é%41")
	f.Fuzz(func(t *testing.T, s string) {
		got := string(robotsrules.AppendURI(nil, s))
		if strings.Trim(got, uriBytes) != "" {
			t.Errorf("AppendURI(%q) = %q, which is no URI", s, got)
		}
		if again := string(robotsrules.AppendURI(nil, got)); again != got {
			t.Errorf("AppendURI(%q) = %q, want no change", got, again)
		}
		if strings.Trim(s, uriBytes) == "" && got != s {
			t.Errorf("AppendURI(%q) = %q, want no change", s, got)
		}
	})
}

func TestAFileHasAtMost64TimeGates(t *testing.T) {
	var text strings.Builder
	for i := range 66 {
		fmt.Fprintf(&text, "TimeGate: http://%d.example/\nArchived: *\n", i)
	}
	file := robotsrules.Parse([]byte(text.String()), robotsrules.Options{})
	p := robotsrules.Compile(file, robotsrules.MatchSubstring)
	if got := p.TimeGates(nil, "a.example", "/"); len(got) != 64 || got[63] != "http://63.example/" {
		t.Errorf("got %d time gates, want 64: %q", len(got), got)
	}
	if got := file.Diagnostics; len(got) != 2 || got[0].Line != 129 || got[1].Line != 131 {
		t.Errorf("got diagnostics %v, want one for each of lines 129 and 131", got)
	}
}

func TestLongValuesAreNotForHeaders(t *testing.T) {
	long := strings.Repeat("a", 2048)
	text := "Sitemap: http://a.example/" + long + "\nLicense: /" + long + "\nTimeGate: http://a.example/" + long +
		"\nArchived: *\nUser-agent: *\nContent-Usage: " + long + "a=b\n"
	file := robotsrules.Parse([]byte(text), robotsrules.Options{})
	p := robotsrules.Compile(file, robotsrules.MatchSubstring)
	if got := len(p.Sitemaps()) + len(p.Licenses()) + len(p.TimeGates(nil, "a.example", "/")); got != 0 {
		t.Errorf("got %d links, want none", got)
	}
	if got := p.Default().State("/"); got != (robotsrules.Statement{}) {
		t.Errorf("State = %+v, want nothing", got)
	}
	for i, line := range []int{1, 2, 3, 6} {
		if len(file.Diagnostics) != 4 || file.Diagnostics[i].Line != line || !strings.Contains(file.Diagnostics[i].Message, "longer than 2 KiB") {
			t.Fatalf("got diagnostics %v, want that lines 1, 2, 3 and 6 are too long", file.Diagnostics)
		}
	}
}
