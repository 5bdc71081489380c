package crawler

import (
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

func TestBrowserFilesHoldBrowsersOnly(t *testing.T) {
	samples := readSamples(t, "browsers*.txt")
	for _, s := range samples {
		if s.class != "browser" {
			t.Errorf("%s: got class %q in a file of browsers", s.at, s.class)
		}
	}
	if got, want := len(samples), 650; got < want {
		t.Errorf("got %d browsers, want at least %d", got, want)
	}
}

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
	for _, s := range readSamples(t, "[rs]*s*.txt") {
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
