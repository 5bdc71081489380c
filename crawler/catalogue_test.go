package crawler

import (
	"strings"
	"testing"
)

// wellKnownNames are the entries of wellknown.txt, in its order.
func wellKnownNames() []string {
	var names []string
	for line := range strings.Lines(wellKnownFile) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' && line[0] != '[' {
			names = append(names, line)
		}
	}
	return names
}

func TestWellKnownNamesAreWhatIdentifyGives(t *testing.T) {
	names := wellKnownNames()
	if len(names) < 120 {
		t.Fatalf("got %d well-known names, want at least 120", len(names))
	}
	for _, name := range names {
		userAgent := "Mozilla/5.0 (compatible; " + name + "/1.0; +https://robot.example/about)"
		if who := Identify(userAgent); who.Class != Robot && who.Class != Service || who.Name != name {
			t.Errorf("%q: got %s %q, want robot or service %q", userAgent, who.Class, who.Name, name)
		}
	}
}

// A robot in our cases that is well known by its key is so under the name it gives itself.
func TestWellKnownNamesAreSpeltAsTheRobotsSpellThem(t *testing.T) {
	met := map[string]bool{}
	for _, s := range readSamples(t, "[rs]*s*.txt") {
		who := Identify(s.userAgent)
		name, ok := WellKnown(who.Key)
		if ok && name != who.Name {
			t.Errorf("%s: got %q, want %q", s.at, name, who.Name)
		}
		met[name] = ok
	}
	if len(met) < 100 {
		t.Errorf("got %d well-known robots among the cases, want at least 100", len(met))
	}
}

func TestNoWellKnownNameStandsTwice(t *testing.T) {
	names := wellKnownNames()
	if got := len(wellKnown); got != len(names) {
		t.Errorf("got %d names of %d lines, want as many", got, len(names))
	}
}

func TestStrangersAreNotWellKnown(t *testing.T) {
	for _, key := range []string{"", "*", "examplebot", "GPTBot", "curl"} {
		if name, ok := WellKnown(key); ok {
			t.Errorf("%q: got %q, want nobody", key, name)
		}
	}
}

func TestWellKnownDoesNotAllocate(t *testing.T) {
	allocations := testing.AllocsPerRun(100, func() {
		WellKnown("gptbot")
		WellKnown("nobody-knows-this-one")
	})
	if allocations != 0 {
		t.Errorf("got %v allocations, want 0", allocations)
	}
}

func TestAdviceFileIsWellFormed(t *testing.T) {
	if errAdvice != nil {
		t.Fatal(errAdvice)
	}
	if len(advice.control) < 2 || len(advice.crowd) < 5 {
		t.Errorf("got %d control and %d crowd tokens", len(advice.control), len(advice.crowd))
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
