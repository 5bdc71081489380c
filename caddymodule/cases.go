package caddymodule

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
)

// maxCaseLine bounds one line of a file of cases: a robots.txt in JSON, and some.
const maxCaseLine = 8 << 20

// testCommand is caddy robots test.
func testCommand() *cobra.Command {
	h := new(Handler)
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "test [flags] <cases.jsonl|->",
		Short: "Runs a file of cases against your robots.txt",
		Long: `
Reads cases, one JSON object in a line:

  {"robots_txt_file": "robots.txt", "name": "no training",
   "user_agent": "GPTBot", "url": "/", "expect": "disallowed"}
  {"user_agent": "Googlebot", "url": "/", "expect": "allowed"}

(each in one line) and says which of them fail, and the line of robots.txt that
decided. The rules stand in robots_txt, as text, or in robots_txt_file, a path
from where the file of cases is; a case that has neither has those of the case
before. The user_agent is read as by check.

Exit status: 0 all pass, 1 at least one fails, 2 it could not be run.`,
		Example: `  caddy robots test cases.jsonl
  generate-cases | caddy robots test --json -`,
		Args: arguments(1, 1, "file of cases"),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON object in a line for each case")
	readingFlags(cmd, h)
	return runs(cmd, func(cmd *cobra.Command, out *bufio.Writer, args []string) (int, error) {
		e, err := newExaminer(h)
		if err != nil {
			return 0, err
		}
		cases := caseReader{examiner: e, name: args[0], lines: bufio.NewScanner(cmd.InOrStdin())}
		if args[0] != "-" {
			file, err := os.Open(args[0])
			if err != nil {
				return 0, err
			}
			defer file.Close()
			cases.lines, cases.folder = bufio.NewScanner(file), filepath.Dir(args[0])
		}
		cases.lines.Buffer(make([]byte, 64<<10), maxCaseLine)
		return cases.run(out, asJSON)
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
	*examiner
	name   string
	folder string
	lines  *bufio.Scanner
	line   int
	rules  *ruleset // of the case before
}

// next returns the next case, and io.EOF after the last.
func (c *caseReader) next() (tc testCase, err error) {
	for c.lines.Scan() {
		c.line++
		text := bytes.TrimSpace(c.lines.Bytes())
		if len(text) == 0 {
			continue
		}
		if err = json.Unmarshal(text, &tc); err != nil {
			return tc, fmt.Errorf("%s:%d: %w; write one JSON object in a line", c.name, c.line, err)
		}
		if err = c.check(tc); err != nil {
			return tc, fmt.Errorf("%s:%d: %w", c.name, c.line, err)
		}
		return tc, nil
	}
	switch err = c.lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return tc, fmt.Errorf("%s:%d: longer than %d MiB; write the rules to a file, and robots_txt_file here", c.name, c.line+1, maxCaseLine>>20)
	case err != nil:
		return tc, err
	}
	return tc, io.EOF
}

// check returns an error for a case that says too little, and reads its rules.
func (c *caseReader) check(tc testCase) error {
	if tc.Expect != Allowed.String() && tc.Expect != Disallowed.String() {
		return fmt.Errorf(`expect is %q; write "allowed" or "disallowed"`, tc.Expect)
	}
	if tc.UserAgent == nil {
		return errors.New(`no user_agent; write the name of a robot, a whole header, or "" for a client that sends none`)
	}
	switch {
	case tc.RobotsTxt != nil && tc.RobotsTxtFile != nil:
		return errors.New("robots_txt and robots_txt_file are both there; write one of them")
	case tc.RobotsTxt != nil:
		c.rules = c.examiner.rules(document{text: *tc.RobotsTxt})
	case tc.RobotsTxtFile != nil:
		name := *tc.RobotsTxtFile
		if !filepath.IsAbs(name) {
			name = filepath.Join(c.folder, name)
		}
		doc, err := readFile(name, c.h.settings.reading.MaxBytes)
		if err != nil {
			return err
		}
		c.rules = c.examiner.rules(doc)
	case c.rules == nil:
		return errors.New("no rules yet; write robots_txt or robots_txt_file")
	}
	return nil
}

// run judges all cases and prints what became of them.
func (c *caseReader) run(out *bufio.Writer, asJSON bool) (int, error) {
	passed, failed := 0, 0
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	for {
		tc, err := c.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return 0, err
		}
		a, err := target(tc.URL)
		if err != nil {
			return 0, fmt.Errorf("%s:%d: url: %w", c.name, c.line, err)
		}
		j := c.judge(c.rules, c.who(*tc.UserAgent), &a)
		ok := j.verdict.String() == tc.Expect
		if ok {
			passed++
		} else {
			failed++
		}
		switch {
		case asJSON:
			if err := encoder.Encode(caseResult{tc.Name, tc.Expect, ok, j.finding(tc.URL, *tc.UserAgent)}); err != nil {
				return 0, err
			}
		case !ok:
			fmt.Fprintf(out, "%s:%d: %s%s for %s: %s, expected %s: %s\n", c.name, c.line, label(tc.Name),
				printable(tc.URL), printable(*tc.UserAgent), j.verdict, tc.Expect, j.because())
		}
	}
	if !asJSON {
		fmt.Fprintf(out, "%d passed, %d failed\n", passed, failed)
	}
	if failed > 0 {
		return exitFound, nil
	}
	return exitFine, nil
}

// label returns a case's name as it stands before what became of it.
func label(name string) string {
	if name == "" {
		return ""
	}
	return printable(name) + ": "
}
