package crawler

import (
	"slices"
	"testing"
)

func TestAdviceFileIsWellFormed(t *testing.T) {
	if errAdvice != nil {
		t.Fatal(errAdvice)
	}
	if len(advice.control) < 2 || len(advice.crowd) < 5 {
		t.Errorf("got %d control and %d crowd tokens", len(advice.control), len(advice.crowd))
	}
}

func TestControlTokensAreAboutCrawlersOfTheCatalogue(t *testing.T) {
	for token, robot := range advice.control {
		if _, ok := Find(robot); !ok {
			t.Errorf("%s is about %s, which is not in the catalogue", token, robot)
		}
		if c, ok := Find(token); ok {
			t.Errorf("%s stands in the catalogue, at %s, but no request carries it", token, c.Name)
		}
	}
}

func TestMalformedAdviceFilesAreRefused(t *testing.T) {
	for _, text := range []string{
		"word", "[crowd tokens]\nBot", "[crowd tokens]\nbot\nbot", "[control tokens]\nx", "[crowd tokens]\na = b", "[other]\nx",
	} {
		if _, err := parseAdvice(text); err == nil {
			t.Errorf("%q is accepted", text)
		}
	}
}

func TestTokenAdvice(t *testing.T) {
	for token, want := range map[string]string{
		"Google-Extended": ControlToken, "applebot-EXTENDED": ControlToken,
		"es": CrowdToken, "x": CrowdToken, "Google": CrowdToken, "java": CrowdToken,
		"HeadlessChrome": DressedAsBrowser, "ptst": DressedAsBrowser,
		"GPTBot CCBot": RobotsWithoutLine, "Googlebot Bingbot Applebot": RobotsWithoutLine,
		"GPTBot": "", "Googlebot": "", "008": "", "*": "", "": "", "Download Ninja": "", "Yahoo! Slurp": "", "Better Uptime Bot": "",
	} {
		got := TokenAdvice(token)
		if got.Code != want || want != "" && (got.What == "" || got.Instead == "") {
			t.Errorf("%q: got %+v, want %q", token, got, want)
		}
		if want != "" && !slices.Contains(AdviceCodes(), want) {
			t.Errorf("%s is not among the AdviceCodes", want)
		}
	}
}

// What wears a browser's clothes is a browser, whatever it adds to them.
func TestDressedAsBrowsersAreBrowsers(t *testing.T) {
	for word := range advice.dressed {
		userAgent := "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36 " + word + "/1.0"
		if got := Identify(userAgent); got.Class != Browser {
			t.Errorf("%s: got %v, want a browser", userAgent, got.Class)
		}
	}
}

// A name that a robot in our cases gives itself must never be called a crowd's.
func TestNoRobotsNameIsACrowdToken(t *testing.T) {
	names := 0
	for _, s := range readSamples(t, "robots*.txt") {
		if got := TokenAdvice(s.name); got.Code != "" && s.name != "" {
			t.Errorf("%s: %s", s.at, got.What)
		}
		names++
	}
	if names < 100 {
		t.Errorf("looked at %d names, want at least 100", names)
	}
}
