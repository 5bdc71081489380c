package cli

import (
	"errors"
	"fmt"
	"net/http"
	"os"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/caddy-robots/caddy-robots/crawler"
	"github.com/caddy-robots/caddy-robots/internal/compliance"
)

// reportPath is where the admin API says what robots did.
const reportPath = "/robots/robots"

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
	flags.StringVar(&s.Class, "class", "", "only this `kind` of client: robot, service, app,\nunstated, browser or trapped")
	flags.StringVar(&s.Standing, "standing", "", "only those of this `word`: verified, unverified,\nimpostor, or - where nothing can be checked")
	flags.StringVar(&s.Operator, "operator", "", "only robots that this `company` runs; - where that\nis not known")
	flags.StringVar(&s.Purpose, "purpose", "", "only robots that come for this `purpose`, such as\nai-training; - where that is not known")
	flags.StringVar(&s.Period, "period", "", "only this `time`: today, 7d, 30d or 90d, against the\none before")
	flags.BoolVar(&asCSV, "csv", false, "print the table as CSV")
	flags.StringVar(&page, "html", "", "write the report to a `file`, as a page")
	fixed := func(words ...string) cobra.CompletionFunc {
		return cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)
	}
	var purposes []string
	for _, p := range crawler.Purposes() {
		purposes = append(purposes, string(p))
	}
	for flag, complete := range map[string]cobra.CompletionFunc{
		"site": c.completed(reportPath, "site"), "robot": c.completed(reportPath, "robot"),
		"class": fixed("robot", "service", "app", "unstated", "browser", "trapped"), "period": fixed(compliance.Periods()...), "standing": fixed("verified", "unverified", "impostor", "-"),
		"operator": c.completed(reportPath, "operator"), "purpose": fixed(append(purposes, "-")...),
	} {
		_ = cmd.RegisterFlagCompletionFunc(flag, complete)
	}
	return asking(&c, cmd, func([]string) error {
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
		report, err := get[compliance.Report](&c, http.MethodGet, reportPath, s.Values())
		switch {
		case err != nil:
			return err
		case len(report.Sites) == 0 && len(s.Values()) > 0:
			c.cmd.PrintErrf("%s: nothing is known of that%s%s\n", c.cmd.CommandPath(), c.meant(s.Site, reportPath, "site"), c.meant(s.Robot, reportPath, "robot"))
			return errFound
		case asCSV:
			return report.WriteRobots(c.out)
		default:
			c.printReport(&report)
		}
		return nil
	})
}

// printReport prints what robots did, a table for each site.
func (c *running) printReport(report *compliance.Report) {
	if len(report.Sites) == 0 {
		fmt.Fprintln(c.out, "No robot came.")
		return
	}
	fmt.Fprintf(c.out, "since %s\n", moment(report.Since))
	for _, s := range report.Sites {
		fmt.Fprintf(c.out, "\n%s: %s requests of robots, %s against robots.txt, %s refused\n",
			hostLabel(s.Site), humanize.Comma(int64(s.Requests)), humanize.Comma(int64(s.Disobedient)), humanize.Comma(int64(s.Refused)))
		printRobots(c.out, s.Robots, terminalWidth(c.cmd.OutOrStdout()), maxTableRobots, maxTableRobots)
	}
}
