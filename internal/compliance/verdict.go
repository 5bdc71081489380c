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

// Disobedient reports whether a request with this verdict was against the rules. One during a ban was
// not: nobody looked at what it asked for.
func (v Verdict) Disobedient() bool {
	switch v {
	case Disallowed, TooFast, OffHours, Impostor:
		return true
	}
	return false
}

// Outcome says what became of a request with this verdict: refused; observed, where it would have been
// refused and was served; or passed.
func (v Verdict) Outcome(refused bool) string {
	switch {
	case refused:
		return "refused"
	case v.refusable():
		return "observed"
	}
	return "passed"
}

// refusable reports whether a request with this verdict is refused, unless it is only observed.
func (v Verdict) refusable() bool { return v.Disobedient() || v == Banned }

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
