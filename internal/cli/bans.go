package cli

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/caddy-robots/caddy-robots/internal/enforce"
)

// ban is a ban in force, as the admin API says it.
type ban struct {
	Site, Port, Robot, Standing, Address, Rule string
	Line                                       int
	Until                                      time.Time
}

// bans returns the bans in force.
func (c *running) bans() ([]ban, json.RawMessage, error) {
	return get[[]ban](c, http.MethodGet, "/robots/bans", nil)
}

// bansCommand is caddy robots bans.
func bansCommand() *cobra.Command {
	var c running
	cmd := &cobra.Command{
		Use:   "bans [flags]",
		Short: "Lists who is banned, or caught in a trap, on a running Caddy",
		Long: `
Lists the bans in force on a running Caddy, with the line of robots.txt that was
disobeyed last, and the clients that count as robots since they fetched a trap.

Exit status: 0 it was done, 2 it could not be.`,
		Example: `  caddy robots bans
  caddy robots bans --json | jq .bans`,
		Args: noArguments,
	}
	c.addFlags(cmd, "a JSON object, with the lists bans and trapped")
	return runs(cmd, func(cmd *cobra.Command, out *bufio.Writer, _ []string) error {
		bans, rawBans, err := c.bans()
		if err != nil {
			return err
		}
		trapped, rawTrapped, err := get[[]enforce.Capture](&c, http.MethodGet, "/robots/trapped", nil)
		if err != nil {
			return err
		}
		if c.asJSON {
			printJSON(out, map[string]json.RawMessage{"bans": rawBans, "trapped": rawTrapped})
			return nil
		}
		width := terminalWidth(cmd.OutOrStdout())
		printBans(out, bans, "Nobody is banned.", width)
		if len(trapped) > 0 {
			fmt.Fprintln(out)
			rows := [][]string{{"TRAPPED", "SITE", "UNTIL", "IN", "USER-AGENT"}}
			for _, capture := range trapped {
				rows = append(rows, []string{printable(capture.Address), printable(capture.Host), moment(capture.Until), printable(capture.Path), printable(capture.UserAgent)})
			}
			printRows(out, rows, width)
		}
		return nil
	})
}

// printBans prints bans, or a sentence where there is none.
func printBans(out *bufio.Writer, bans []ban, none string, width int) {
	if len(bans) == 0 {
		fmt.Fprintln(out, none)
		return
	}
	rows := [][]string{{"BANNED", "ADDRESS", "SITE", "UNTIL", "LAST DISOBEYED"}}
	for i := range bans {
		b := &bans[i]
		robot, address, site, cause := b.Robot, b.Address, b.Site, b.Rule
		if b.Standing != "" {
			robot += " (" + b.Standing + ")"
		}
		if address == "" {
			address = "any"
		}
		if b.Port != "" {
			site += ":" + b.Port
		}
		if b.Line > 0 {
			cause = fmt.Sprintf("line %d %q", b.Line, b.Rule)
		}
		rows = append(rows, []string{printable(robot), printable(address), printable(site), moment(b.Until), printable(cause)})
	}
	printRows(out, rows, width)
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
Lifts the bans that fit all of what is given, on a running Caddy and, with the
option share, on its fleet. With --client alone, the clients at that address
that were caught in a trap are let go, too.

Exit status: 0 at least one was lifted, 1 none fits, 2 it could not be done.`,
		Example: `  caddy robots lift --site example.com
  caddy robots lift --robot GPTBot --client 203.0.113.7`,
		Args: noArguments,
	}
	flags := cmd.Flags()
	flags.StringVar(&robot, "robot", "", "the bans of this robot's `name`")
	flags.StringVar(&client, "client", "", "the bans of this `address`")
	flags.StringVar(&site, "site", "", "the bans on this `host`")
	flags.BoolVar(&all, "all", false, "all bans")
	c.addFlags(cmd, "a JSON object in a line for each ban")
	for flag, of := range map[string]func(*ban) string{"robot": robotOf, "client": addressOf, "site": siteOf} {
		_ = cmd.RegisterFlagCompletionFunc(flag, c.completed(func() []string { return c.banned(of) }))
	}
	return runs(cmd, func(cmd *cobra.Command, out *bufio.Writer, _ []string) error {
		if all == (robot+client+site != "") {
			return errors.New("which bans? Write --robot, --client or --site, or several of them; or --all alone")
		}
		query := make(url.Values)
		for name, value := range map[string]string{"robot": robot, "address": client, "site": site, "all": map[bool]string{true: "true"}[all]} {
			if value != "" {
				query.Set(name, value)
			}
		}
		lifted, raw, err := get[[]ban](&c, http.MethodDelete, "/robots/bans", query)
		if err != nil && !isUnknown(err) {
			return err
		}
		isReleased := false
		if client != "" && robot+site == "" {
			if _, gone := c.ask(http.MethodDelete, "/robots/trapped", query); gone == nil {
				isReleased = true
			} else if !isUnknown(gone) {
				return gone
			}
		}
		if len(lifted) == 0 && !isReleased {
			cmd.PrintErrf("%s: no ban fits that%s%s; caddy robots bans lists them\n", cmd.CommandPath(),
				didYouMean(robot, c.banned(robotOf)), didYouMean(site, c.banned(siteOf)))
			return errFound
		}
		if c.asJSON {
			printEach(out, raw)
			return nil
		}
		printBans(out, lifted, "No ban was lifted.", terminalWidth(cmd.OutOrStdout()))
		if isReleased {
			fmt.Fprintf(out, "The clients of %s that were caught in a trap are let go.\n", printable(client))
		}
		return nil
	})
}

func robotOf(b *ban) string   { return b.Robot }
func addressOf(b *ban) string { return b.Address }
func siteOf(b *ban) string    { return b.Site }

// banned returns what the bans in force have in one place, none if they are not known.
func (c *running) banned(of func(*ban) string) (values []string) {
	all, _, _ := c.bans()
	for i := range all {
		if value := of(&all[i]); value != "" {
			values = append(values, value)
		}
	}
	slices.Sort(values)
	return slices.Compact(values)
}
