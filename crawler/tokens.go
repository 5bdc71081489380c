package crawler

import (
	"bufio"
	_ "embed" // for tokens.txt
	"fmt"
	"strings"
)

//go:embed tokens.txt
var tokensFile string

// tokens is the content of tokens.txt. Were the file malformed, it would hold what stands
// before the bad line, and errTokens would say so. A test keeps errTokens nil.
var tokens, errTokens = parseTokens(tokensFile)

// tokenAdvice is what is known of values of User-agent lines.
type tokenAdvice struct {
	control map[string]string // control token to the robot it is about
	crowd   map[string]bool
}

// shortToken is how long the longest token is that occurs in User-Agents by chance.
const shortToken = 2

// TokenAdvice says what is wrong with a value of a User-agent line in robots.txt, and what
// to write instead: that no request ever carries it, or that it would bind a crowd. Both
// are empty for a token that names a robot. It is safe for concurrent use.
func TokenAdvice(token string) (what, instead string) {
	name := strings.ToLower(strings.TrimSpace(token))
	switch robot := tokens.control[name]; {
	case name == "" || name == "*":
		return "", ""
	case robot != "":
		return fmt.Sprintf("%q is a control token: no request carries it, so nothing can be enforced by it", token),
			fmt.Sprintf("keep it for those who read it, and write a record for %q to bind the requests", robot)
	case len(name) <= shortToken:
		return fmt.Sprintf("%q is so short that it occurs in the User-Agents of many robots, and binds them all", token),
			"write the robot's whole name"
	case tokens.crowd[name]:
		return fmt.Sprintf("%q occurs in the User-Agents of many robots, and binds all that no longer token names", token),
			`write the robot's whole name, or "*" for all robots`
	}
	return "", ""
}

func parseTokens(text string) (tokenAdvice, error) {
	t := tokenAdvice{control: make(map[string]string), crowd: make(map[string]bool)}
	section := ""
	lines := bufio.NewScanner(strings.NewReader(text))
	for number := 1; lines.Scan(); number++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		if line[0] == '[' {
			section = strings.Trim(line, "[]")
			continue
		}
		if err := t.add(section, line); err != nil {
			return t, fmt.Errorf("tokens.txt line %d: %w", number, err)
		}
	}
	return t, lines.Err()
}

func (t *tokenAdvice) add(section, line string) error {
	name, robot, hasRobot := strings.Cut(line, " = ")
	switch {
	case name != strings.ToLower(name):
		return fmt.Errorf("entry %q is not in lower case", name)
	case t.crowd[name] || t.control[name] != "":
		return fmt.Errorf("entry %q stands twice", name)
	case section == "control tokens" && hasRobot:
		t.control[name] = robot
	case section == "crowd tokens" && !hasRobot:
		t.crowd[name] = true
	default:
		return fmt.Errorf("entry %q does not belong into section %q", line, section)
	}
	return nil
}
