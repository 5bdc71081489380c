package cli

import (
	"bufio"
	"errors"
	"fmt"
	"net/http"
	"os"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/caddy-robots/caddy-robots/internal/compliance"
)

// reportCommand is caddy robots report.
func reportCommand() *cobra.Command {
	var c running
	var s compliance.Selection
	var asCSV bool
	var page string
	cmd := &cobra.Command{
		Use:   "report [flags]",
		Short: "Says what robots did on a running Caddy",
		Long: `
Says what robots did on a running Caddy or, with the option share, on its fleet,
site by site: how much they asked for, what of it was against robots.txt, and
the lines and paths where most of that was.

Exit status: 0 it was done, 1 there is nothing of what was asked for, 2 it could
not be done.`,
		Example: `  caddy robots report --site example.com
  caddy robots report --robot GPTBot --html gptbot.html`,
		Args: noArguments,
	}
	flags := cmd.Flags()
	flags.StringVar(&s.Site, "site", "", "only this `host`")
	flags.StringVar(&s.Robot, "robot", "", "only the robot of this `name`; - for those without")
	flags.StringVar(&s.Class, "class", "", "only this `kind` of client: robot, service, app,\nunstated or browser")
	flags.StringVar(&s.Standing, "standing", "", "only those of this `word`: verified, unverified,\nimpostor, or - where nothing can be checked")
	flags.BoolVar(&asCSV, "csv", false, "print the table as CSV")
	flags.StringVar(&page, "html", "", "write the report to a `file`, as a page")
	c.addFlags(cmd, "the whole report as JSON")
	for flag, words := range map[string][]string{
		"class": {"robot", "service", "app", "unstated", "browser"}, "standing": {"verified", "unverified", "impostor", "-"},
	} {
		_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
	}
	_ = cmd.RegisterFlagCompletionFunc("site", c.completed(func() []string { return c.reported(func(s *compliance.Site) []string { return []string{s.Site} }) }))
	_ = cmd.RegisterFlagCompletionFunc("robot", c.completed(func() []string { return c.reported(robotNames) }))
	return runs(cmd, func(cmd *cobra.Command, out *bufio.Writer, _ []string) error {
		if c.asJSON && asCSV {
			return errors.New("--json and --csv are both there; write one of them")
		}
		if err := s.Check(); err != nil {
			return err
		}
		if page != "" {
			text, err := c.ask(http.MethodGet, "/robots/report", s.Values())
			if err == nil {
				err = os.WriteFile(page, text, 0o644)
			}
			if err != nil {
				return err
			}
		}
		report, raw, err := get[compliance.Report](&c, http.MethodGet, "/robots/robots", s.Values())
		switch {
		case err != nil:
			return err
		case len(report.Sites) == 0 && len(s.Values()) > 0:
			cmd.PrintErrf("%s: nothing is known of that%s%s\n", cmd.CommandPath(),
				didYouMean(s.Site, c.reported(func(s *compliance.Site) []string { return []string{s.Site} })), didYouMean(s.Robot, c.reported(robotNames)))
			return errFound
		case asCSV:
			return report.WriteRobots(out)
		case c.asJSON:
			fmt.Fprintf(out, "%s", raw)
		default:
			printReport(out, &report, terminalWidth(cmd.OutOrStdout()))
		}
		return nil
	})
}

// reported returns names that the whole report has, each site's by of; none if it is not known.
func (c *running) reported(of func(*compliance.Site) []string) (names []string) {
	report, _, _ := get[compliance.Report](c, http.MethodGet, "/robots/robots", nil)
	for i := range report.Sites {
		names = append(names, of(&report.Sites[i])...)
	}
	return names
}

func robotNames(s *compliance.Site) (names []string) {
	for i := range s.Robots {
		names = append(names, s.Robots[i].Robot)
	}
	return names
}

// printReport prints what robots did, a table for each site.
func printReport(out *bufio.Writer, report *compliance.Report, width int) {
	if len(report.Sites) == 0 {
		fmt.Fprintln(out, "No robot came.")
		return
	}
	fmt.Fprintf(out, "since %s\n", moment(report.Since))
	for i := range report.Sites {
		s := &report.Sites[i]
		fmt.Fprintf(out, "\n%s: %s requests of robots, %s against robots.txt, %s refused\n",
			hostLabel(s.Site), humanize.Comma(int64(s.Requests)), humanize.Comma(int64(s.Disobedient)), humanize.Comma(int64(s.Refused)))
		printRobots(out, s.Robots, width)
	}
}
