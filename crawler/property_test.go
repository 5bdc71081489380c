package crawler

import (
	"math/rand/v2"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var number = regexp.MustCompile(`\d+`)

// noRobot fails the test when a changed browser is taken for a robot.
func noRobot(t *testing.T, s sample, changed string) {
	t.Helper()
	if got := Identify(changed); got.Class == Robot {
		t.Errorf("%s: Identify(%q) = robot %q, want a browser", s.at, changed, got.Name)
	}
}

func TestBrowsersWithOtherVersionsAreNoRobots(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, s := range readSamples(t, "browsers*.txt") {
		for range 20 {
			// What follows Mozilla/ and Opera/ has not changed since 1998.
			head := min(len(s.userAgent), len("Mozilla/5.0"))
			noRobot(t, s, s.userAgent[:head]+number.ReplaceAllStringFunc(s.userAgent[head:], func(string) string {
				return strconv.Itoa(random.IntN(1 << (1 + random.IntN(20))))
			}))
		}
	}
}

func TestBrowsersInAnyCaseAreNoRobots(t *testing.T) {
	for _, s := range readSamples(t, "browsers*.txt") {
		noRobot(t, s, strings.ToUpper(s.userAgent))
		noRobot(t, s, strings.ToLower(s.userAgent))
	}
}

func TestCutOffBrowsersAreNoRobots(t *testing.T) {
	for _, s := range readSamples(t, "browsers*.txt") {
		for end := range len(s.userAgent) {
			noRobot(t, s, s.userAgent[:end])
		}
	}
}

// A phone may be called anything: each robot of the samples becomes a phone's model.
func TestPhonesNamedLikeRobotsAreBrowsers(t *testing.T) {
	forms := []string{
		"Mozilla/5.0 (Linux; Android 9; MODEL) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/96.0.4664.104 Mobile Safari/537.36",
		"Mozilla/5.0 (Linux; U; Android 4.4.2; en-us; MODEL Build/KOT49H) AppleWebKit/534.30 (KHTML, like Gecko) Version/4.0 Mobile Safari/534.30",
		"Opera/9.80 (Android; Opera Mini/36.2/119.58; U; en; MODEL) Presto/2.12.423 Version/12.16",
		"Mozilla/5.0 (Linux; Android 9; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/86.0 Mobile Safari/537.36 [FBAN/EMA;FBDV/MODEL]",
		"Mozilla/5.0 (Linux; Android 9; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/86.0 Mobile Safari/537.36 Instagram 163.0.0.45.122 Android (28/9; 320dpi; 720x1344; MODEL; en_US)",
	}
	tried := 0
	for _, s := range readSamples(t, "robots*.txt") {
		for _, form := range forms {
			userAgent := strings.ReplaceAll(form, "MODEL", s.name)
			if got := Identify(userAgent); got.Class != Browser {
				t.Errorf("Identify(%q) = %s %q, want browser", userAgent, got.Class, got.Name)
			}
			tried++
		}
	}
	if want := 900; tried < want {
		t.Errorf("tried %d User-Agents, want at least %d", tried, want)
	}
}

func TestRobotsInAnyCaseAreRobots(t *testing.T) {
	for _, s := range readSamples(t, "robots*.txt") {
		for _, changed := range []string{strings.ToUpper(s.userAgent), strings.ToLower(s.userAgent)} {
			got := Identify(changed)
			if got.Class != Robot || !strings.EqualFold(got.Name, s.name) {
				t.Errorf("%s: Identify(%q) = %s %q, want robot %q", s.at, changed, got.Class, got.Name, s.name)
			}
		}
	}
}

// FuzzIdentify reads anything as a User-Agent. It holds four properties:
//
//   - repeatable: it reads the same each time;
//   - cut: what is behind MaxLength octets changes nothing;
//   - name: it is a short product token of printable ASCII, and no browser has one;
//   - cached: a Cache says the same.
func FuzzIdentify(f *testing.F) {
	for _, userAgent := range userAgents(readSamples(f, "*.txt"), "") {
		f.Add(userAgent)
	}
	cache := NewCache(64)
	f.Fuzz(func(t *testing.T, userAgent string) {
		got := Identify(userAgent)
		checkName(t, userAgent, got)
		if again := Identify(userAgent); !reflect.DeepEqual(got, again) {
			t.Errorf("repeatable: Identify(%q) = %+v, and then %+v", userAgent, got, again)
		}
		if short := Identify(userAgent[:min(len(userAgent), MaxLength)]); !reflect.DeepEqual(got, short) {
			t.Errorf("cut: Identify(%q) = %+v, but %+v", userAgent, got, short)
		}
		checkCached(t, cache, userAgent, got)
	})
}

func checkName(t *testing.T, userAgent string, got Identity) {
	t.Helper()
	if (got.Class == Browser || got.Class == Unstated) && got.Name != "" {
		t.Errorf("name: Identify(%q): got name %q of a %s, want none", userAgent, got.Name, got.Class)
	}
	if len(got.Name) > maxName || strings.Contains(got.Name, "/") || strings.EqualFold(got.Name, "mozilla") {
		t.Errorf("name: Identify(%q): got name %q, want a product token of at most %d octets", userAgent, got.Name, maxName)
	}
	for _, text := range append([]string{got.Name}, got.Products...) {
		for i := range len(text) {
			if text[i] < ' ' || text[i] > '~' || strings.IndexByte(noName, text[i]) >= 0 {
				t.Errorf("name: Identify(%q): got %q with octet %#x, want printable ASCII", userAgent, text, text[i])
			}
		}
	}
	if len(got.Text) > MaxLength || len(got.Products) > maxProducts {
		t.Errorf("name: Identify(%q): got %d octets of text and %d products", userAgent, len(got.Text), len(got.Products))
	}
}

func checkCached(t *testing.T, cache *Cache, userAgent string, want Identity) {
	t.Helper()
	if want.Class == Browser {
		want = Identity{}
	}
	for range 3 {
		got := *cache.Identify(userAgent)
		got.Hash = 0 // which only a Cache gives
		if !reflect.DeepEqual(got, want) {
			t.Errorf("cached: Identify(%q) = %+v, want %+v", userAgent, got, want)
		}
	}
}

func TestIdentitiesOfACacheHaveDifferentHashes(t *testing.T) {
	cache := NewCache(4096)
	seen := map[uint64]string{0: "nobody"}
	for _, s := range readSamples(t, "*.txt") {
		id := cache.Identify(s.userAgent)
		if id.Class == Browser && id.Hash != 0 {
			t.Errorf("browser %q: got hash %d, want 0", s.userAgent, id.Hash)
		}
		if id.Class != Robot && id.Class != App {
			continue
		}
		if other, taken := seen[id.Hash]; taken && other != s.userAgent {
			t.Errorf("%q has the hash of %q", s.userAgent, other)
		}
		seen[id.Hash] = s.userAgent
	}
	if len(seen) < 100 {
		t.Errorf("compared %d identities, want at least 100", len(seen))
	}
}
