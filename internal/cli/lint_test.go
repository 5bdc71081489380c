package cli

import (
	"testing"
)

func TestLintOfTheExampleSite(t *testing.T) {
	const want = "4 records, 6 rules: 0 errors, 0 warnings, 0 notes\n"
	if got := runCommand(nil, "lint", "../../example/robots.txt"); got.out != want || got.status != 0 {
		t.Errorf("got %s\nwant\n%s", got, want)
	}
}
