// Package cli is the command `caddy robots`. Some of its commands try a robots.txt before it binds
// anyone: each fills an enforce.Request from a URL, a case or a line of a log, and has it judged
// by the engine that judges requests in the server. The others ask a running Caddy, at its admin
// endpoint, how it is, or have it change something until its next config.
package cli

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Command returns the command `caddy robots`, for caddycmd.RegisterCommand.
func Command() caddycmd.Command {
	return caddycmd.Command{
		Name:  "robots",
		Short: "Tries a robots.txt, and asks or changes a running Caddy",
		Long: `
Some commands need no server. check, test and replay say what the robots
directive would do: for some URLs, for a file of cases, for an access log. lint
finds what is wrong with a robots.txt. explain says why a request is or is not
allowed. catalogue prints what is known about a robot. They use the same code as
the server.

The others ask a running Caddy at its admin endpoint. status reports its state,
sites which rules hold, bans who is banned, report what robots did. lift ends
bans, refresh loads robots.txt again, and observe switches refusals off and on.
`,
		CobraFunc: func(cmd *cobra.Command) {
			cmd.AddCommand(checkCommand(), testCommand(), lintCommand(), explainCommand(), replayCommand(), catalogueCommand())
			cmd.AddCommand(statusCommand(), sitesCommand(), bansCommand(), liftCommand(), refreshCommand(), observeCommand(), reportCommand())
			cmd.DisableFlagsInUseLine = true
			runs(cmd, func(cmd *cobra.Command, _ *bufio.Writer, args []string) error {
				if len(args) > 0 {
					var names []string
					for _, known := range cmd.Commands() {
						names = append(names, known.Name())
					}
					return fmt.Errorf("there is no command %q; write one of %s%s", args[0], strings.Join(names, ", "), didYouMean(args[0], names))
				}
				return cmd.Help()
			})
		},
	}
}

// exitNot is the status of a command that could not be run.
const exitNot = 2

// errFound ends a command that found what it looks for with status 1. Its text is never shown.
var errFound = errors.New("something was found")

// runs makes f what a command does. Any error of f but errFound is printed, and ends the command
// with status 2.
func runs(cmd *cobra.Command, f func(cmd *cobra.Command, out *bufio.Writer, args []string) error) *cobra.Command {
	cmd.SilenceUsage, cmd.SilenceErrors = true, true
	cannot := func(cmd *cobra.Command, err error) error {
		cmd.PrintErrf("%s: %v\n", cmd.CommandPath(), err)
		return caddycmd.WrapCommandFuncForCobra(func(caddycmd.Flags) (int, error) { return exitNot, nil })(cmd, nil)
	}
	misused := func(cmd *cobra.Command, err error) error {
		return cannot(cmd, fmt.Errorf("%w; see %s --help%s", err, cmd.CommandPath(), meantFlag(cmd, err)))
	}
	cmd.SetFlagErrorFunc(misused)
	accept := cmd.Args
	cmd.Args = nil
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if accept != nil {
			if err := accept(cmd, args); err != nil {
				return misused(cmd, err)
			}
		}
		out := bufio.NewWriter(cmd.OutOrStdout())
		err := f(cmd, out, args)
		isDone := err == nil || errors.Is(err, errFound)
		if flushed := out.Flush(); isDone && flushed != nil && !errors.Is(flushed, os.ErrClosed) {
			return cannot(cmd, flushed)
		}
		if !isDone {
			return cannot(cmd, err)
		}
		return err
	}
	return cmd
}

// meantFlag returns a question about the flag that may be meant by one that there is not, "" for
// none and for other errors.
func meantFlag(cmd *cobra.Command, err error) string {
	unknown, ok := errors.AsType[interface {
		error
		GetSpecifiedName() string
	}](err)
	if !ok {
		return ""
	}
	var names []string
	cmd.Flags().VisitAll(func(flag *pflag.Flag) { names = append(names, "--"+flag.Name) })
	return didYouMean("--"+unknown.GetSpecifiedName(), names)
}

// arguments accepts from least to most arguments; most is 0 where there may be any number.
func arguments(least, most int, what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return fmt.Errorf("no %s was named; write one", what)
		case most > 0 && len(args) > most:
			return fmt.Errorf("%q is one %s too many; write one", args[most], what)
		}
		return nil
	}
}

// noArguments accepts none.
func noArguments(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("%q is too many; this command takes flags only", args[0])
	}
	return nil
}

// printJSON prints a value as one line. That it cannot be written shows when out is flushed.
func printJSON(out *bufio.Writer, value any) {
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(value)
}
