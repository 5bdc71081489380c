package cli

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/spf13/cobra"

	"github.com/caddy-robots/caddy-robots/internal/accesslog"
	"github.com/caddy-robots/caddy-robots/internal/compliance"
)

// replayFlags are the flags of caddy robots replay.
type replayFlags struct {
	reader
	robotsTxt, since, until, html string
	json, csv                     bool
	wholeAddresses, wholeQueries  bool
}

// replayCommand is caddy robots replay.
func replayCommand() *cobra.Command {
	var f replayFlags
	cmd := &cobra.Command{
		Use:   "replay [flags] <log|->...",
		Short: "Says what would have been refused in an access log",
		Long: `
Reads access logs and judges every request as the robots directive would have,
with the time taken from the log: what is disallowed, what comes too fast, what
comes off hours. It prints what would be refused that does not call itself a
robot, which is what an owner fears most, and then a table of the robots of each
site.

Logs are Caddy's own (JSON), or in the Common or Combined Log Format, also
compressed with gzip or zstd. Several, such as rotated ones, are read in the
order of time. Caddy writes none unless the block of the site has log.

A time is a date (2026-11-01), a date with a time (2026-11-01T12:00:00Z), or how
long ago (7d, 12h); where it states no zone it is local time, as are those that
are printed. Without --robots-txt the rules are the file robots.txt in the
current folder.

Exit status: 0 it was done, also if lines could not be read, which it says; 2 it
could not be.`,
		Example: `  caddy robots replay /var/log/caddy/access.log*
  caddy robots replay --since 7d --html report.html access.log
  ssh web1 cat /var/log/caddy/access.log | caddy robots replay --csv -`,
		Args: arguments(1, 0, "log"),
	}
	addPlaceFlag(cmd, &f.robotsTxt)
	flags := cmd.Flags()
	flags.StringVar(&f.since, "since", "", "leave out what is before this `time`")
	flags.StringVar(&f.until, "until", "", "leave out what is at this `time` or after it")
	flags.BoolVar(&f.json, "json", false, "print the whole report as JSON")
	flags.BoolVar(&f.csv, "csv", false, "print the table as CSV")
	flags.StringVar(&f.html, "html", "", "write the report to a `file`, as a page")
	flags.BoolVar(&f.wholeAddresses, "whole-addresses", false, "do not mask addresses in the evidence")
	flags.BoolVar(&f.wholeQueries, "whole-queries", false, "keep the queries of URLs in the evidence")
	f.addFlags(cmd)
	return runs(cmd, f.run)
}

// replayMemory is how much memory a replay takes before garbage is collected more often.
const replayMemory = 320 << 20

// run is what caddy robots replay does.
func (f *replayFlags) run(cmd *cobra.Command, out *bufio.Writer, args []string) error {
	o, err := f.logOptions(cmd, args)
	if err != nil {
		return err
	}
	place := cmp.Or(f.robotsTxt, defaultFile)
	rules, err := f.read(cmd, place)
	if err != nil {
		return err
	}
	log, err := accesslog.Open(args, o)
	if err != nil {
		if errors.Is(err, os.ErrNotExist) {
			cmd.PrintErr(writeLog)
		}
		return err
	}
	defer log.Close()
	var page *os.File
	if f.html != "" {
		if page, err = os.Create(f.html); err != nil {
			return err // before an hour's work, which would be lost
		}
	}
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(replayMemory)) // what is kept at most fits, with a third of it to spare
	r := newReplay(rules, place, f.wholeAddresses, f.wholeQueries)
	r.run(log, newProgress(cmd.ErrOrStderr()))
	printTrouble(cmd.ErrOrStderr(), log)
	if f.since+f.until == "" {
		advise(cmd.ErrOrStderr(), log, &r.counts)
	}
	if r.counts.Requests == 0 && (r.counts.Unreadable > 0 && f.since+f.until == "" || log.Err() != nil) {
		return errors.New("not one request could be read; name a log of Caddy (JSON), or in the Common or Combined Log Format")
	}
	report := r.report()
	if page != nil {
		err = compliance.WritePage(page, withText(report, rules.Text), compliance.PageOptions{Source: "replay of " + strings.Join(args, ", ")})
		if err = errors.Join(err, page.Close()); err != nil {
			return err
		}
	}
	return f.print(out, report, r, terminalWidth(cmd.OutOrStdout()))
}

// withText returns a report whose sites all have this robots.txt.
func withText(report *compliance.Report, text string) *compliance.Report {
	with := *report
	with.Sites = slices.Clone(report.Sites)
	for i := range with.Sites {
		with.Sites[i].RobotsTxt = text
	}
	return &with
}

// logOptions returns what of a log is to be read, or an error for flags that make no sense together.
func (f *replayFlags) logOptions(cmd *cobra.Command, logs []string) (accesslog.Options, error) {
	o := accesslog.Options{Stdin: cmd.InOrStdin(), Zone: time.Local}
	var err error
	switch {
	case f.json && f.csv:
		return o, errors.New("--json and --csv are both there; write one of them")
	case f.robotsTxt == "-" && slices.Contains(logs, "-"):
		return o, errors.New("--robots-txt and the log are both standard input; write the name of a file for one of them")
	}
	if o.Since, err = parseMoment("--since", f.since); err != nil {
		return o, err
	}
	if o.Until, err = parseMoment("--until", f.until); err != nil {
		return o, err
	}
	if !o.Until.IsZero() && !o.Since.Before(o.Until) {
		err = fmt.Errorf("--since %s is not before --until %s; write the earlier time as --since", f.since, f.until)
	}
	return o, err
}

// parseMoment reads the time of a flag; an empty one is no time.
func parseMoment(flag, text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{time.RFC3339, time.DateOnly, "2006-01-02T15:04:05", time.DateTime, "2006-01-02T15:04", "2006-01-02 15:04"} {
		if t, err := time.ParseInLocation(layout, text, time.Local); err == nil {
			return t, nil
		}
	}
	if ago, err := caddy.ParseDuration(text); err == nil && ago >= 0 {
		return time.Now().Add(-ago), nil
	}
	return time.Time{}, fmt.Errorf("%s: %q is not a time; write a date such as 2026-11-01 or 2026-11-01T12:00:00Z, or how long ago, such as 7d", flag, text)
}

// print prints the report in the form that is wanted.
func (f *replayFlags) print(out *bufio.Writer, report *compliance.Report, r *replay, width int) error {
	switch {
	case f.json:
		return json.NewEncoder(out).Encode(struct {
			replayCounts
			RobotsTxt string `json:"robots_txt"` // the same for all sites
			*compliance.Report
		}{r.counts, r.rules.Text, report})
	case f.csv:
		return report.WriteRobots(out)
	}
	printReplay(out, report, r.counts, width)
	return nil
}

// printTrouble says what could not be read.
func printTrouble(w io.Writer, log *accesslog.Reader) {
	if err := log.Err(); err != nil {
		fmt.Fprintf(w, "not all could be read: %v\n", err)
	}
	n, first := log.Unreadable()
	if n > 0 {
		fmt.Fprintf(w, "%s could not be read:\n", number(int(n), "line"))
	}
	for _, problem := range first {
		fmt.Fprintf(w, "  %s\n", problem)
	}
	if more := n - int64(len(first)); more > 0 {
		fmt.Fprintf(w, "  and %d more\n", more)
	}
}
