package cli

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/spf13/cobra"

	"github.com/caddy-robots/caddy-robots/internal/enforce"
)

// Where the admin API has who is banned, and who is caught in a trap.
const (
	bansPath    = "/robots/bans"
	trappedPath = "/robots/trapped"
)

// ban is a ban in force, as the admin API says it.
type ban struct {
	Site, Port, Robot, Standing, Address, Rule string
	Line                                       int
	Until                                      time.Time
}

// bansCommand is caddy robots bans.
func bansCommand() *cobra.Command {
	var c running
	return asking(&c, &cobra.Command{
		Use:   "bans [flags]",
		Short: "Lists who is banned, or caught in a trap, on a running Caddy",
		Long: `
Lists the bans in force on a running Caddy, each with the line of robots.txt
that was broken last. Then it lists the clients that count as robots because
they fetched a trap.

Exit status: 0 done, 2 it could not be done.`,
		Args: noArguments,
	}, func([]string) error {
		bans, err := get[[]ban](&c, http.MethodGet, bansPath, nil)
		if err != nil {
			return err
		}
		c.printBans(bans, "Nobody is banned.")
		trapped, err := get[[]enforce.Capture](&c, http.MethodGet, trappedPath, nil)
		if len(trapped) > 0 {
			fmt.Fprintln(c.out)
			rows := [][]string{{"TRAPPED", "SITE", "UNTIL", "IN", "USER-AGENT"}}
			for _, t := range trapped {
				rows = append(rows, []string{printable(t.Address), printable(t.Host), moment(t.Until), printable(t.Path), printable(t.UserAgent)})
			}
			printRows(c.out, rows, terminalWidth(c.cmd.OutOrStdout()))
		}
		return err
	})
}

// printBans prints bans, or a sentence where there is none.
func (c *running) printBans(bans []ban, none string) {
	if len(bans) == 0 {
		fmt.Fprintln(c.out, none)
		return
	}
	rows := [][]string{{"BANNED", "ADDRESS", "SITE", "UNTIL", "LAST DISOBEYED"}}
	for _, b := range bans {
		if b.Standing != "" {
			b.Robot += " (" + b.Standing + ")"
		}
		if b.Address == "" {
			b.Address = "any"
		}
		if b.Port != "" {
			b.Site += ":" + b.Port
		}
		if b.Line > 0 {
			b.Rule = fmt.Sprintf("line %d %q", b.Line, b.Rule)
		}
		rows = append(rows, []string{printable(b.Robot), printable(b.Address), printable(b.Site), moment(b.Until), printable(b.Rule)})
	}
	printRows(c.out, rows, terminalWidth(c.cmd.OutOrStdout()))
}

// liftCommand is caddy robots lift.
func liftCommand() *cobra.Command {
	var c running
	var robot, client, site string
	var all bool
	cmd := &cobra.Command{
		Use:   "lift [flags]",
		Short: "Lifts bans on a running Caddy",
		Long: `
Lifts the bans that match all flags, on a running Caddy and, with the option
share, on its fleet. --client without other flags also releases the clients at
that address that were caught in a trap.

Exit status: 0 at least one was lifted, 1 none matches, 2 it could not be done.`,
		Example: `  caddy robots lift --site example.com
  caddy robots lift --robot GPTBot --client 203.0.113.7`,
		Args: noArguments,
	}
	cmd.Flags().StringVar(&robot, "robot", "", "the bans of this robot's `name`")
	cmd.Flags().StringVar(&client, "client", "", "the bans of this `address`")
	cmd.Flags().StringVar(&site, "site", "", "the bans on this `host`")
	cmd.Flags().BoolVar(&all, "all", false, "all bans")
	for flag, key := range map[string]string{"robot": "robot", "client": "address", "site": "site"} {
		_ = cmd.RegisterFlagCompletionFunc(flag, c.completed(bansPath, key))
	}
	return asking(&c, cmd, func([]string) error {
		query := make(url.Values)
		for key, value := range map[string]string{"robot": robot, "address": client, "site": site} {
			if value != "" {
				query.Set(key, value)
			}
		}
		if all == (len(query) > 0) {
			return errors.New("which bans? Write --robot, --client or --site, or several of them; or --all alone")
		}
		if all {
			query.Set("all", "true")
		}
		lifted, err := get[[]ban](&c, http.MethodDelete, bansPath, query)
		if err != nil && !isUnknown(err) {
			return err
		}
		isReleased := false
		if client != "" && len(query) == 1 {
			_, err := c.ask(http.MethodDelete, trappedPath, query)
			if isReleased = err == nil; err != nil && !isUnknown(err) {
				return err
			}
		}
		if len(lifted) == 0 && !isReleased {
			c.cmd.PrintErrf("%s: no ban matches%s%s; caddy robots bans lists them\n", c.cmd.CommandPath(),
				c.meant(robot, bansPath, "robot"), c.meant(site, bansPath, "site"))
			return errFound
		}
		c.printBans(lifted, "No ban was lifted.")
		if isReleased {
			fmt.Fprintf(c.out, "The clients of %s that were caught in a trap are released.\n", printable(client))
		}
		return nil
	})
}
