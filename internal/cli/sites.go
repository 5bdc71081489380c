package cli

import (
	"bufio"
	"cmp"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/caddy-robots/caddy-robots/internal/policies"
)

// sitesCommand is caddy robots sites.
func sitesCommand() *cobra.Command {
	var c running
	cmd := &cobra.Command{
		Use:   "sites [flags] [<host>]",
		Short: "Lists the sites of a running Caddy, and whose rules hold",
		Long: `
Lists the hosts whose robots.txt a running Caddy enforces: whether it could be
loaded, how many rules there are, when it was loaded last, and what is wrong.
Of one host it says all, with the lines that do not say what they seem to.

Exit status: 0 all could be loaded, 1 at least one could not or the host is not
known, 2 it could not be run.`,
		Example: `  caddy robots sites
  caddy robots sites example.com
  caddy robots sites --json --address unix//run/caddy/admin.sock`,
		Args:              arguments(0, 1, "host"),
		ValidArgsFunction: c.completed(c.hostNames),
	}
	c.addFlags(cmd, "a JSON object in a line for each site")
	return runs(cmd, func(cmd *cobra.Command, out *bufio.Writer, args []string) error {
		if len(args) > 0 {
			return c.printSite(cmd, out, args[0])
		}
		all, raw, err := c.sites()
		if err != nil {
			return err
		}
		rows := [][]string{{"HOST", "STATUS", "RULES", "LOADED", "WHAT IS WRONG"}}
		for i := range all {
			rec := &all[i]
			rows = append(rows, []string{hostLabel(rec.Host), rec.Status, strconv.Itoa(rec.Rules), moment(rec.Loaded), trouble(rec)})
			if rec.Status == policies.StatusFailing {
				err = errFound
			}
		}
		switch {
		case c.asJSON:
			printEach(out, raw)
		case len(all) == 0:
			fmt.Fprintln(out, "No site of the config that runs has the robots directive.")
		default:
			printRows(out, rows, math.MaxInt) // what is wrong is told in full
		}
		return err
	})
}

// hostLabel names a host in a table.
func hostLabel(host string) string { return cmp.Or(printable(host), "(all hosts)") }

// moment writes a time for a table, "never" for the zero time.
func moment(t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return t.Local().Format(tableTime)
}

// trouble says what is wrong with the robots.txt of a site.
func trouble(rec *policies.Record) string {
	switch {
	case rec.Failure != "":
		return printable(rec.Failure) + "; in force: " + rec.Holds
	case rec.Errors+rec.Warnings > 0:
		return number(rec.Errors, "error") + ", " + number(rec.Warnings, "warning")
	}
	return cmp.Or(printable(rec.Denied), "-")
}

// printSite prints all that is known of one site.
func (c *running) printSite(cmd *cobra.Command, out *bufio.Writer, host string) error {
	rec, raw, err := get[policies.FullRecord](c, http.MethodGet, "/robots/sites/"+url.PathEscape(host), nil)
	if isUnknown(err) {
		cmd.PrintErrf("%s: %q: %v%s\n", cmd.CommandPath(), host, err, didYouMean(host, c.hostNames()))
		return errFound
	}
	if err != nil {
		return err
	}
	if c.asJSON {
		fmt.Fprintf(out, "%s", raw)
	} else {
		fmt.Fprintln(out, hostLabel(rec.Host))
		say := func(what, value string) { fmt.Fprintf(out, "  %-8s  %s\n", what, printable(value)) }
		say("status", rec.Status)
		if rec.Failure != "" {
			say("failure", rec.Failure)
		}
		say("in force", rec.Holds)
		say("from", strings.Join(rec.Sources, ", "))
		say("has", fmt.Sprintf("%s in %s, %d bytes", number(rec.Rules, "rule"), number(rec.Records, "record"), rec.Bytes))
		say("loaded", moment(rec.Loaded)+", unchanged since "+moment(rec.Since))
		for _, d := range rec.Diagnostics {
			text := d.Severity + ": " + sentence(d.What)
			if d.Instead != "" {
				text += " " + sentence(capital(d.Instead))
			}
			say(fmt.Sprintf("line %d", d.Line), text)
		}
	}
	if rec.Status == policies.StatusFailing {
		return errFound
	}
	return nil
}

// refreshed is what came of a load, as the admin API says it.
type refreshed struct {
	Host, Found, Failure string
	Changed              bool
}

// refreshCommand is caddy robots refresh.
func refreshCommand() *cobra.Command {
	var c running
	cmd := &cobra.Command{
		Use:   "refresh [flags] [<host>...]",
		Short: "Has a running Caddy load robots.txt again",
		Long: `
Has a running Caddy load robots.txt again at once, of all sites or of some, and
says what it found. A load that fails takes no rules away.

Exit status: 0 all could be loaded, 1 at least one could not or a host is not
known, 2 it could not be run.`,
		Example: `  caddy robots refresh
  caddy robots refresh example.com www.example.com`,
		ValidArgsFunction: c.completed(c.hostNames),
	}
	c.addFlags(cmd, "a JSON object in a line for each site")
	return runs(cmd, func(cmd *cobra.Command, out *bufio.Writer, hosts []string) (err error) {
		queries := []url.Values{nil}
		if len(hosts) > 0 {
			queries = nil
		}
		for _, host := range hosts {
			queries = append(queries, url.Values{"host": {host}})
		}
		rows := [][]string{{"HOST", "RULES", "FOUND"}}
		var failed error
		for _, query := range queries {
			all, raw, err := get[[]refreshed](&c, http.MethodPost, "/robots/refresh", query)
			if isUnknown(err) {
				cmd.PrintErrf("%s: %q: %v%s\n", cmd.CommandPath(), query.Get("host"), err, didYouMean(query.Get("host"), c.hostNames()))
				failed = errFound
				continue
			}
			if err != nil {
				return err
			}
			if c.asJSON {
				printEach(out, raw)
			}
			for _, rec := range all {
				state := map[bool]string{false: "same", true: "changed"}[rec.Changed]
				if rec.Failure != "" {
					state, failed = "failed", errFound
					rec.Found = rec.Failure + "; found: " + rec.Found
				}
				rows = append(rows, []string{hostLabel(rec.Host), state, printable(rec.Found)})
			}
		}
		switch {
		case c.asJSON || len(rows) == 1 && failed != nil:
		case len(rows) == 1:
			fmt.Fprintln(out, "No host is known yet: none that the config names, and nobody has asked for another.")
		default:
			printRows(out, rows, math.MaxInt)
		}
		return failed
	})
}
