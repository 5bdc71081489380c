package cli

import (
	"bufio"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/caddy-robots/caddy-robots/crawler"
	"github.com/caddy-robots/caddy-robots/internal/enforce"
	"github.com/caddy-robots/caddy-robots/internal/policies"
	"github.com/caddy-robots/caddy-robots/robotsrules"
)

// lintCommand is caddy robots lint.
func lintCommand() *cobra.Command {
	var rd reader
	var form format
	var strict bool
	cmd := &cobra.Command{
		Use:   "lint [flags] [<file|url|->...]",
		Short: "Says what is wrong with a robots.txt",
		Long: `
Says what is wrong with a robots.txt, line by line, and what to write instead:
lines that are not read, records that bind nobody, a Crawl-delay for robots that
do not read it, and rules that never decide, with the line that decides instead.
With --dialect draft1996 or norobots1994 it also names decisions that robots of
another standard make differently.

Without an argument it reads the file robots.txt in the current folder.

Exit status: 0 there is no error, 1 there is at least one, 2 it could not be
run. With --strict a warning counts as an error.`,
		Example: `  caddy robots lint
  caddy robots lint --strict --format github public/robots.txt
  caddy robots lint --json https://example.com/robots.txt`,
	}
	cmd.Flags().BoolVar(&strict, "strict", false, "exit with 1 for a warning too")
	form.addFlags(cmd, "a finding")
	rd.addFlags(cmd)
	return runs(cmd, func(cmd *cobra.Command, out *bufio.Writer, places []string) error {
		if err := form.check(); err != nil {
			return err
		}
		if len(places) == 0 {
			places = []string{defaultFile}
		}
		found := false
		for _, place := range places {
			rules, err := rd.read(cmd, place)
			if err != nil {
				return err
			}
			all := notes(rules, &rd)
			counts := make(map[robotsrules.Severity]int)
			for _, n := range all {
				counts[n.Severity]++
			}
			printNotes(out, form, place, all)
			if form.isText() {
				fmt.Fprintln(out, summary(rules.File, counts))
			}
			found = found || counts[robotsrules.Error] > 0 || strict && counts[robotsrules.Warning] > 0
		}
		if found {
			return errFound
		}
		return nil
	})
}

// codeDifference is the code of what is found here.
const codeDifference = "other-standard"

// codes are those of all findings.
func codes() []string {
	return slices.Concat(robotsrules.Codes(), crawler.AdviceCodes(), []string{policies.UnreadDelayCode, policies.UnknownRobotCode, codeDifference})
}

// maxOfCode is how many findings with one code a person is shown, and mostOf of some codes: those
// that a file has not at all or many times. Of findings that say the very same it is maxAlike.
const (
	maxOfCode = 10
	maxAlike  = 3
)

var mostOf = map[string]int{"raw-letters": 1, codeDifference: 1}

// notes returns all that is to be said of a text, by line.
func notes(rules *policies.Rules, rd *reader) (all []robotsrules.Diagnostic) {
	options := new(enforce.Options)
	all = slices.Concat(rules.Diagnostics, policies.DressedAsBrowsers(rules.File, options), unreadDelays(rules.Compiled), policies.UnknownRobots(rules.File),
		robotsrules.Lint(rules.File, rules.Compiled))
	if rd.options.Dialect != robotsrules.RFC9309 {
		all = append(all, differences(rules.Text, rd)...)
	}
	slices.SortStableFunc(all, func(a, b robotsrules.Diagnostic) int { return cmp.Compare(a.Line, b.Line) })
	return all
}

// shortened leaves out findings that are like others, and returns after which of the rest how many
// of the same code are missing.
func shortened(all []robotsrules.Diagnostic) (shown []robotsrules.Diagnostic, missing map[int]int) {
	ofCode, alike, last := make(map[string]int), make(map[string]int), make(map[string]int)
	missing = make(map[int]int)
	for _, n := range all {
		if ofCode[n.Code] == cmp.Or(mostOf[n.Code], maxOfCode) || alike[n.Message] == maxAlike {
			missing[last[n.Code]]++
			continue
		}
		ofCode[n.Code]++
		alike[n.Message]++
		last[n.Code] = len(shown)
		shown = append(shown, n)
	}
	return shown, missing
}

