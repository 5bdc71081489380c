package robotsrules_test

import (
	"testing"

	"github.com/caddy-robots/caddy-robots/robotsrules"
)

func TestClosest(t *testing.T) {
	fields := []string{"User-agent", "Disallow", "Allow", "Sitemap", "Crawl-delay", "Host", "License", "Comment"}
	robots := []string{"GPTBot", "CCBot", "ClaudeBot", "AhrefsBot", "Googlebot", "bingbot"}
	for _, test := range []struct {
		word  string
		known []string
		want  string
	}{
		{"Desallow", fields, "Disallow"}, {"Allows", fields, "Allow"}, {"Dis-allow", fields, "Disallow"}, {"Sitemaps", fields, "Sitemap"},
		{"useg-agent", fields, "User-agent"}, {"Allowed", fields, "Allow"}, {"Licence", fields, "License"}, {"CRAWL_DELAY", fields, "Crawl-delay"},
		{"Disallow", fields, ""}, {"disallow", fields, ""}, {"Cache-delay", fields, ""}, {"Request-rate", fields, ""}, {"Content", fields, ""},
		{"Noarchive", fields, ""}, {"Post", fields, ""}, {"", fields, ""}, {"Allow", nil, ""},
		{"GTPBot", robots, "GPTBot"}, {"AhrefBot", robots, "AhrefsBot"}, {"Goggle bot", robots, "Googlebot"},
		{"MJ12bot", robots, ""}, {"msnbot", robots, ""}, {"bot", robots, ""}, {"Gbot", robots, ""},
	} {
		if got := robotsrules.Closest(test.word, test.known, 2); got != test.want {
			t.Errorf("%q: got %q, want %q", test.word, got, test.want)
		}
	}
}

func TestUnknownWord(t *testing.T) {
	const list = "refuse, observe or wait <duration>"
	for word, want := range map[string]string{
		"refuze":   `"refuze" is unknown; did you mean refuse? Write ` + list,
		"obs":      `"obs" is unknown; did you mean observe? Write ` + list, // the only one that it is a part of
		"se":       `"se" is unknown; write ` + list,
		"duration": `"duration" is unknown; write ` + list,
		"or":       `"or" is unknown; write ` + list,
		"":         `"" is unknown; write ` + list,
		"served":   `"served" is unknown; write ` + list,
	} {
		if got := robotsrules.UnknownWord(word, list).Error(); got != want {
			t.Errorf("%q: got %s, want %s", word, got, want)
		}
	}
}
