package cli

import (
	"testing"
)

func TestLintOfTheExampleSite(t *testing.T) {
	const want = `../../example/robots.txt:5: info: robots that follow another standard decide otherwise: for "*", /private/press.html is allowed by rfc9309 (line 5) and disallowed by draft1996 (line 4) and norobots1994 (line 4). So it is with 1 more line; --json lists all.
4 records, 6 rules: 0 errors, 0 warnings, 2 notes
`
	if got := runCommand(nil, "lint", "../../example/robots.txt"); got.out != want || got.status != 0 {
		t.Errorf("got %s\nwant\n%s", got, want)
	}
}