// printNotes prints what is to be said of the text of a place: to a person in the form of
// compilers, to machines all of it.
func printNotes(out *bufio.Writer, form format, place string, all []robotsrules.Diagnostic) {
	if form.isJSON() {
		for _, n := range all {
			printJSON(out, advice{place, n.Line, n.Severity.String(), n.Code, n.Message, n.Instead})
		}
		return
	}
	shown, missing := shortened(all)
	for i, n := range shown {
		text := printable(sentence(n.Message))
		if n.Instead != "" {
			text += " " + printable(sentence(capital(n.Instead)))
		}
		if more := missing[i]; more > 0 {
			text += fmt.Sprintf(" There %s of this kind; --json lists all.", are(more, "more"))
		}
		if form.isGitHub() {
			printAnnotation(out, levels[n.Severity], place, n.Line, n.Code, text)
			continue
		}
		fmt.Fprintf(out, "%s:%d: %s: %s\n", place, n.Line, n.Severity, text)
	}
}

// levels are GitHub's words for severities.
var levels = [...]string{robotsrules.Info: "notice", robotsrules.Warning: "warning", robotsrules.Error: "error"}

// are writes how many there are.
func are(n int, what string) string {
	if n == 1 {
		return "is 1 " + what
	}
	return fmt.Sprintf("are %d %s", n, what)
}

// advice is a note as it is printed with --format json.
type advice struct {
	File     string `json:"file"`
	Line     int    `json:"line"`
	Severity string `json:"severity"`
	Code     string `json:"code"`
	What     string `json:"what"`
	Instead  string `json:"instead"`
}

// summary says in a line what the text holds.
func summary(file *robotsrules.File, counts map[robotsrules.Severity]int) string {
	return fmt.Sprintf("%s, %s: %s, %s, %s", number(len(file.Groups), "record"), number(file.RuleCount(), "rule"),
		number(counts[robotsrules.Error], "error"), number(counts[robotsrules.Warning], "warning"), number(counts[robotsrules.Info], "note"))
}

// number writes how many there are of something.
func number(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

// sentence ends a text with a full stop, unless it ends otherwise.
func sentence(text string) string {
	if strings.HasSuffix(text, ".") || strings.HasSuffix(text, "?") {
		return text
	}
	return text + "."
}

// capital begins a text with a capital letter.
func capital(text string) string {
	return strings.ToUpper(text[:1]) + text[1:]
}

// unreadDelays says which paces hold robots that do not read them.
func unreadDelays(policy *robotsrules.Policy) (list []robotsrules.Diagnostic) {
	for _, unread := range policies.UnreadDelays(policy, new(enforce.Options)) {
		list = append(list, unread.Diagnostic())
	}
	return list
}

// differences says about what robots decide otherwise that follow another standard.
func differences(text string, rd *reader) []robotsrules.Diagnostic {
	found, all := robotsrules.Differences([]byte(text), rd.options, rd.match)
	var list []robotsrules.Diagnostic
	for _, f := range found {
		var by [2][]string // dialect and line, by verdict
		for i, d := range f.Decisions {
			name := robotsrules.Dialect(i).String()
			if d.Rule != nil {
				name += fmt.Sprintf(" (line %d)", d.Rule.Line)
			}
			by[d.Verdict] = append(by[d.Verdict], name)
		}
		list = append(list, robotsrules.Diagnostic{
			Code: codeDifference, Line: f.Line,
			Message: fmt.Sprintf("robots that follow another standard decide differently: for %q, %s is allowed by %s and disallowed by %s",
				f.Token, f.Example, strings.Join(by[robotsrules.Allowed], " and "), strings.Join(by[robotsrules.Disallowed], " and ")),
		})
	}
	if !all {
		list = append(list, robotsrules.Diagnostic{Code: codeDifference, Line: 1, Message: "the file is so large that not all of it was read by each standard, to see where they differ"})
	}
	return list
}
