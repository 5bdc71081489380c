package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/caddy-robots/caddy-robots/internal/enforce"
	"github.com/caddy-robots/caddy-robots/internal/policies"
	"github.com/caddy-robots/caddy-robots/robotsrules"
)

// defaultFile is where the rules are unless another place is named.
const defaultFile = "robots.txt"

// reader reads robots.txt files in the way that the flags of a command say. The zero value reads
// them as the directive does without options; prepare makes it ready.
type reader struct {
	texts   *policies.Cache
	options robotsrules.Options
	match   robotsrules.Match

	dialectFlag, matchFlag string // as written
}

// The values of the flags of a reader, the default first.
var (
	dialects = []string{"rfc9309", "draft1996", "norobots1994"}
	matches  = []string{"substring", "token"}
)

// addFlags adds the flags that say how a robots.txt is read.
func (rd *reader) addFlags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&rd.dialectFlag, "dialect", "", "rfc9309 (default), draft1996 or norobots1994")
	cmd.Flags().StringVar(&rd.matchFlag, "match", "", "substring (default) or token")
	_ = cmd.RegisterFlagCompletionFunc("dialect", cobra.FixedCompletions(dialects, cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("match", cobra.FixedCompletions(matches, cobra.ShellCompDirectiveNoFileComp))
}

// addPlaceFlag adds the flag that says where the rules are.
func addPlaceFlag(cmd *cobra.Command, place *string) {
	cmd.Flags().StringVar(place, "robots-txt", "", "the rules: a `file`, URL, or - for stdin")
}

// prepare takes in what the flags say, or returns an error for a word that is unknown.
func (rd *reader) prepare() error {
	dialect, noDialect := robotsrules.ParseDialect(cmp.Or(rd.dialectFlag, dialects[0]))
	match, noMatch := robotsrules.ParseMatch(cmp.Or(rd.matchFlag, matches[0]))
	rd.texts = policies.NewCache()
	rd.options = robotsrules.Options{Dialect: dialect, MaxBytes: robotsrules.DefaultMaxBytes}
	rd.match = match
	return errors.Join(noDialect, noMatch)
}

// read prepares the reader and reads the rules from a file, a URL, or, as "-", from standard input.
func (rd *reader) read(cmd *cobra.Command, place string) (*policies.Rules, error) {
	if err := rd.prepare(); err != nil {
		return nil, err
	}
	doc, err := rd.document(cmd, place)
	if err != nil {
		return nil, err
	}
	return rd.compile(doc), nil
}

func (rd *reader) compile(doc policies.Document) *policies.Rules {
	return rd.texts.Compile(doc, rd.options, rd.match)
}

func (rd *reader) document(cmd *cobra.Command, place string) (policies.Document, error) {
	switch {
	case place == "-":
		text, err := io.ReadAll(io.LimitReader(cmd.InOrStdin(), int64(rd.options.MaxBytes)+1))
		return policies.Document{Text: string(text)}, err
	case strings.HasPrefix(place, "http://"), strings.HasPrefix(place, "https://"):
		return rd.fetch(cmd, place)
	}
	doc, err := policies.ReadFile(place, rd.options.MaxBytes)
	if errors.Is(err, os.ErrNotExist) {
		err = fmt.Errorf("%w; write the path of a robots.txt, its URL, or - for standard input", err)
	}
	return doc, err
}

// fetch fetches a robots.txt. That there is none disallows nothing, but it is hardly what was
// meant.
func (rd *reader) fetch(cmd *cobra.Command, address string) (policies.Document, error) {
	ctx, cancel := context.WithTimeout(cmd.Context(), policies.LoadTimeout)
	defer cancel()
	doc, err := rd.texts.Fetch(ctx, address, rd.options.MaxBytes, nil, time.Now())
	if failed, ok := errors.AsType[*url.Error](err); ok {
		err = failed.Err // it repeats the address
	}
	switch {
	case err != nil:
		return doc, fmt.Errorf("%s: %w", address, err)
	case doc.Text == "" && !doc.Forbidden:
		cmd.PrintErrf("%s: there is no text, so nothing is disallowed\n", address)
	}
	return doc, nil
}

// siteRules returns where the rules for a URL are; for a path it is a file.
func siteRules(address string) string {
	if u, err := url.Parse(address); err == nil && u.Host != "" && strings.HasPrefix(u.Scheme, "http") {
		return u.Scheme + "://" + u.Host + enforce.RobotsTxt
	}
	return defaultFile
}
