package cli

import (
	"cmp"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/caddy-robots/caddy-robots/internal/policies"
)

// sitesPath is where the admin API lists sites, by their host.
const sitesPath = "/robots/sites"

// sitesCommand is caddy robots sites.
func sitesCommand() *cobra.Command {
	var c running
	return asking(&c, &cobra.Command{
		Use:   "sites [flags] [<host>]",
		Short: "Lists the sites of a running Caddy, and which rules hold",
		Long: `
Lists the hosts whose robots.txt a running Caddy enforces: whether it could be
loaded, how many rules there are, when it was loaded last, and what is wrong.
For one host it also prints the lines that do not mean what they seem to mean.

Exit status: 0 all could be loaded, 1 at least one could not or the host is not
known, 2 it could not be run.`,
		Example: `  caddy robots sites
  caddy robots sites --address unix//run/caddy/admin.sock example.com`,
		Args:              arguments(0, 1, "host"),
		ValidArgsFunction: c.completed(sitesPath, "host"),
	}, func(args []string) error {
		if len(args) > 0 {
			return c.printSite(args[0])
		}
		all, err := get[[]policies.Record](&c, http.MethodGet, sitesPath, nil)
		switch {
		case err != nil:
			return err
		case len(all) > 0:
			return c.printSites(all)
		}
		fmt.Fprintln(c.out, "No site of the running config has the robots directive.")
		return nil
	})
}

// printSites prints a row for each site; the error is errFound if one of them fails.
func (c *running) printSites(all []policies.Record) (result error) {
	rows := [][]string{{"HOST", "STATUS", "RULES", "LOADED", "WHAT IS WRONG"}}
	for i := range all {
		rec := &all[i]
		wrong := cmp.Or(printable(rec.Denied), "-")
		switch {
		case rec.Failure != "":
			wrong = printable(rec.Failure) + "; in force: " + rec.Holds
		case rec.Errors+rec.Warnings > 0:
			wrong = number(rec.Errors, "error") + ", " + number(rec.Warnings, "warning")
		}
		rows = append(rows, []string{hostLabel(rec.Host), rec.Status, strconv.Itoa(rec.Rules), moment(rec.Loaded), wrong})
		if rec.Status == policies.StatusFailing {
			result = errFound
		}
	}
	printRows(c.out, rows, math.MaxInt) // what is wrong is told in full
	return result
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

// unknownHost says that a host is not known.
func (c *running) unknownHost(host string, err error) error {
	c.cmd.PrintErrf("%s: %q: %v%s\n", c.cmd.CommandPath(), host, err, c.meant(host, sitesPath, "host"))
	return errFound
}

// printSite prints the row of one site, and what is wrong in its robots.txt.
func (c *running) printSite(host string) error {
	rec, err := get[policies.FullRecord](c, http.MethodGet, sitesPath+"/"+url.PathEscape(host), nil)
	if isUnknown(err) {
		return c.unknownHost(host, err)
	}
	if err != nil {
		return err
	}
	result := c.printSites([]policies.Record{rec.Record})
	for _, d := range rec.Diagnostics {
		fmt.Fprintf(c.out, "line %d: %s: %s", d.Line, d.Severity, printable(sentence(d.What)))
		if d.Instead != "" {
			fmt.Fprint(c.out, " ", printable(sentence(capital(d.Instead))))
		}
		fmt.Fprintln(c.out)
	}
	return result
}

// refreshCommand is caddy robots refresh.
func refreshCommand() *cobra.Command {
	var c running
	return asking(&c, &cobra.Command{
		Use:   "refresh [flags] [<host>]",
		Short: "Makes a running Caddy load robots.txt again",
		Long: `
Makes a running Caddy load robots.txt again at once, for all sites or for one,
and prints what it found. A load that fails never removes rules.

Exit status: 0 all could be loaded, 1 at least one could not or the host is not
known, 2 it could not be run.`,
		Args:              arguments(0, 1, "host"),
		ValidArgsFunction: c.completed(sitesPath, "host"),
	}, func(hosts []string) error {
		query := make(url.Values)
		if len(hosts) > 0 {
			query["host"] = hosts
		}
		all, err := get[[]struct {
			Host, Found, Failure string
			Changed              bool
		}](&c, http.MethodPost, "/robots/refresh", query)
		switch {
		case isUnknown(err):
			return c.unknownHost(hosts[0], err)
		case err != nil:
			return err
		case len(all) == 0:
			fmt.Fprintln(c.out, "No host is known yet: the config names none, and no client has asked for one.")
			return nil
		}
		rows := [][]string{{"HOST", "RULES", "FOUND"}}
		for _, rec := range all {
			state := map[bool]string{false: "same", true: "changed"}[rec.Changed]
			if rec.Failure != "" {
				state, err = "failed", errFound
				rec.Found = rec.Failure + "; found: " + rec.Found
			}
			rows = append(rows, []string{hostLabel(rec.Host), state, printable(rec.Found)})
		}
		printRows(c.out, rows, math.MaxInt)
		return err
	})
}
