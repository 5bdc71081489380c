package crawler

import (
	"slices"
	"strings"
	"testing"
)

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
	if want := 650; tried < want {
		t.Errorf("tried %d User-Agents, want at least %d", tried, want)
	}
}
