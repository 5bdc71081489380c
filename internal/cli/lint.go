package cli

import (
	"bufio"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/caddy-robots/caddy-robots/internal/enforce"
	"github.com/caddy-robots/caddy-robots/internal/policies"
	"github.com/caddy-robots/caddy-robots/robotsrules"
)

// lintCommand is caddy robots lint.
func lintCommand() *cobra.Command {
	var rd reader
	var asJSON, strict bool
	cmd := &cobra.Command{
		Use:   "lint [flags] [<file|url|->]",
		Short: "Says what is wrong with a robots.txt",
		Long: `
Says, line by line, what a robots.txt does not mean although it seems to, and
what to write instead: lines that are not read, names that no request carries or
that would bind a crowd, a Crawl-delay that holds robots which do not read it,
rules that never decide and the line that decides in their place, and decisions
that robots make differently which follow another standard.

Without an argument it reads the file robots.txt in the current folder.

Exit status: 0 there is no error, 1 there is at least one, 2 it could not be
run. With --strict a warning counts as an error.`,
		Example: `  caddy robots lint
  caddy robots lint --json https://example.com/robots.txt`,
		Args: arguments(0, 1, "robots.txt"),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON object in a line for each finding")
	cmd.Flags().BoolVar(&strict, "strict", false, "exit with 1 for a warning too")
	rd.addFlags(cmd)
	return runs(cmd, func(cmd *cobra.Command, out *bufio.Writer, args []string) error {
		place := defaultFile
		if len(args) == 1 {
			place = args[0]
		}
		rules, err := rd.read(cmd, place)
		if err != nil {
			return err
		}
		all := notes(rules, &rd)
		counts := make(map[robotsrules.Severity]int)
		for _, n := range all {
			counts[n.Severity]++
		}
		if asJSON {
			printNotesJSON(out, place, all)
		} else {
			printNotes(out, place, all)
			fmt.Fprintln(out, summary(rules.File, counts))
		}
		if counts[robotsrules.Error] > 0 || strict && counts[robotsrules.Warning] > 0 {
			return errFound
		}
		return nil
	})
}

// note is something to be said of a line, or of a text as a whole. Those of one kind say so
// much the same that a person is shown only the first few.
type note struct {
	robotsrules.Diagnostic
	kind string
}

// The kinds of note that count as alike whatever they say.
const (
	kindShadow     = "shadow"
	kindUnread     = "unread"
	kindDifference = "difference"
)

// maxAlike is how many notes of a kind a person is shown, and mostOf of some kinds. Of the
// differences between the standards a file has either none or one for each rule.
const maxAlike = 3

var mostOf = map[string]int{kindShadow: 20, kindDifference: 1}

// notes returns all that is to be said of a text, by line.
func notes(rules *policies.Rules, rd *reader) (all []note) {
	add := func(kind string, list []robotsrules.Diagnostic) {
		for _, d := range list {
			all = append(all, note{d, cmp.Or(kind, d.Message)})
		}
	}
	add("", rules.Diagnostics)
	add("", policies.DressedAsBrowsers(rules.File, new(enforce.Options)))
	add(kindUnread, unreadDelays(rules.Compiled))
	add(kindShadow, shadows(rules.Compiled))
	add(kindDifference, differences(rules.Text, rd))
	slices.SortStableFunc(all, func(a, b note) int { return cmp.Compare(a.Line, b.Line) })
	return all
}

// printNotes prints what is to be said to a person, in the form of compilers.
func printNotes(out *bufio.Writer, place string, all []note) {
	alike := make(map[string]int)
	for _, n := range all {
		alike[n.kind]++
	}
	shown := make(map[string]int)
	for _, n := range all {
		most := cmp.Or(mostOf[n.kind], maxAlike)
		if shown[n.kind]++; shown[n.kind] > most {
			continue
		}
		fmt.Fprintf(out, "%s:%d: %s: %s", place, n.Line, n.Severity, printable(sentence(n.Message)))
		if n.Instead != "" {
			fmt.Fprintf(out, " %s", printable(sentence(capital(n.Instead))))
		}
		if more := alike[n.kind] - most; shown[n.kind] == most && more > 0 {
			fmt.Fprintf(out, " So it is with %s; --json lists all.", number(more, "more line"))
		}
		fmt.Fprintln(out)
	}
}

// advice is a note as it is printed with --json.
type advice struct {
	File     string `json:"file"`
	Line     int    `json:"line"`
	Severity string `json:"severity"`
	What     string `json:"what"`
	Instead  string `json:"instead"`
}

// printNotesJSON prints all that is to be said.
func printNotesJSON(out *bufio.Writer, place string, all []note) {
	for _, n := range all {
		printJSON(out, advice{place, n.Line, n.Severity.String(), n.Message, n.Instead})
	}
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

// shadows says which rules never decide.
func shadows(policy *robotsrules.Policy) []robotsrules.Diagnostic {
	found, all := policy.Shadowed()
	var list []robotsrules.Diagnostic
	for _, s := range found {
		d := robotsrules.Diagnostic{Line: s.Rule.Line, Severity: robotsrules.Warning}
		switch {
		case s.By == nil:
			d.Message = fmt.Sprintf("%q never decides: /robots.txt is always allowed", s.Rule.Text)
			d.Instead = "remove the line"
			if s.Same {
				d.Severity = robotsrules.Info
			}
		case s.Same:
			d.Severity = robotsrules.Info
			d.Message = fmt.Sprintf("%q adds nothing to line %d, %q", s.Rule.Text, s.By.Line, s.By.Text)
			d.Instead = "one of them can go"
		default:
			d.Message = fmt.Sprintf("%q never decides: line %d, %q, goes before it", s.Rule.Text, s.By.Line, s.By.Text)
			if s.Example != "" {
				d.Message += ", for example for " + s.Example
			}
			d.Instead = "remove the one that is not meant"
		}
		list = append(list, d)
	}
	if !all {
		list = append(list, robotsrules.Diagnostic{Line: 1, Message: "the file is so large that it was not asked of all rules whether they ever decide"})
	}
	return list
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
			Line: f.Line,
			Message: fmt.Sprintf("robots that follow another standard decide otherwise: for %q, %s is allowed by %s and disallowed by %s",
				f.Token, f.Example, strings.Join(by[robotsrules.Allowed], " and "), strings.Join(by[robotsrules.Disallowed], " and ")),
		})
	}
	if !all {
		list = append(list, robotsrules.Diagnostic{Line: 1, Message: "the file is so large that not all of it was read by each standard, to see where they differ"})
	}
	return list
}
