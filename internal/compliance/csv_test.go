package compliance

import (
	"strings"
	"testing"
)

func TestReportAsCSV(t *testing.T) {
	var robots, evidence strings.Builder
	if err := fewRobots().WriteRobots(&robots); err != nil {
		t.Fatal(err)
	}
	if err := fewRobots().WriteEvidence(&evidence); err != nil {
		t.Fatal(err)
	}
	golden(t, "robots.csv", robots.String())
	golden(t, "evidence.csv", evidence.String())
}

func TestCellsAreNoFormulas(t *testing.T) {
	for in, want := range map[string]string{
		"=1+1": "'=1+1", "+1": "'+1", "-1": "'-1", "@sum": "'@sum", "\t=1": `\x09=1`, "\r=1": `\x0d=1`, "a=1": "a=1", "": "",
	} {
		var b strings.Builder
		if err := writeCSV(&b, [][]string{{in}}); err != nil {
			t.Fatal(err)
		}
		if got := strings.Trim(strings.TrimSuffix(b.String(), "\n"), `"`); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}
