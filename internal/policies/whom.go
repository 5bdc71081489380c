package policies

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/caddy-robots/caddy-robots/crawler"
	"github.com/caddy-robots/caddy-robots/internal/enforce"
	"github.com/caddy-robots/caddy-robots/robotsrules"
)

// maxTokenAdvice bounds how many tokens of one file get advice.
const maxTokenAdvice = 100

// diagnostics returns what is wrong with the file, by line: what parsing found, what was noted
// before, and the User-agent lines that are well written but do not bind whom their author means.
func diagnostics(file *robotsrules.File, notes []robotsrules.Diagnostic) []robotsrules.Diagnostic {
	all := slices.Concat(notes, file.Diagnostics, whomNamed(file, func(_ string, a crawler.Advice) bool {
		return a.Code != crawler.DressedAsBrowser // depends on options
	}))
	slices.SortStableFunc(all, func(a, b robotsrules.Diagnostic) int { return cmp.Compare(a.Line, b.Line) })
	return all
}

// DressedAsBrowsers returns the diagnostics of records that bind nobody, since those that they name
// are browsers unless treat_as_robot says otherwise.
func DressedAsBrowsers(file *robotsrules.File, options *enforce.Options) []robotsrules.Diagnostic {
	return whomNamed(file, func(token string, a crawler.Advice) bool {
		return a.Code == crawler.DressedAsBrowser && !options.Unnamed.Binds(crawler.Browser) &&
			!slices.ContainsFunc(options.TreatAsRobot, func(text string) bool { return enforce.ContainsFold(token, text) })
	})
}

// whomNamed returns the advice that is wanted on the robots that the file names, once for each. Of
// control tokens, about which nothing needs doing, one note names all.
func whomNamed(file *robotsrules.File, wanted func(token string, a crawler.Advice) bool) (all []robotsrules.Diagnostic) {
	advised := make(map[string]bool)
	control := -1
	for _, group := range file.Groups {
		for _, token := range group.Tokens {
			advice := crawler.TokenAdvice(token.Value)
			name := strings.ToLower(token.Value)
			if advice.Code == "" || !wanted(token.Value, advice) || advised[name] || len(advised) == maxTokenAdvice {
				continue
			}
			advised[name] = true
			d := robotsrules.Diagnostic{
				Code: advice.Code, Line: token.Line, Severity: robotsrules.Warning, Message: advice.What, Instead: advice.Instead,
			}
			switch {
			case advice.Code != crawler.ControlToken:
			case control >= 0:
				all[control].Message += fmt.Sprintf("; so is %q", token.Value)
				continue
			default:
				d.Severity, control = robotsrules.Info, len(all)
			}
			all = append(all, d)
		}
	}
	return all
}

// UnknownRobotCode is the code of the diagnostics of UnknownRobots.
const UnknownRobotCode = "unknown-robot"

// wordBytes are what names consist of that are worth to be looked for.
const wordBytes = "abcdefghijklmnopqrstuvwxyz0123456789._- "

// UnknownRobots returns notes on records for a robot that the catalogue does not know by that name,
// while it knows another by nearly the same.
func UnknownRobots(file *robotsrules.File) (all []robotsrules.Diagnostic) {
	names := RobotNames()
	asked := make(map[string]bool)
	for _, group := range file.Groups {
		for _, token := range group.Tokens {
			name := strings.ToLower(token.Value)
			_, known := crawler.Find(name)
			if known || strings.Trim(name, wordBytes) != "" || asked[name] || len(asked) == maxTokenAdvice || crawler.TokenAdvice(token.Value).Code != "" {
				continue
			}
			asked[name] = true
			if closest := robotsrules.Closest(token.Value, names, 1); closest != "" && !strings.Contains(strings.ToLower(closest), name) {
				all = append(all, robotsrules.Diagnostic{
					Code: UnknownRobotCode, Line: token.Line,
					Message: fmt.Sprintf("no robot is known as %q, and one is as %q", token.Value, closest),
					Instead: fmt.Sprintf(`write "User-agent: %s" if it is the one that is meant`, closest),
				})
			}
		}
	}
	return all
}

// RobotNames returns the product tokens of all robots, services and apps of the catalogue. The caller owns
// the slice.
func RobotNames() (names []string) {
	for _, c := range crawler.Catalogue() {
		names = append(names, c.Tokens...)
	}
	return names
}
