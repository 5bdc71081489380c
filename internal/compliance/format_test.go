package compliance

import (
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestVisible(t *testing.T) {
	for in, want := range map[string]string{
		"":                         "",
		"/news?a=b&c=\"d\" <e>":    "/news?a=b&c=\"d\" <e>",
		"Füße, 新闻, עברית":          "Füße, 新闻, עברית",
		"a\x00b\x1b[31m\x7f\r\n\t": `a\x00b\x1b[31m\x7f\x0d\x0a\x09`,
		"\u202egnp.exe":            `\u202egnp.exe`,
		"a\u200bb\u2066\ufeff":     `a\u200bb\u2066\ufeff`,
		"a\u00a0b\u2028":           `a\u00a0b\u2028`,
		"\U000e0041":               `\U000e0041`,
		"a\xffb\xed\xa0\x80":       `a\xffb\xed\xa0\x80`,
		"\u00ad":                   `\u00ad`,
		"�":                        "�",
	} {
		if got := visible(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

// TestVisibleShowsEveryCharacter tries all of Unicode.
func TestVisibleShowsEveryCharacter(t *testing.T) {
	escaped := 0
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if !utf8.ValidRune(r) {
			continue
		}
		s := string(r)
		got := visible(s)
		if got == s {
			if unicode.Is(unicode.C, r) || unicode.Is(unicode.Bidi_Control, r) || unicode.Is(unicode.Zl, r) || unicode.Is(unicode.Zp, r) {
				t.Fatalf("%U: got it as it is, want an escape", r)
			}
			continue
		}
		escaped++
		for i := range len(got) {
			if got[i] >= utf8.RuneSelf {
				t.Fatalf("%U: got %q, want an escape in ASCII", r, got)
			}
		}
	}
	if escaped < 1000 {
		t.Errorf("characters that were escaped: got %d, want thousands", escaped)
	}
}

func TestNumbers(t *testing.T) {
	for n, want := range map[uint64][2]string{
		0:             {"0", "0"},
		999:           {"999", "999"},
		9999:          {"9,999", "9999"},
		10_000:        {"10,000", "10k"},
		123_456:       {"123,456", "123k"},
		999_499:       {"999,499", "999k"},
		999_500:       {"999,500", "1.0M"},
		1_234_567:     {"1,234,567", "1.2M"},
		maxCount:      {"9,007,199,254,740,992", "9007T"},
		1_000_000_000: {"1,000,000,000", "1.0G"},
	} {
		if got := [2]string{grouped(n), compact(n)}; got != want {
			t.Errorf("%d: got %q, want %q", n, got, want)
		}
	}
}

func TestPercent(t *testing.T) {
	for share, want := range map[float64]string{
		0: "0", 0.00001: "<0.1", 0.002: "0.2", 0.05: "5", 0.977: "98", 0.9911: "99.1", 0.99999: ">99.9", 1: "100",
	} {
		if got := percent(share); got != want+"\u202f%" {
			t.Errorf("%v: got %q, want %q", share, got, want)
		}
	}
}
