package webbotauth

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/internal/enforce"
)

func TestWhereASignersKeysAre(t *testing.T) {
	const wellKnown = "https://agent.example" + directoryPath
	for text, want := range map[string]string{
		"https://agent.example":                             wellKnown,
		"HTTPS://Agent.Example":                             wellKnown,
		"https://agent.example/":                            wellKnown,
		"https://agent.example:443":                         wellKnown,
		wellKnown:                                           wellKnown,
		"https://agent.example/.WELL-KNOWN":                 "https://agent.example/.WELL-KNOWN",
		"https://agent.example:8443":                        "https://agent.example:8443" + directoryPath,
		"https://192.0.2.1":                                 "https://192.0.2.1" + directoryPath,
		"https://[2001:DB8:0::1]:8443":                      "https://[2001:db8::1]:8443" + directoryPath,
		"https://localhost:80":                              "https://localhost:80" + directoryPath,
		"https://agent.example/keys.json":                   "https://agent.example/keys.json",
		"https://agent.example/keys.json?tenant=a":          "https://agent.example/keys.json?tenant=a",
		"https://agent.example/a/../b/./%6beys/":            "https://agent.example/b/keys/",
		"https://agent.example?x":                           wellKnown + "?x",
		"http://agent.example":                              "",
		"http://127.0.0.1:8080":                             "",
		"https://agent.example/#x":                          "",
		"https://user@agent.example":                        "",
		"https://agent.example, https://b":                  "",
		"https://agent..example":                            "",
		"https://agent.example.":                            "",
		"https://agént.example":                             "",
		"https://a%2eb":                                     "",
		"https://[fe80::1%25eth0]":                          "",
		"https:agent.example":                               "",
		"https://":                                          "",
		"//agent.example":                                   "",
		"ftp://agent.example":                               "",
		"data:application/json,{}":                          "",
		"agent.example":                                     "",
		"":                                                  "",
		"https://agent.example/" + strings.Repeat("a", 512): "",
	} {
		u, err := directoryOf(text)
		if (err == nil) != (want != "") || err == nil && u.String() != want {
			t.Errorf("directoryOf(%q) = %v, %v, want %q", text, u, err, want)
		}
	}
}

func TestSignersAreHostsOrURLs(t *testing.T) {
	signers := make(Signers)
	for _, test := range []struct{ text, token, err string }{
		{"bots.example", "", ""},
		{"bots.example", "", ""}, // again
		{"https://shared.example/a.json?v=1", "ABot", ""},
		{"https://shared.example/b.json", "BBot", ""},
		{"localhost:8443", "", ""},
		{"https://shared.example/a.json", "BBot", "https://shared.example/a.json signs for ABot already"},
		{"ChatGPT-User", "", `"ChatGPT-User" is no signer; write the host of its key directory, such as bots.example.com, or the https URL`},
		{"http://bots.example", "", "is no signer"},
		{"bots.example/keys", "", "is no signer"},
		{"*.example", "", "is no signer"},
		{"", "", "is no signer"},
	} {
		err := signers.Add(test.text, test.token, true)
		if (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
			t.Errorf("Add(%q, %q) = %v, want %q", test.text, test.token, err, test.err)
		}
	}
	if err := signers.Add("bots.example", "Other", false); err != nil || signers["https://bots.example"+directoryPath].Token != "bots.example" {
		t.Errorf("Add of one that the owner has named: %v, %+v, want the owner's", err, signers)
	}
	want := Signers{
		"https://bots.example" + directoryPath:   {"bots.example", "https://bots.example" + directoryPath, true},
		"https://shared.example/a.json":          {"ABot", "https://shared.example/a.json?v=1", true},
		"https://shared.example/b.json":          {"BBot", "https://shared.example/b.json", true},
		"https://localhost:8443" + directoryPath: {"localhost", "https://localhost:8443" + directoryPath, true},
	}
	for id, signer := range signers {
		if signer != want[id] || len(signers) != len(want) {
			t.Errorf("%s: got %+v, want %+v", id, signer, want[id])
		}
	}
}

// What a stranger names is not fetched, and of a signer what is listed, whatever else the
// Signature-Agent has in it.
func TestOnlyWhatIsListedIsFetched(t *testing.T) {
	a := newTestAgent("https://agent.example/keys.json?v=1", 1)
	var fetched []string
	client := &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		fetched = append(fetched, r.URL.String())
		return answer(200, a.directory()), nil
	})}
	v := verifierFor{New(Options{Client: client, Now: atNoon}), signersOf(a.origin)}
	for agent, want := range map[string]enforce.Standing{
		"https://agent.example/keys.json":          enforce.Verified,
		"https://agent.example/keys.json?v=2":      enforce.Verified,
		"https://AGENT.example:443/x/../keys.json": enforce.Verified,
		"https://agent.example":                    enforce.Unverified,
		"https://agent.example/keys.json/other":    enforce.Unverified,
		"https://agent.example:8443/keys.json":     enforce.Unverified,
		"https://stranger.example/keys.json":       enforce.Unverified,
	} {
		m := a.message()
		m.Header.Set("Signature-Agent", `sig1="`+agent+`"`)
		if _, got, reason := v.Verify(context.Background(), a.sign(t, m, dictionaryInput+a.params())); got != want {
			t.Errorf("%s: got %s (%s), want %s", agent, got, reason, want)
		}
	}
	if len(fetched) != 1 || fetched[0] != a.origin {
		t.Errorf("fetched %q, want %q once", fetched, a.origin)
	}
}

// Two signers may publish the same key: each has its own directory, and a key that is only in one
// signs for that one.
func TestKeysGoByTheirURL(t *testing.T) {
	a, b := newTestAgent("https://shared.example/a.json", 1), newTestAgent("https://shared.example/b.json", 2)
	client := &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		return answer(200, map[string]string{"/a.json": a.directory(), "/b.json": b.directory()}[r.URL.Path]), nil
	})}
	v := verifierFor{New(Options{Client: client, Now: atNoon}), signersOf(a.origin, b.origin)}
	for _, test := range []struct {
		by, as testAgent
		want   string
	}{
		{a, a, "verified https://shared.example/a.json"},
		{b, b, "verified https://shared.example/b.json"},
		{a, b, "unverified https://shared.example/b.json: the signer's key directory has no such key"},
	} {
		if got := verdict(v.Verify(context.Background(), test.by.sign(t, test.as.message(), dictionaryInput+test.by.params()))); got != test.want {
			t.Errorf("signed with the key of %s as %s: got %q, want %q", test.by.origin, test.as.origin, got, test.want)
		}
	}
}
