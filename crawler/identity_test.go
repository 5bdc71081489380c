package crawler

import (
	"reflect"
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
	if got, want := len(samples), 1900; got < want {
		t.Errorf("got %d samples, want at least %d", got, want)
	}
}

func TestOnlyTheFirstBytesAreRead(t *testing.T) {
	padding := strings.Repeat("a ", MaxLength/2)
	if got := Identify(padding + "bot").Class; got != App {
		t.Errorf("a robot's word behind %d bytes: got %s, want app", MaxLength, got)
	}
	if got := Identify(padding[:MaxLength-4] + " bot").Class; got != Robot {
		t.Errorf("a robot's word within %d bytes: got %s, want robot", MaxLength, got)
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
	got := []string{Browser.String(), App.String(), Robot.String(), Unstated.String(), Service.String(), Class(99).String()}
	want := []string{"browser", "app", "robot", "unstated", "service", "unknown"}
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

// FuzzIdentify reads anything as a User-Agent. It holds five properties:
//
//   - repeatable: it reads the same each time;
//   - cut: what is behind MaxLength bytes changes nothing;
//   - name: it is a short product token of printable ASCII, and no browser has one;
//   - hosts: only a robot gives some, a few, each a part of what it sent and without a path;
//   - cached: a Cache says the same.
func FuzzIdentify(f *testing.F) {
	for _, userAgent := range userAgents(readSamples(f, "*.txt"), "") {
		f.Add(userAgent)
	}
	cache := NewCache(64)
	f.Fuzz(func(t *testing.T, userAgent string) {
		got := Identify(userAgent)
		checkName(t, userAgent, got)
		checkGivenHosts(t, userAgent, got)
		if again := Identify(userAgent); !reflect.DeepEqual(got, again) {
			t.Errorf("repeatable: Identify(%q) = %+v, and then %+v", userAgent, got, again)
		}
		if short := Identify(userAgent[:min(len(userAgent), MaxLength)]); !reflect.DeepEqual(got, short) {
			t.Errorf("cut: Identify(%q) = %+v, but %+v", userAgent, got, short)
		}
		checkCached(t, cache, userAgent, got)
	})
}

func checkGivenHosts(t *testing.T, userAgent string, got Identity) {
	t.Helper()
	if len(got.Hosts) > maxHosts || got.Class != Robot && len(got.Hosts) > 0 {
		t.Errorf("hosts: Identify(%q): a %s gives %q", userAgent, got.Class, got.Hosts)
	}
	var buffer [MaxLength]byte
	lower := string(read(cut(userAgent), buffer[:]).lower)
	for _, host := range got.Hosts {
		if host == "" || strings.ContainsAny(host, " /?#@()") || !strings.Contains(lower, host) || !got.GivesHost(host) {
			t.Errorf("hosts: Identify(%q) gives %q", userAgent, host)
		}
	}
}

func checkName(t *testing.T, userAgent string, got Identity) {
	t.Helper()
	if (got.Class == Browser || got.Class == Unstated) && got.Name != "" {
		t.Errorf("name: Identify(%q): got name %q of a %s, want none", userAgent, got.Name, got.Class)
	}
	if len(got.Name) > maxName || strings.Contains(got.Name, "/") || strings.EqualFold(got.Name, "mozilla") {
		t.Errorf("name: Identify(%q): got name %q, want a product token of at most %d bytes", userAgent, got.Name, maxName)
	}
	for _, text := range append([]string{got.Name}, got.Products...) {
		for i := range len(text) {
			if text[i] < ' ' || text[i] > '~' || strings.IndexByte(noName, text[i]) >= 0 {
				t.Errorf("name: Identify(%q): got %q with byte %#x, want printable ASCII", userAgent, text, text[i])
			}
		}
	}
	if len(got.Text) > 2*MaxLength || len(got.Products) > maxProducts {
		t.Errorf("name: Identify(%q): got %d bytes of text and %d products", userAgent, len(got.Text), len(got.Products))
	}
}
