package crawler

import (
	"strings"
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
		"Google-Extended": "control token", "applebot-EXTENDED": "control token",
		"es": "so short", "x": "so short", "Google": "binds all", "java": "binds all",
		"GPTBot": "", "Googlebot": "", "008": "", "*": "", "": "", "Download Ninja": "",
	} {
		what, instead := TokenAdvice(token)
		if want == "" && what+instead != "" || !strings.Contains(what, want) || want != "" && instead == "" {
			t.Errorf("%q: got %q, %q; want %q", token, what, instead, want)
		}
	}
}

// A name that a robot in our cases gives itself must never be called a crowd's.
func TestNoRobotsNameIsACrowdToken(t *testing.T) {
	names := 0
	for _, s := range readSamples(t, "robots*.txt") {
		if what, _ := TokenAdvice(s.name); what != "" && s.name != "" {
			t.Errorf("%s: %s", s.at, what)
		}
		names++
	}
	if names < 100 {
		t.Errorf("looked at %d names, want at least 100", names)
	}
}
