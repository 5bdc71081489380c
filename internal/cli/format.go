package cli

import (
	"bufio"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/caddy-robots/caddy-robots/robotsrules"
)

// format is what a command prints for: a person or a machine.
type format struct {
	name   string
	asJSON bool
}

var formats = []string{"text", "json", "github"}

// addFlags adds the flags of a command that prints a line for each of something.
func (f *format) addFlags(cmd *cobra.Command, each string) {
	cmd.Flags().StringVar(&f.name, "format", formats[0], "text, json (one line for "+each+") or\ngithub (annotations of a pull request)")
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "the same as --format json")
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(formats, cobra.ShellCompDirectiveNoFileComp))
}

// check returns an error for a word that is unknown, and takes --json in.
func (f *format) check() error {
	if !slices.Contains(formats, f.name) {
		return fmt.Errorf("format: %w", robotsrules.UnknownWord(f.name, "text, json or github"))
	}
	if f.asJSON {
		f.name = "json"
	}
	return nil
}

func (f *format) isText() bool   { return f.name == "text" }
func (f *format) isJSON() bool   { return f.name == "json" }
func (f *format) isGitHub() bool { return f.name == "github" }

// printAnnotation prints a workflow command of GitHub Actions, which shows the text at the line of
// the file.
func printAnnotation(out *bufio.Writer, level, file string, line int, title, text string) {
	fmt.Fprintf(out, "::%s file=%s,line=%d,title=%s::%s\n", level, property.Replace(file), line, property.Replace(title), data.Replace(text))
}

// What has a meaning in workflow commands.
var (
	data     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	property = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// didYouMean returns a question about the known word that somebody may have meant, "" for none.
func didYouMean(word string, known []string) string {
	if meant := robotsrules.Meant(word, known); meant != "" {
		return fmt.Sprintf("; did you mean %q?", meant)
	}
	return ""
}
