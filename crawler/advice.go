package crawler

import (
	_ "embed" // for advice.txt
	"fmt"
	"slices"
	"strings"
)

//go:embed advice.txt
var adviceFile string

// advice is the content of advice.txt. If the file is malformed, errAdvice says so and advice
// holds what comes before the bad line. A test keeps errAdvice nil.
var advice, errAdvice = parseAdvice(adviceFile)

// tokenAdvice is what is known of values of User-agent lines.
type tokenAdvice struct {
	control map[string]string // control token to the robot it is about
	crowd   map[string]bool
	dressed map[string]bool
}

// Advice is what there is to say of a value of a User-agent line in robots.txt. The zero value is
// nothing: the value names a robot.
type Advice struct {
	// Code names the kind of advice: one of [AdviceCodes].
	Code string

	// What says what is wrong, and Instead what to write.
	What, Instead string
}

// The codes of Advice.
const (
	ControlToken      = "control-token"       // no request carries it, and nothing needs doing
	CrowdToken        = "crowd-token"         // it binds many robots
	DressedAsBrowser  = "dressed-as-browser"  // it binds nobody, unless treat_as_robot names it
	RobotsWithoutLine = "robots-without-line" // several robots of the catalogue
)

// AdviceCodes returns the codes of all Advice.
func AdviceCodes() []string {
	return []string{ControlToken, CrowdToken, DressedAsBrowser, RobotsWithoutLine}
}

// shortToken is the length of the longest token that occurs in User-Agents by chance.
const shortToken = 2

// TokenAdvice says what is wrong with a value of a User-agent line in robots.txt, and what
// to write instead, as far as it takes knowledge of robots. It is safe for concurrent use.
func TokenAdvice(token string) Advice {
	name := strings.ToLower(strings.TrimSpace(token))
	robot := advice.control[name]
	switch {
	case name == "" || name == "*":
		return Advice{}
	case robot != "":
		return Advice{
			ControlToken, fmt.Sprintf("%q is a control token: its operator reads it, and no request sends it, so Caddy cannot enforce it", token),
			fmt.Sprintf("you need not do anything; a record for %q would be about what that robot is for, such as search", robot),
		}
	case len(name) <= shortToken && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789") == "":
		return Advice{
			CrowdToken, fmt.Sprintf("%q is so short that it occurs in the User-Agents of many robots, and binds them all", token),
			"write the robot's whole name",
		}
	case advice.crowd[name]:
		return Advice{
			CrowdToken, fmt.Sprintf("%q occurs in the User-Agents of many robots, and binds all that no longer token names", token),
			"write the robot's whole name",
		}
	case advice.dressed[name]:
		return Advice{
			DressedAsBrowser, fmt.Sprintf("%q stands in the User-Agents of browsers, and no record binds a browser", token),
			fmt.Sprintf(`write "treat_as_robot %s" in the robots directive if the record should bind them, your own tests and page checks too`, token),
		}
	}
	words := strings.FieldsFunc(token, func(r rune) bool { return strings.ContainsRune(" \t&+", r) })
	words = slices.DeleteFunc(words, func(word string) bool { return word == "and" || word == "or" })
	if len(words) > 1 && allNamed(words) {
		return Advice{
			RobotsWithoutLine, fmt.Sprintf("%q are several robots in one line; it names none of them", token),
			`write a line of its own for each, such as "User-agent: ` + words[0] + `"`,
		}
	}
	return Advice{}
}

// allNamed reports whether each word is a name of the catalogue.
func allNamed(words []string) bool {
	for _, word := range words {
		if _, ok := Find(word); !ok {
			return false
		}
	}
	return true
}

func parseAdvice(text string) (tokenAdvice, error) {
	t := tokenAdvice{control: make(map[string]string), crowd: make(map[string]bool), dressed: make(map[string]bool)}
	err := parseSections(text, map[string]func(string) error{
		"control tokens": func(entry string) error {
			name, robot, found := strings.Cut(entry, " = ")
			if !found || t.control[name] != "" {
				return fmt.Errorf("entry %q names no robot, or is there twice", entry)
			}
			t.control[name] = robot
			return nil
		},
		"crowd tokens":        words(t.crowd),
		"dressed as browsers": words(t.dressed),
	})
	if err != nil {
		return t, fmt.Errorf("advice.txt: %w", err)
	}
	return t, nil
}

// words reads the entries of a section that has nothing but words.
func words(set map[string]bool) func(string) error {
	return func(entry string) error {
		if set[entry] || strings.Contains(entry, "=") {
			return fmt.Errorf("entry %q is there twice, or is a control token", entry)
		}
		set[entry] = true
		return nil
	}
}
