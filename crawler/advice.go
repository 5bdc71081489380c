package crawler

import (
	_ "embed" // for advice.txt
	"fmt"
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
}

// shortToken is the length of the longest token that occurs in User-Agents by chance.
const shortToken = 2

// TokenAdvice says what is wrong with a value of a User-agent line in robots.txt, and what
// to write instead: that no request ever carries it, or that it would bind a crowd. Both
// are empty for a token that names a robot. It is safe for concurrent use.
func TokenAdvice(token string) (what, instead string) {
	name := strings.ToLower(strings.TrimSpace(token))
	switch robot := advice.control[name]; {
	case name == "" || name == "*":
		return "", ""
	case robot != "":
		return fmt.Sprintf("%q is a control token: no request carries it, so nothing can be enforced by it", token),
			fmt.Sprintf("keep it for those who read it, and write a record for %q to bind the requests", robot)
	case len(name) <= shortToken:
		return fmt.Sprintf("%q is so short that it occurs in the User-Agents of many robots, and binds them all", token),
			"write the robot's whole name"
	case advice.crowd[name]:
		return fmt.Sprintf("%q occurs in the User-Agents of many robots, and binds all that no longer token names", token),
			`write the robot's whole name, or "*" for all robots`
	}
	return "", ""
}

func parseAdvice(text string) (tokenAdvice, error) {
	t := tokenAdvice{control: make(map[string]string), crowd: make(map[string]bool)}
	err := parseSections(text, map[string]func(string) error{
		"control tokens": func(entry string) error {
			name, robot, found := strings.Cut(entry, " = ")
			if !found || t.control[name] != "" {
				return fmt.Errorf("entry %q names no robot, or is there twice", entry)
			}
			t.control[name] = robot
			return nil
		},
		"crowd tokens": func(entry string) error {
			if t.crowd[entry] || strings.Contains(entry, "=") {
				return fmt.Errorf("entry %q is there twice, or is a control token", entry)
			}
			t.crowd[entry] = true
			return nil
		},
	})
	if err != nil {
		return t, fmt.Errorf("advice.txt: %w", err)
	}
	return t, nil
}
