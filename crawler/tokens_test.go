package crawler

import (
	"strings"
	"testing"
)

func TestTokensFileIsWellFormed(t *testing.T) {
	if errTokens != nil {
		t.Fatal(errTokens)
	}
	if len(tokens.control) < 2 || len(tokens.crowd) < 20 {
		t.Errorf("got %d control and %d crowd tokens", len(tokens.control), len(tokens.crowd))
	}
}

func TestMalformedTokensFilesAreRefused(t *testing.T) {
	for _, text := range []string{
		"word", "[crowd tokens]\nBot", "[crowd tokens]\nbot\nbot", "[control tokens]\nx", "[crowd tokens]\na = b", "[other]\nx",
	} {
		if _, err := parseTokens(text); err == nil {
			t.Errorf("%q is accepted", text)
		}
	}
}

func TestTokenAdvice(t *testing.T) {
	for token, want := range map[string]string{
		"Google-Extended": "control token", "applebot-EXTENDED": "control token",
		"es": "so short", "x": "so short", "Bot": "binds all", "Mozilla": "binds all",
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
