package crawler

import (
	"testing"
)

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
