package robotsrules_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/caddy-robots/caddy-robots/robotsrules"
)

// Tokens find the token that Find would, of a robots.txt with a record for each.
func TestTokensFindWhatARobotsTxtOfTheirNamesFinds(t *testing.T) {
	values := []string{"ab", "*", "", "aB/2.1", "b", "abc", "B*", "cab", "ca"}
	agents := words([]string{"a", "B", "c", " ", "/"}, 4)
	for m := range robotsrules.Match(2) {
		text := ""
		for _, value := range values {
			text += "User-agent: " + value + "\nDisallow:\n"
		}
		p := robotsrules.Compile(robotsrules.Parse([]byte(text), robotsrules.Options{}), m)
		tokens := robotsrules.NewTokens(values, m)
		for _, agent := range agents {
			index, ok := tokens.Find(robot(agent))
			got := 0
			if ok {
				got = 2*index + 1
			}
			if want := p.Find(robot(agent)).Line(); got != want {
				t.Errorf("%s: Find(%q) = the token of line %d, want %d", m, agent, got, want)
			}
		}
	}
}

func TestTokensOfNothingNameNoRobot(t *testing.T) {
	var none *robotsrules.Tokens
	for _, tokens := range []*robotsrules.Tokens{
		none, {}, robotsrules.NewTokens(nil, robotsrules.MatchToken),
		robotsrules.NewTokens([]string{"*", "", "/1"}, robotsrules.MatchSubstring),
	} {
		if index, ok := tokens.Find(robot("AnyBot/1")); ok {
			t.Errorf("Find = %d, want none", index)
		}
	}
}

func TestTokensFindWithoutAllocating(t *testing.T) {
	tokens := robotsrules.NewTokens([]string{"one", "two"}, robotsrules.MatchSubstring)
	r := robot("Mozilla/5.0 (compatible; Two/1.0)")
	if n := testing.AllocsPerRun(100, func() { tokens.Find(r) }); n != 0 {
		t.Errorf("%g allocations, want none", n)
	}
}

// A token names a robot where the twin says so, of a file with that token only, whatever
// else the file names.
func TestNamesAgreesWithAFileOfOneToken(t *testing.T) {
	agents := words([]string{"a", "B", "*", " ", "/"}, 3)
	values := slices.DeleteFunc(smallTokens(), func(value string) bool { return plainToken(value) == "*" })
	for d := range robotsrules.Dialect(3) {
		for m := range robotsrules.Match(2) {
			for _, value := range append(values, "ab/1.0", "b/x a") {
				line := "User-agent: " + value + "\nDisallow: /\n"
				all := robotsrules.Parse([]byte("User-agent: aabb\nDisallow: /x\n\n"+line), robotsrules.Options{Dialect: d})
				p := robotsrules.Compile(all, m)
				token := all.Groups[len(all.Groups)-1].Tokens[0]
				twin := twinOf(robotsrules.Parse([]byte(line), robotsrules.Options{Dialect: d}), m)
				for _, agent := range agents {
					if got, want := p.Names(token, robot(agent)), twin.find(robot(agent)).line != 0; got != want {
						t.Errorf("%s, %s: %q names %q: %t, want %t", d, m, value, agent, got, want)
					}
				}
			}
		}
	}
}

func TestTheDefaultTokenNamesNobody(t *testing.T) {
	var none *robotsrules.Policy
	if none.Names(robotsrules.Token{Value: "a"}, robot("a")) {
		t.Error("nil Policy: names a robot")
	}
	file := robotsrules.Parse([]byte("User-agent: *\nDisallow: /\n"), robotsrules.Options{Dialect: robotsrules.Draft1996})
	p := robotsrules.Compile(file, robotsrules.MatchSubstring)
	if p.Names(file.Groups[0].Tokens[0], robot("AnyBot*/1")) {
		t.Error(`"*" names a robot`)
	}
}

func ExampleTokens_Find() {
	tokens := robotsrules.NewTokens([]string{"Googlebot", "Googlebot-News", "bingbot"}, robotsrules.MatchSubstring)
	fmt.Println(tokens.Find(robotsrules.Robot{UserAgent: "Googlebot-News"}))
	fmt.Println(tokens.Find(robotsrules.Robot{UserAgent: "Mozilla/5.0 (compatible; BingBot/2.0)"}))
	fmt.Println(tokens.Find(robotsrules.Robot{UserAgent: "Figtree/0.1"}))
	// Output:
	// 1 true
	// 2 true
	// 0 false
}

func ExamplePolicy_Names() {
	file := robotsrules.Parse([]byte(exampleText), robotsrules.Options{})
	policy := robotsrules.Compile(file, robotsrules.MatchSubstring)
	robot := robotsrules.Robot{UserAgent: "Mozilla/5.0 (compatible; GPTBot/1.2)"}
	for _, group := range file.Groups {
		for _, token := range group.Tokens {
			fmt.Println(token.Value, policy.Names(token, robot))
		}
	}
	// Output:
	// GPTBot true
	// * false
}
