package crawler

import (
	"strings"
	"testing"
)

func TestWordsFileIsWellFormed(t *testing.T) {
	if errKnown != nil {
		t.Fatalf("parsing words.txt: got error %v, want none", errKnown)
	}
	entries := 0
	for _, words := range known.words.byFirst {
		entries += len(words)
	}
	if want := 150; entries < want {
		t.Errorf("got %d words in words.txt, want at least %d", entries, want)
	}
	if got, want := len(known.openers), 25; got < want {
		t.Errorf("got %d platform openers in words.txt, want at least %d", got, want)
	}
}

func TestMalformedWordsAreReportedWithTheirLine(t *testing.T) {
	tests := []struct{ text, want string }{
		{"bot\n", `line 1: entry "bot" stands before any section`},
		{"# a comment\n\n[robot words\n", `line 3: section "[robot words" is not closed`},
		{"[people]\n", `line 1: unknown section "people"`},
		{"[engines]\n[engines]\n", `line 2: section "engines" stands twice`},
		{"[engines]\nGecko\n", `line 2: entry "Gecko" is not in lower case`},
		{"[engines]\nx\n", `line 2: entry "x" is shorter than two characters`},
		{"[engines]\n|x|\n", `line 2: entry "|x|" is shorter than two characters`},
		{"[robot words]\nbot except spider\n", `line 2: exception "spider" does not contain "bot"`},
		{"[platform openers]\n|\n", `line 2: entry "|" is empty`},
		{"[engines]\ngecko\n", `section "apps" is missing`},
	}
	for _, test := range tests {
		v, err := parseVocabulary(test.text)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("parseVocabulary(%.60q): got error %v, want one with %q", test.text, err, test.want)
		}
		if v == nil || v.words.find([]byte("gecko/ bot"), &spans{}) != 0 {
			t.Errorf("parseVocabulary(%.60q): got words with the error, want an empty vocabulary", test.text)
		}
	}
}

func TestWordsMindTheirSurroundings(t *testing.T) {
	tests := []struct {
		entry, text string
		want        bool
	}{
		{"bot| except cubot", "mybot/1", true},
		{"bot| except cubot", "botanic", false},
		{"bot| except cubot", "cubot x9", false},
		{"bot| except cubot", "cubot mybot", true},
		{"bot| except cubot", "bot", true},
		{"bot/0", "bot/1", true},
		{"bot/0", "bot/a", false},
		{"bot/0", "bot/", false},
		{"|check|", "a check", true},
		{"|check|", "checkout", false},
		{"|check|", "recheck", false},
		{"fetch except mozacfetch", "mozacfetch/1", false},
		{"google- except google-gbrowser", "google-gbrowser", false},
		{"google- except google-gbrowser", "google-read-aloud", true},
		{"fetch except -fetch| fetch+lib libfetch", "undici-fetch/1", false},
		{"fetch except -fetch| fetch+lib libfetch", "page-fetcher/1", true},
		{"fetch except -fetch| fetch+lib libfetch", "fetch libfetch/2.0", false},
	}
	for _, test := range tests {
		var f finder
		if err := f.adder(robotWord)(test.entry); err != nil {
			t.Fatalf("adding %q: %v", test.entry, err)
		}
		if got := f.find([]byte(test.text), &spans{}) != 0; got != test.want {
			t.Errorf("%q found in %q = %t, want %t", test.entry, test.text, got, test.want)
		}
	}
}

func TestListsCompareBeginnings(t *testing.T) {
	var l list
	for _, entry := range []string{"linux", "fw|"} {
		if err := l.add(entry); err != nil {
			t.Fatal(err)
		}
	}
	for text, want := range map[string]bool{
		"linux; u": true, "linuxbot": true, "lin": false, "fw": true, "fw/1": true, "fwbot": false, "fw1": false, "": false,
	} {
		if got := l.match([]byte(text)); got != want {
			t.Errorf("match(%q) = %t, want %t", text, got, want)
		}
	}
}
