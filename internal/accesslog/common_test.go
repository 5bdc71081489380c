package accesslog_test

import (
	"testing"
)

// FuzzCommon holds the same properties as FuzzCaddy for lines of all kinds.
func FuzzCommon(f *testing.F) {
	for _, line := range caseLines(f, false) {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) { checkLine(t, oneLine(line)) })
}
