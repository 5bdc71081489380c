package webbotauth

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/internal/enforce"
)

// signatureCase is a file of testdata: a request, the keys of the agent it names, the time, and
// what follows.
type signatureCase struct {
	name    string
	message Message
	keys    string
	clock   time.Time
	verdict string
	base    string
}

// readSignatureCases reads the files that match, and fails when none does.
func readSignatureCases(tb testing.TB, glob string) []signatureCase {
	tb.Helper()
	names, err := filepath.Glob(filepath.Join("testdata", glob))
	if err != nil {
		tb.Fatal(err)
	}
	if len(names) == 0 {
		tb.Fatalf("no test cases match testdata/%s", glob)
	}
	var cases []signatureCase
	for _, name := range names {
		cases = append(cases, readSignatureCase(tb, name))
	}
	return cases
}

func readSignatureCase(tb testing.TB, name string) signatureCase {
	tb.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		tb.Fatal(err)
	}
	c := signatureCase{name: filepath.Base(name)}
	_, rest, _ := strings.Cut("\n"+string(text), "\n-- ")
	for part := range strings.SplitSeq(rest, "\n-- ") {
		section, body, ok := strings.Cut(part, " --\n")
		body = strings.TrimSuffix(body, "\n")
		switch {
		case !ok:
			tb.Fatalf("%s: section without a heading: %q", name, part)
		case section == "request":
			c.message = readMessage(tb, name, body)
		case section == "keys":
			c.keys = body
		case section == "clock":
			if c.clock, err = time.Parse(time.RFC3339, body); err != nil {
				tb.Fatalf("%s: %v", name, err)
			}
		case section == "verdict":
			c.verdict = body
		case section == "base":
			c.base = body
		default:
			tb.Fatalf("%s: unknown section %q", name, section)
		}
	}
	return c
}

func readMessage(tb testing.TB, name, text string) Message {
	tb.Helper()
	first, fields, _ := strings.Cut(text, "\n")
	method, target, ok := strings.Cut(first, " ")
	u, err := url.Parse(target)
	if err != nil || !ok {
		tb.Fatalf("%s: cannot read request line %q", name, first)
	}
	m := Message{Method: method, Authority: u.Host, Scheme: u.Scheme, Path: u.EscapedPath(), RawQuery: u.RawQuery, Header: http.Header{}}
	for line := range strings.SplitSeq(fields, "\n") {
		key, value, ok := strings.Cut(line, ": ")
		if !ok {
			tb.Fatalf("%s: cannot read header line %q", name, line)
		}
		m.Header.Add(key, value)
	}
	return m
}

// roundTrip is an http.RoundTripper made of a function.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// answer makes a response.
func answer(status int, body string, header ...string) *http.Response {
	h := http.Header{}
	for i := 0; i+1 < len(header); i += 2 {
		h.Set(header[i], header[i+1])
	}
	return &http.Response{StatusCode: status, Header: h, Body: io.NopCloser(strings.NewReader(body))}
}

// directoriesOf is a client for which each origin publishes a text, and others nothing.
func directoriesOf(published map[string]string) *http.Client {
	return &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		if text, ok := published[r.URL.Scheme+"://"+r.URL.Host]; ok && r.URL.Path == directoryPath {
			return answer(200, text), nil
		}
		return answer(404, ""), nil
	})}
}

// verdict renders what Verify found as the test cases write it.
func verdict(agent string, standing enforce.Standing, reason string) string {
	text := standing.String()
	if agent != "" {
		text += " " + strings.TrimSuffix(agent, directoryPath)
	}
	if reason != "" {
		text += ": " + reason
	}
	return text
}

func (c signatureCase) signatures() verifierFor {
	keys := map[string]string{}
	for _, origin := range []string{"https://signature-agent.test", "https://bot.duckduckgo.com", "https://ahrefs.com"} {
		keys[origin] = c.keys
	}
	return verifierFor{
		New(Options{Client: directoriesOf(keys), Now: func() time.Time { return c.clock }}),
		signersOf(slices.Collect(maps.Keys(keys))...),
	}
}

func TestPublishedVectors(t *testing.T) {
	cases := readSignatureCases(t, "webbotauth/*.txt")
	if got, want := len(cases), 8; got < want {
		t.Fatalf("got %d vectors, want at least %d", got, want)
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := c.signatures()
			s.directories.fetcher.testKeys = true
			s.lifetime = 150 * 365 * 24 * time.Hour
			if got, want := verdict(s.Verify(context.Background(), c.message)), c.verdict; got != want {
				t.Errorf("Verify() = %q, want %q", got, want)
			}
		})
	}
}

// Of the public negative vectors none is verified, and each for its own reason. Where that set says
// "invalid" of a request that names no signer, or that a proxy may have changed on its way, nothing is
// known of the sender here: unverified.
func TestPublishedNegativeVectors(t *testing.T) {
	cases := readSignatureCases(t, "negative/*.txt")
	if got, want := len(cases), 17; got < want {
		t.Fatalf("got %d vectors, want at least %d", got, want)
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := c.signatures()
			s.directories.fetcher.testKeys = true
			s.lifetime = 150 * 365 * 24 * time.Hour
			got := verdict(s.Verify(context.Background(), c.message))
			if got != c.verdict || strings.HasPrefix(got, "verified") {
				t.Errorf("Verify() = %q, want %q", got, c.verdict)
			}
		})
	}
}

func TestPublishedVectorsBase(t *testing.T) {
	checked := 0
	for _, glob := range []string{"webbotauth/*.txt", "rfc9421/*.txt"} {
		for _, c := range readSignatureCases(t, glob) {
			if c.base == "" {
				continue
			}
			checked++
			t.Run(c.name, func(t *testing.T) { c.checkBase(t) })
		}
	}
	if want := 4; checked < want {
		t.Fatalf("got %d cases with a base, want at least %d", checked, want)
	}
}

// checkBase rebuilds the base of the only signature of a case and checks it against the only key.
func (c signatureCase) checkBase(t *testing.T) {
	input, signature := onlySignature(t, c.message)
	base, err := signatureBase(c.message, input)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(base), c.base; got != want {
		t.Errorf("base = %s\nwant   %s", got, want)
	}
	keys, err := parseKeys([]byte(c.keys), true)
	if err != nil || len(keys) != 1 {
		t.Fatalf("got %d keys, %v, want 1", len(keys), err)
	}
	for _, key := range keys {
		if !ed25519.Verify(key.public, base, signature) {
			t.Error("the published signature does not fit the base")
		}
		if ed25519.Verify(key.public, bytes.ToUpper(base), signature) {
			t.Error("the published signature fits another base")
		}
	}
}

// The keys of the standards are known to everybody, so nothing signed with them counts.
func TestTestKeysAreRefused(t *testing.T) {
	c := readSignatureCases(t, "webbotauth/v1-string-agent.txt")[0]
	got := verdict(c.signatures().Verify(context.Background(), c.message))
	if want := "unverified https://signature-agent.test: the signer's key directory has no such key"; got != want {
		t.Errorf("Verify() = %q, want %q", got, want)
	}
}

// A signature that is good for a century is a password.
func TestLongLivedSignatureIsRefused(t *testing.T) {
	c := readSignatureCases(t, "webbotauth/v2-dictionary-agent.txt")[0]
	s := c.signatures()
	s.directories.fetcher.testKeys = true
	got := verdict(s.Verify(context.Background(), c.message))
	if want := "impostor https://signature-agent.test: the signature is valid for more than 24 hours"; got != want {
		t.Errorf("Verify() = %q, want %q", got, want)
	}
}
