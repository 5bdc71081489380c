package caddymodule

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"strings"
	"time"

	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	"github.com/spf13/cobra"

	"github.com/caddy-robots/caddy-robots/robotsrules"
)

func init() {
	caddycmd.RegisterCommand(caddycmd.Command{
		Name:  "robots",
		Short: "Tries a robots.txt before it binds anyone",
		Long: `
Asks what the robots directive would do, without a server: for some URLs
(check), for a file of cases (test), for last month's access log (replay). lint
says what is wrong with a robots.txt, explain why a request is or is not
allowed.

All of it is judged by the code that judges requests.
`,
		CobraFunc: func(cmd *cobra.Command) {
			cmd.AddCommand(checkCommand(), testCommand(), lintCommand(), explainCommand(), replayCommand())
			cmd.DisableFlagsInUseLine = true
			runs(cmd, func(cmd *cobra.Command, _ *bufio.Writer, args []string) (int, error) {
				if len(args) > 0 {
					return 0, fmt.Errorf("there is no command %q; write check, test, lint, explain or replay", args[0])
				}
				return exitFine, cmd.Help()
			})
		},
	})
}

// How a command ended.
const (
	exitFine  = 0
	exitFound = 1 // what it was to look for is there
	exitNot   = 2 // it could not be run
)

// errFound ends a command with status 1. Its text is never shown.
var errFound = errors.New("something was found")

// runs makes f what a command does. What f returns as an error is told, and ends it with
// status 2.
func runs(cmd *cobra.Command, f func(cmd *cobra.Command, out *bufio.Writer, args []string) (int, error)) *cobra.Command {
	cmd.SilenceUsage, cmd.SilenceErrors = true, true
	cannot := func(cmd *cobra.Command, err error) error {
		cmd.PrintErrf("%s: %v\n", cmd.CommandPath(), err)
		return caddycmd.WrapCommandFuncForCobra(func(caddycmd.Flags) (int, error) { return exitNot, nil })(cmd, nil)
	}
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return cannot(cmd, fmt.Errorf("%w; see %s --help", err, cmd.CommandPath()))
	})
	accept := cmd.Args
	cmd.Args = nil
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if accept != nil {
			if err := accept(cmd, args); err != nil {
				return cannot(cmd, fmt.Errorf("%w; see %s --help", err, cmd.CommandPath()))
			}
		}
		out := bufio.NewWriter(cmd.OutOrStdout())
		status, err := f(cmd, out, args)
		if flushed := out.Flush(); err == nil && flushed != nil && !errors.Is(flushed, os.ErrClosed) {
			err = flushed
		}
		switch {
		case err != nil:
			return cannot(cmd, err)
		case status == exitFound:
			return errFound
		}
		return nil
	}
	return cmd
}

// arguments accepts so many arguments; most is 0 where there may be any number.
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

// rulesFlag adds the flag that says where the rules are.
func rulesFlag(cmd *cobra.Command, place *string) {
	cmd.Flags().StringVar(place, "robots-txt", "", "where the rules are: a `file`, URL, or - for stdin")
}

// question is who asks, and by which rules: what check and explain are told.
type question struct {
	h                *Handler
	place, userAgent string
}

// ask adds the flags that ask it.
func (q *question) ask(cmd *cobra.Command) {
	q.h = new(Handler)
	rulesFlag(cmd, &q.place)
	cmd.Flags().StringVar(&q.userAgent, "user-agent", "", "a robot's `name`, or a whole User-Agent header")
	readingFlags(cmd, q.h)
}

// read reads the rules: without a place those of the site that an address is on.
func (q *question) read(cmd *cobra.Command, address string) (*examiner, *ruleset, error) {
	if !cmd.Flags().Changed("user-agent") {
		return nil, nil, errors.New("no --user-agent; write the name of a robot, such as GPTBot, or a whole User-Agent header")
	}
	e, err := newExaminer(q.h)
	if err != nil {
		return nil, nil, err
	}
	place := q.place
	if place == "" {
		place = robotsTxtOf(address)
	}
	doc, err := readText(cmd, place)
	if err != nil {
		return nil, nil, err
	}
	return e, e.rules(doc), nil
}

// robotsTxtOf returns where the rules for a URL are.
func robotsTxtOf(address string) string {
	if u, err := url.Parse(address); err == nil && u.Host != "" && strings.HasPrefix(u.Scheme, "http") {
		return u.Scheme + "://" + u.Host + robotsPath
	}
	return robotsFile
}

// robotsFile is where the rules are unless another place is named.
const robotsFile = "robots.txt"

// readingFlags adds the flags that say how a robots.txt is read.
func readingFlags(cmd *cobra.Command, h *Handler) {
	cmd.Flags().StringVar(&h.Dialect, "dialect", "", "rfc9309 (default), draft1996 or norobots1994")
	cmd.Flags().StringVar(&h.Match, "match", "", "substring (default) or token")
	_ = cmd.RegisterFlagCompletionFunc("dialect", cobra.FixedCompletions([]string{"rfc9309", "draft1996", "norobots1994"}, cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("match", cobra.FixedCompletions([]string{"substring", "token"}, cobra.ShellCompDirectiveNoFileComp))
}

// readText reads a robots.txt from a file, a URL, or, as "-", from standard input.
func readText(cmd *cobra.Command, place string) (document, error) {
	const limit = robotsrules.DefaultMaxBytes
	switch {
	case place == "-":
		text, err := io.ReadAll(io.LimitReader(cmd.InOrStdin(), limit+1))
		return document{text: string(text)}, err
	case strings.HasPrefix(place, "http://"), strings.HasPrefix(place, "https://"):
		return fetchText(cmd, place, limit)
	}
	doc, err := readFile(place, limit)
	if errors.Is(err, os.ErrNotExist) {
		err = fmt.Errorf("%w; write the path of a robots.txt, its URL, or - for standard input", err)
	}
	return doc, err
}

// fetchText fetches a robots.txt. That there is none says nothing against any robot, but it
// is hardly what was meant.
func fetchText(cmd *cobra.Command, address string, limit int) (document, error) {
	ctx, cancel := context.WithTimeout(cmd.Context(), loadTimeout)
	defer cancel()
	doc, err := fetch(ctx, new(shared), address, limit, maxRedirects, nil, time.Now())
	if failed, ok := errors.AsType[*url.Error](err); ok {
		err = failed.Err // it repeats the address
	}
	switch {
	case err != nil:
		return doc, fmt.Errorf("%s: %w", address, err)
	case doc.text == "" && !doc.forbidden:
		cmd.PrintErrf("%s: there is no text, so nothing is disallowed\n", address)
	}
	return doc, nil
}
