package cli

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"
)

// FuzzCommands hands the commands of caddy robots what people hand them that others have written: a
// robots.txt, a User-Agent, a URL, a file of cases, a time. It holds four properties:
//
//   - status: it is one of those that are documented, and 2 goes with a word of what is wrong, as no
//     other does but for a hint at a robot's name;
//   - terminal: what is printed does nothing but show on a terminal;
//   - agreement: check, explain and test come to the same verdict;
//   - moment: a time that a flag says reads the same when it is written in full.
func FuzzCommands(f *testing.F) {
	f.Add(closedAll, ccBot, "https://site.example/private/", "7d")
	f.Add("User-agent: a\x1b[31m\nDisallow: /\x07*$\nAllow: /\u202e\nCrawl-delay: 5\nrequest-rate: 1/10\xff\n", "a\x1b", "/\x1b]0;x\x07", "2026-11-01")
	f.Add("User-agent: curl\nAllow: /a/../b\nDisallow: /\n", "curl/8.17.0", "/a/../private/%2e%2e/", "2026-11-01T12:00:00Z")
	f.Add(`{"robots_txt":"User-agent: *\nDisallow: /","user_agent":"x","url":"/","expect":"disallowed","name":"\u001b"}`, "", "nowhere", "x")
	f.Add("{\"robots_txt\":\"User-agent: *\",\"user_agent\":\"\x83\",\"url\":\"/\",\"expect\":\"disallowed\"}", "", "", "")
	f.Add("{\"user_agent\":null}\n", "-", "--", "-1h")
	f.Add("0", "CBot|", "/", "")
	f.Fuzz(func(t *testing.T, text, agent, address, moment string) {
		if len(text) > 2<<10 {
			t.Skip() // lint compares every rule with every other
		}
		lint := fuzzCommand(t, text, "lint", "-")
		fuzzCommand(t, text, "test", "-")
		check := fuzzCommand(t, text, "check", "--robots-txt", "-", "--user-agent="+agent, "--", address)
		explain := fuzzCommand(t, text, "explain", "--robots-txt", "-", "--user-agent="+agent, "--", address)
		if check.status != explain.status || lint.status == exitNot {
			t.Errorf("agreement: %q, %q, %q:\n%s\n%s\n%s", text, agent, address, check, explain, lint)
		}
		if utf8.ValidString(text+agent+address) && check.status != exitNot {
			expect := map[int]string{exitFine: "allowed", exitFound: "disallowed"}[check.status]
			line, err := json.Marshal(map[string]string{"robots_txt": text, "user_agent": agent, "url": address, "expect": expect})
			if err != nil {
				t.Fatal(err)
			}
			if got := fuzzCommand(t, string(line), "test", "-"); got.status != exitFine {
				t.Errorf("agreement: %s:\n%s", line, got)
			}
		}
		checkMoment(t, moment)
	})
}

// fuzzCommand runs a command that reads text.
func fuzzCommand(t *testing.T, text string, args ...string) ended {
	t.Helper()
	got := runCommand(strings.NewReader(text), args...)
	wrong := got.err
	if strings.HasPrefix(wrong, "no robot is known as ") {
		_, wrong, _ = strings.Cut(wrong, "\n")
	}
	if got.status < exitFine || got.status > exitNot || (got.status == exitNot) != (wrong != "") {
		t.Errorf("status: %q of %q:\n%s", args, text, got)
	}
	for _, r := range got.out + got.err {
		if r != '\n' && !unicode.IsPrint(r) || !utf8.ValidString(got.out+got.err) {
			t.Fatalf("terminal: %q of %q prints %q", args, text, got.out+got.err)
		}
	}
	return got
}

func checkMoment(t *testing.T, text string) {
	t.Helper()
	at, err := parseMoment("--since", text)
	if err != nil || at.Year() < 0 || at.Year() > 9999 {
		return
	}
	if again, err := parseMoment("--since", at.Format(time.RFC3339Nano)); err != nil || text != "" && !again.Equal(at) {
		t.Errorf("moment: %q is %v, and that is %v, %v", text, at, again, err)
	}
}
