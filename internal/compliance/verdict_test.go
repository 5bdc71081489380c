package compliance

import "testing"

func TestDisobedience(t *testing.T) {
	want := map[string]bool{"allowed": false, "disallowed": true, "too_fast": true, "off_hours": true, "exempt": false, "impostor": true, "banned": false}
	for v := range Verdict(verdicts) {
		if got := v.Disobedient(); got != want[v.String()] {
			t.Errorf("%v: got %v, want %v", v, got, want[v.String()])
		}
	}
	if got := Verdict(99).String(); got != "allowed" {
		t.Errorf("a number that is no verdict: got %q, want allowed", got)
	}
}

func TestWhatBecameOfARequest(t *testing.T) {
	want := map[Verdict]string{Allowed: "passed", Exempt: "passed", Disallowed: "observed", TooFast: "observed", OffHours: "observed", Impostor: "observed", Banned: "observed"}
	for v, outcome := range want {
		if got := v.Outcome(false); got != outcome {
			t.Errorf("%v, served: got %q, want %q", v, got, outcome)
		}
		if got := v.Outcome(true); got != "refused" {
			t.Errorf("%v, not served: got %q, want refused", v, got)
		}
	}
}

func TestVerdictsAreReadAsWritten(t *testing.T) {
	for v := range Verdict(verdicts) {
		text, _ := v.MarshalText()
		var got Verdict
		if err := got.UnmarshalText(text); err != nil || got != v {
			t.Errorf("%s: got %v, %v, want %v", text, got, err, v)
		}
	}
	if err := new(Verdict).UnmarshalText([]byte("refused")); err == nil {
		t.Error("an unknown word: got no error")
	}
}
