package crawler

import (
	"strings"
	"testing"
)

func TestTextIsWhatTheClientSaysOfItself(t *testing.T) {
	tests := []struct{ name, userAgent, want string }{
		{
			"a robot dressed as a phone",
			"Mozilla/5.0 (Linux; Android 6.0.1; Nexus 5X) AppleWebKit/537.36 (KHTML, like Gecko) (compatible; Googlebot/2.1)",
			"Googlebot",
		},
		{"a robot's own comment", "Mozilla/5.0 (compatible; GPTBot/1.0; +https://openai.com/gptbot)", "GPTBot"},
		{"a robot named among the platform", "Mozilla/5.0 (X11; Linux x86_64; Storebot-Google/1.0) Chrome/79.0", "x86_64; Storebot-Google"},
		{
			"a robot named there beside its address",
			"Mozilla/5.0 (X11; Linux x86_64; rv:10.0; archive.org_bot; Archive-It; +http://archive-it.org/files/site-owners.html) Gecko/20100101 Firefox/10.0",
			"x86_64; archive.org_bot; Archive-It",
		},
		{"an address without its scheme", "Devin/1.0; +devin.ai", "Devin"},
		{"e-mail", "Mozilla/5.0 (compatible; ClaudeBot/1.0; +claudebot@anthropic.com)", "ClaudeBot"},
		{"an address of code", "AppEngine-Google; (+http://code.google.com/appengine; appid: s~x)", "AppEngine-Google; appid: s~x"},
		{"a name that is an address", "Mozilla/5.0 (compatible; +http://robot.example/)", "robot.example"},
		{"names beside it", "FigTree/0.1 Robot libwww-perl/5.04", "FigTree Robot libwww-perl"},
		{"blanks in a name", "Sogou web spider/4.0(+http://www.sogou.com/docs/help/webmasters.htm#07)", "Sogou web spider"},
		{"a browser", "Mozilla/5.0 (Linux; Android 9; XBot", ""},
		{"a library", " curl/8.5.0 ", "curl"},
		{"nothing", "  ", ""},
	}
	for _, test := range tests {
		if got := Identify(test.userAgent).Text; got != test.want {
			t.Errorf("%s: Identify(%q).Text = %q, want %q", test.name, test.userAgent, got, test.want)
		}
	}
}

// A client whose User-Agent has nothing but browsers' words is called so.
func TestBrowsersWordsAreTheTextIfNothingElseIs(t *testing.T) {
	for userAgent, want := range map[string]string{
		"Mozilla": "Mozilla", "Mozilla/5.0": "Mozilla", "Mozilla/5.0 (Windows NT 10.0) Chrome/142.0": "Mozilla Chrome",
		"Mozilla/5.0 (X11) AppleWebKit/537.36 HeadlessChrome/142.0": "HeadlessChrome",
	} {
		if got := AsRobot(userAgent).Text; strings.ReplaceAll(got, ";", "") != want {
			t.Errorf("AsRobot(%q).Text = %q, want %q", userAgent, got, want)
		}
	}
}
