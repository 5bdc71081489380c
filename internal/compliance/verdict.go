package compliance

import (
	"fmt"
	"slices"
)

// Verdict is what a request was judged to be. The words are the same in the log, the
// placeholders and the report. The zero value is allowed.
type Verdict uint8

// The verdicts.
const (
	Allowed Verdict = iota
	Disallowed
	TooFast
	OffHours
	Exempt
	Impostor
	Banned
)

const verdicts = int(Banned) + 1

var verdictWords = [verdicts]string{"allowed", "disallowed", "too_fast", "off_hours", "exempt", "impostor", "banned"}

// String returns the verdict's word.
func (v Verdict) String() string { return verdictWords[v.known()] }

// Disobedient reports whether a request with this verdict was against the rules.
func (v Verdict) Disobedient() bool {
	switch v {
	case Disallowed, TooFast, OffHours, Impostor, Banned:
		return true
	}
	return false
}

// MarshalText returns the verdict's word.
func (v Verdict) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText reads a verdict's word.
func (v *Verdict) UnmarshalText(text []byte) error {
	i := slices.Index(verdictWords[:], string(text))
	if i < 0 {
		return fmt.Errorf("unknown verdict %q: write one of %q", text, verdictWords)
	}
	*v = Verdict(i)
	return nil
}

// known returns v, and Allowed for a number that is no verdict.
func (v Verdict) known() Verdict {
	if int(v) < verdicts {
		return v
	}
	return Allowed
}
