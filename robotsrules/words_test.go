package robotsrules_test

import (
	"slices"
	"testing"

	"github.com/caddy-robots/caddy-robots/robotsrules"
)

// What the values of real files name, in each dialect.
func TestValuesNameRobots(t *testing.T) {
	for value, want := range map[string][]string{
		"GPTBot": {"GPTBot"}, "WebBandit/3.50": {"WebBandit"}, "GPTBot, CCBot": {"GPTBot", "CCBot"}, "a/1.0 , b* ,": {"a", "b"},
		"Mozilla/4.0 (compatible; BullsEye; Windows 95)":                                                                  {"BullsEye"},
		"Mozilla/5.0 (compatible; SemrushBot/7~bl; +http://www.semrush.com/bot.html)":                                     {"SemrushBot"},
		"Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.3; +https://openai.com/gptbot)":          {"GPTBot"},
		"Mozilla/5.0 (X11; Linux x86_64; rv:10.0; archive.org_bot; +http://archive-it.org/files)":                         {"archive.org_bot"},
		"Mozilla/5.0 (compatible; Yahoo! Slurp; http://help.yahoo.com/help/us/ysearch/slurp)":                             {"Yahoo! Slurp"},
		"Mozilla/4.5 (compatible; HTTrack 3.0x; Windows 98)":                                                              {"HTTrack"},
		"Mozilla/4.0 (compatible; MSIE 6.0; Windows NT 5.1; SV1)":                                                         {"Mozilla"},
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36": {"Mozilla"},
		"Mozilla": {"Mozilla"}, "Mozilla/5.0": {"Mozilla"}, "Opera/9.80 (X11; Linux)": {"Opera"}, "Mozilla Foundation Bot": {"Mozilla Foundation Bot"},
		"FigTree/0.1 Robot libwww-perl/5.04": {"FigTree"}, "Download Ninja": {"Download Ninja"}, ",": nil, "/": nil, ", ,": nil,
		"Mozilla/5.0 (": {"Mozilla"}, "Mozilla/5.0 (compatible;": {"Mozilla"}, "Mozilla/5.0 (compatible; ;)": {"Mozilla"},
		"Mozilla/5.0 (compatible; +bingbot/2.0; +http://x)": {"bingbot"},
	} {
		for d := range robotsrules.Dialect(3) {
			file := robotsrules.Parse([]byte("User-agent: "+value+"\nDisallow: /\n"), robotsrules.Options{Dialect: d})
			var got []string
			for _, token := range file.Groups[0].Tokens {
				got = append(got, token.Value)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s: %q names %q, want %q", d, value, got, want)
			}
			again := robotsrules.Parse([]byte(file.String()), robotsrules.Options{Dialect: d})
			if len(again.Groups) != 1 || len(again.Groups[0].Tokens) != len(want) {
				t.Errorf("%s: %q is written as %q", d, value, file.String())
			}
		}
	}
}

// A word that is no robot's name binds the robot that is called just that, in every match.
func TestCommonWordsBindWhoIsCalledSo(t *testing.T) {
	for _, m := range []robotsrules.Match{robotsrules.MatchSubstring, robotsrules.MatchToken} {
		p := robotsrules.Compile(robotsrules.Parse([]byte("User-agent: Spider\nDisallow: /\n\nUser-agent: example\nDisallow: /\n"), robotsrules.Options{}), m)
		for _, c := range []struct {
			robot robotsrules.Robot
			line  int
		}{
			{robotsrules.Robot{UserAgent: "spider", Name: "spider", Products: []string{"spider"}}, 1},
			{robotsrules.Robot{UserAgent: "SPIDER"}, 1},
			{robotsrules.Robot{UserAgent: "Sogou web spider", Name: "Sogou web spider", Products: []string{"Sogou", "web", "spider"}}, 0},
			{robotsrules.Robot{UserAgent: "Baiduspider", Name: "Baiduspider", Products: []string{"Baiduspider"}}, 0},
			{robotsrules.Robot{UserAgent: "example spider", Name: "example", Products: []string{"example", "spider"}}, 4},
			{robotsrules.Robot{}, 0},
		} {
			if got := p.Find(c.robot).Line(); got != c.line {
				t.Errorf("%s: Find(%+v) = the record of line %d, want %d", m, c.robot, got, c.line)
			}
		}
	}
}

func TestProgramsAreFoundByTheirProducts(t *testing.T) {
	text := "User-agent: libwww\nDisallow: /\n\nUser-agent: libwww-perl\nDisallow: /\n\nUser-agent: http\nDisallow: /\n"
	for _, c := range []struct {
		match    robotsrules.Match
		name     string
		products []string
		whole    bool
		line     int
	}{
		{robotsrules.MatchSubstring, "libwww-perl", []string{"libwww-perl"}, false, 4},
		{robotsrules.MatchSubstring, "Lib", []string{"Lib", "libwww-x-y"}, false, 1},
		{robotsrules.MatchSubstring, "libwww-x", []string{"libwww-x"}, true, 0},
		{robotsrules.MatchToken, "libwww-x", []string{"libwww-x"}, false, 0},
		{robotsrules.MatchToken, "libwww", []string{"libwww"}, false, 1},
		{robotsrules.MatchSubstring, "http", []string{"http"}, false, 7},
		{robotsrules.MatchSubstring, "http-client", []string{"http-client"}, false, 0},
		{robotsrules.MatchSubstring, "x", nil, false, 0},
	} {
		p := robotsrules.Compile(robotsrules.Parse([]byte(text), robotsrules.Options{}), c.match)
		if got := p.FindProgram(robotsrules.Robot{Name: c.name, Products: c.products}, c.whole).Line(); got != c.line {
			t.Errorf("%s: FindProgram(%q, %t) = the record of line %d, want %d", c.match, c.products, c.whole, got, c.line)
		}
	}
	var none *robotsrules.Policy
	if none.FindProgram(robotsrules.Robot{Name: "x", Products: []string{"x"}}, false) != nil || none.NamesProgram(robotsrules.Token{Value: "x"}, robotsrules.Robot{Name: "x", Products: []string{"x"}}, false) {
		t.Error("a nil Policy names a program")
	}
}
