package cli

import (
	"bufio"
	"fmt"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/caddy-robots/caddy-robots/internal/enforce"
	"github.com/caddy-robots/caddy-robots/internal/policies"
)

// checkCommand is caddy robots check.
func checkCommand() *cobra.Command {
	var q question
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "check --user-agent <name> [flags] <url>...",
		Short: "Says whether a robot may fetch some URLs",
		Long: `
Says for each URL or path whether the robot may fetch it, and which line of
robots.txt decides.

A User-Agent without blank and slash is the name of a robot. Anything else is a
header, and is judged as the robots directive would judge it: a person's browser
may fetch everything. An empty one is a client that sends no User-Agent.

Without --robots-txt, the rules are those of the first URL's site. If that is a
path, they are the file robots.txt in the current folder.

Exit status: 0 all are allowed, 1 at least one is disallowed, 2 it could not be
run.`,
		Example: `  caddy robots check --user-agent GPTBot https://example.com/private/
  caddy robots check --robots-txt new.txt --user-agent GPTBot / /private/
  caddy robots check --user-agent 'Mozilla/5.0 (compatible; GPTBot/1.2)' /`,
		Args: arguments(1, 0, "URL"),
	}
	q.addFlags(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON object for each URL, one on each line")
	return runs(cmd, func(cmd *cobra.Command, out *bufio.Writer, args []string) error {
		rules, err := q.read(cmd, args[0])
		if err != nil {
			return err
		}
		return check(out, rules, q.userAgent, args, asJSON)
	})
}

// check prints what the rules say of each URL.
func check(out *bufio.Writer, rules *policies.Rules, userAgent string, addresses []string, asJSON bool) error {
	who := identify(userAgent)
	width := 0
	for _, address := range addresses {
		width = min(max(width, utf8.RuneCountInString(printable(address))), 40)
	}
	var found error
	for _, address := range addresses {
		r, err := requestFor(address)
		if err != nil {
			return err
		}
		v := judge(rules, &r, who)
		if v.Kind != enforce.Allowed {
			found = errFound
		}
		if asJSON {
			printJSON(out, newFinding(&v, address, userAgent))
		} else {
			fmt.Fprintf(out, "%-10s  %-*s  %s\n", v.Kind, width, printable(address), reason(&v))
		}
	}
	return found
}
