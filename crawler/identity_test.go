package crawler

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"unsafe"
)

func TestEverySampleHasItsClassAndName(t *testing.T) {
	samples := readSamples(t, "*.txt")
	for _, s := range samples {
		got := Identify(s.userAgent)
		if got.Class.String() != s.class || got.Name != s.name {
			t.Errorf("%s: Identify(%q) = %s %q, want %s %q", s.at, s.userAgent, got.Class, got.Name, s.class, s.name)
		}
	}
	if got, want := len(samples), 550; got < want {
		t.Errorf("got %d samples, want at least %d", got, want)
	}
}

func TestBrowserFilesHoldBrowsersOnly(t *testing.T) {
	samples := readSamples(t, "browsers*.txt")
	for _, s := range samples {
		if s.class != "browser" {
			t.Errorf("%s: got class %q in a file of browsers", s.at, s.class)
		}
	}
	if got, want := len(samples), 250; got < want {
		t.Errorf("got %d browsers, want at least %d", got, want)
	}
}

// The three forms in which operators write the name of a robot.
func TestEveryRobotIsNamedInTheUsualForms(t *testing.T) {
	forms := []string{
		"Mozilla/5.0 (compatible; NAME/1.0; +http://x.example/bot)",
		"Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; NAME/1.0; +http://x.example/bot) Chrome/142.0.0.0 Safari/537.36",
		"Mozilla/5.0 (Linux; Android 6.0.1; Nexus 5X Build/MMB29P) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Mobile Safari/537.36 (compatible; NAME/1.0; +http://x.example/bot)",
		"NAME/1.0 (+http://x.example/bot)",
	}
	tried := 0
	for _, s := range readSamples(t, "robots*.txt") {
		for _, form := range forms {
			userAgent := strings.ReplaceAll(form, "NAME", s.name)
			got := Identify(userAgent)
			if got.Class != Robot || got.Name != s.name {
				t.Errorf("Identify(%q) = %s %q, want robot %q", userAgent, got.Class, got.Name, s.name)
			}
			if !slices.Contains(got.Products, s.name) {
				t.Errorf("Identify(%q).Products = %q, want %q among them", userAgent, got.Products, s.name)
			}
			tried++
		}
	}
	if want := 700; tried < want {
		t.Errorf("tried %d User-Agents, want at least %d", tried, want)
	}
}

func TestTextLeavesOutPlatformComments(t *testing.T) {
	tests := []struct{ name, userAgent, want string }{
		{
			"a robot dressed as a phone",
			"Mozilla/5.0 (Linux; Android 6.0.1; Nexus 5X) AppleWebKit/537.36 (KHTML, like Gecko) (compatible; Googlebot/2.1)",
			"Mozilla/5.0  AppleWebKit/537.36 (KHTML, like Gecko) (compatible; Googlebot/2.1)",
		},
		{"a robot's own comment stays", "Mozilla/5.0 (compatible; GPTBot/1.0)", "Mozilla/5.0 (compatible; GPTBot/1.0)"},
		{"a robot named among the platform keeps it", "Mozilla/5.0 (X11; Linux x86_64; Storebot-Google/1.0) Chrome/79.0", "Mozilla/5.0 (X11; Linux x86_64; Storebot-Google/1.0) Chrome/79.0"},
		{"an unclosed platform comment", "Mozilla/5.0 (Linux; Android 9; XBot", "Mozilla/5.0 "},
		{"parentheses in a platform comment", "Mozilla/5.0 (Linux; (a) b) Chrome", "Mozilla/5.0  Chrome"},
		{"a library", " curl/8.5.0 ", "curl/8.5.0"},
		{"nothing", "  ", ""},
	}
	for _, test := range tests {
		if got := Identify(test.userAgent).Text; got != test.want {
			t.Errorf("%s: Identify(%q).Text = %q, want %q", test.name, test.userAgent, got, test.want)
		}
	}
}

func TestProductsAreListedInOrderWithoutVersions(t *testing.T) {
	tests := []struct {
		userAgent string
		want      []string
	}{
		{"FigTree/0.1 Robot libwww-perl/5.04", []string{"FigTree", "Robot", "libwww-perl"}},
		{"Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)", []string{"Mozilla", "bingbot"}},
		{"Mozilla/5.0 (Linux; Android 9; XBot) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/96.0 Mobile Safari/537.36 (compatible; GoogleOther)",
			[]string{"Mozilla", "AppleWebKit", "Chrome", "Mobile", "Safari", "GoogleOther"}},
		{"Sogou web spider/4.0(+http://www.sogou.com/docs/help/webmasters.htm#07)", []string{"Sogou web spider"}},
		{"python-requests/2.32.3", []string{"python-requests"}},
		{"a/1 a/2 a/3", []string{"a"}},
		{"", nil},
	}
	for _, test := range tests {
		if got := Identify(test.userAgent).Products; !slices.Equal(got, test.want) {
			t.Errorf("Identify(%q).Products = %q, want %q", test.userAgent, got, test.want)
		}
	}
}

func TestOnlyTheFirstOctetsAreRead(t *testing.T) {
	padding := strings.Repeat("a ", MaxLength/2)
	if got := Identify(padding + "bot").Class; got != App {
		t.Errorf("a robot's word behind %d octets: got %s, want app", MaxLength, got)
	}
	if got := Identify(padding[:MaxLength-4] + " bot").Class; got != Robot {
		t.Errorf("a robot's word within %d octets: got %s, want robot", MaxLength, got)
	}
}

func TestIdentityDoesNotKeepALongHeaderAlive(t *testing.T) {
	long := "FooBot/1.0 " + strings.Repeat("x", 64<<10)
	got := Identify(long)
	from := uintptr(unsafe.Pointer(unsafe.StringData(long)))
	for _, kept := range append([]string{got.Name, got.Text}, got.Products...) {
		if at := uintptr(unsafe.Pointer(unsafe.StringData(kept))); from <= at && at < from+uintptr(len(long)) {
			t.Errorf("%.20q is a part of the header it was read from, want a copy", kept)
		}
	}
}

func TestZeroIdentityIsABrowser(t *testing.T) {
	if got := (Identity{}).Class; got != Browser {
		t.Errorf("got class %s of the zero Identity, want browser", got)
	}
}

func TestClassesHaveNames(t *testing.T) {
	got := []string{Browser.String(), App.String(), Robot.String(), Unstated.String(), Class(99).String()}
	want := []string{"browser", "app", "robot", "unstated", "unknown"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestAsRobotNamesWhatIdentifyDoesNotKnow(t *testing.T) {
	for userAgent, want := range map[string]string{
		"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/142.0.0.0 Safari/537.36 Probely/1.0": "Probely",
		"ExampleReader/4.2": "ExampleReader",
		"":                  "",
	} {
		got := AsRobot(userAgent)
		if got.Class != Robot || got.Name != want {
			t.Errorf("AsRobot(%q) = %s %q, want robot %q", userAgent, got.Class, got.Name, want)
		}
	}
}
