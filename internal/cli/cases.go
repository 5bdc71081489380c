package cli

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/caddy-robots/caddy-robots/internal/enforce"
	"github.com/caddy-robots/caddy-robots/internal/policies"
)

// maxCaseLine bounds one line of a file of cases: a robots.txt in JSON, and some.
const maxCaseLine = 8 << 20

// testCommand is caddy robots test.
func testCommand() *cobra.Command {
	var cases caseReader
	var form format
	cmd := &cobra.Command{
		Use:   "test [flags] <cases.jsonl|->",
		Short: "Runs a file of cases against your robots.txt",
		Long: `
Reads cases, one JSON object on each line:

  {"robots_txt_file": "robots.txt", "name": "no training",
   "user_agent": "GPTBot", "url": "/", "expect": "disallowed"}
  {"user_agent": "Googlebot", "url": "/", "expect": "allowed"}

(each on one line). It prints the cases that fail, and the line of robots.txt
that decided. The rules are the text in robots_txt, or the file in
robots_txt_file, a path relative to the file of cases. A case with neither uses
the rules of the case before. user_agent has the same forms as for check.

Exit status: 0 all pass, 1 at least one fails, 2 it could not be run.`,
		Example: `  caddy robots test cases.jsonl
  generate-cases | caddy robots test --json -`,
		Args: arguments(1, 1, "file of cases"),
	}
	form.addFlags(cmd, "a case")
	cases.addFlags(cmd)
	return runs(cmd, func(cmd *cobra.Command, out *bufio.Writer, args []string) error {
		if err := cmp.Or(form.check(), cases.prepare()); err != nil {
			return err
		}
		cases.name, cases.lines = args[0], bufio.NewScanner(cmd.InOrStdin())
		if args[0] != "-" {
			file, err := os.Open(args[0])
			if err != nil {
				return err
			}
			defer file.Close()
			cases.lines, cases.folder = bufio.NewScanner(file), filepath.Dir(args[0])
		}
		cases.lines.Buffer(make([]byte, 64<<10), maxCaseLine)
		return cases.run(out, form)
	})
}

// testCase is one case as it is written.
type testCase struct {
	RobotsTxt     *string `json:"robots_txt"`
	RobotsTxtFile *string `json:"robots_txt_file"`
	UserAgent     *string `json:"user_agent"`
	URL           string  `json:"url"`
	Expect        string  `json:"expect"`
	Name          string  `json:"name"`
}

// caseResult is what became of one, as it is printed with --json.
type caseResult struct {
	Name   string `json:"name"`
	Expect string `json:"expect"`
	Passed bool   `json:"passed"`
	finding
}

// caseReader reads cases and judges them.
type caseReader struct {
	reader
	name   string
	folder string
	lines  *bufio.Scanner
	line   int
	rules  *policies.Rules // of the case before
}

// run judges all cases and prints what became of them.
func (c *caseReader) run(out *bufio.Writer, form format) error {
	passed, failed := 0, 0
	for c.lines.Scan() {
		c.line++
		text := bytes.TrimSpace(c.lines.Bytes())
		if len(text) == 0 {
			continue
		}
		tc, r, err := c.parse(text)
		if err != nil {
			return fmt.Errorf("%s:%d: %w", c.name, c.line, err)
		}
		v := judge(c.rules, &r, identify(*tc.UserAgent))
		ok := v.Kind.String() == tc.Expect
		if ok {
			passed++
		} else {
			failed++
		}
		failure := func() string {
			return fmt.Sprintf("%s%s for %s: %s, expected %s: %s", label(tc.Name),
				printable(tc.URL), printable(*tc.UserAgent), v.Kind, tc.Expect, reason(&v))
		}
		switch {
		case form.isJSON():
			printJSON(out, caseResult{tc.Name, tc.Expect, ok, newFinding(&v, tc.URL, *tc.UserAgent)})
		case ok:
		case form.isGitHub():
			printAnnotation(out, "error", c.name, c.line, "robots.txt", failure())
		default:
			fmt.Fprintf(out, "%s:%d: %s\n", c.name, c.line, failure())
		}
	}
	switch err := c.lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return fmt.Errorf("%s:%d: longer than %d MiB; write the rules to a file, and robots_txt_file here", c.name, c.line+1, maxCaseLine>>20)
	case err != nil:
		return err
	case passed+failed == 0:
		return fmt.Errorf("%s: there is no case; write one JSON object in a line", c.name)
	}
	if form.isText() {
		fmt.Fprintf(out, "%d passed, %d failed\n", passed, failed)
	}
	if failed > 0 {
		return errFound
	}
	return nil
}

// parse reads a case and its request, and the rules if it has any of its own.
func (c *caseReader) parse(text []byte) (tc testCase, r enforce.Request, err error) {
	if err := unmarshalCase(text, &tc); err != nil {
		return tc, r, err
	}
	if tc.Expect != enforce.Allowed.String() && tc.Expect != enforce.Disallowed.String() {
		return tc, r, fmt.Errorf(`expect is %q; write "allowed" or "disallowed"`, tc.Expect)
	}
	if tc.UserAgent == nil {
		return tc, r, errors.New(`no user_agent; write the name of a robot, a whole header, or "" for a client that sends none`)
	}
	if err := c.readRules(&tc); err != nil {
		return tc, r, err
	}
	if r, err = requestFor(tc.URL); err != nil {
		err = fmt.Errorf("url: %w", err)
	}
	return tc, r, err
}

// caseKeys are what a case may say.
var caseKeys = []string{"robots_txt", "robots_txt_file", "user_agent", "url", "expect", "name"}

// unmarshalCase reads one JSON object, which has no keys but those.
func unmarshalCase(text []byte, tc *testCase) error {
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(text, &keys); err != nil {
		return fmt.Errorf("%w; write one JSON object in a line", err)
	}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if !slices.ContainsFunc(caseKeys, func(known string) bool { return strings.EqualFold(known, key) }) {
			return fmt.Errorf("there is no key %q among %s%s", key, strings.Join(caseKeys, ", "), didYouMean(key, caseKeys))
		}
	}
	if err := json.Unmarshal(text, tc); err != nil {
		return fmt.Errorf("%w; write one JSON object in a line", err)
	}
	return nil
}

// readRules reads the rules of a case: without any it has those of the case before.
func (c *caseReader) readRules(tc *testCase) error {
	switch {
	case tc.RobotsTxt != nil && tc.RobotsTxtFile != nil:
		return errors.New("robots_txt and robots_txt_file are both there; write one of them")
	case tc.RobotsTxt != nil:
		c.rules = c.compile(policies.Document{Text: *tc.RobotsTxt})
	case tc.RobotsTxtFile != nil:
		name := *tc.RobotsTxtFile
		if !filepath.IsAbs(name) {
			name = filepath.Join(c.folder, name)
		}
		doc, err := policies.ReadFile(name, c.options.MaxBytes)
		if err != nil {
			return err
		}
		c.rules = c.compile(doc)
	case c.rules == nil:
		return errors.New("no rules yet; write robots_txt or robots_txt_file")
	}
	return nil
}

// label returns a case's name as it stands before what became of it.
func label(name string) string {
	if name == "" {
		return ""
	}
	return printable(name) + ": "
}
