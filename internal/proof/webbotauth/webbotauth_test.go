package webbotauth

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/dunglas/httpsfv"

	"github.com/caddy-robots/caddy-robots/internal/enforce"
)

// noon is the time of the tests that do not move their clock.
var noon = time.Date(2026, time.November, 20, 12, 0, 0, 0, time.UTC)

func atNoon() time.Time { return noon }

// testAgent is a robot with a key, made from a number so that every run has the same.
type testAgent struct {
	origin string
	key    ed25519.PrivateKey
}

func newTestAgent(origin string, number byte) testAgent {
	return testAgent{origin, ed25519.NewKeyFromSeed(bytes.Repeat([]byte{number}, ed25519.SeedSize))}
}

func (a testAgent) public() ed25519.PublicKey { return a.key.Public().(ed25519.PublicKey) }

func (a testAgent) keyID() string { return jwkThumbprint(a.public()) }

func (a testAgent) jwk() string {
	return fmt.Sprintf(`{"kty":"OKP","crv":"Ed25519","x":%q}`, base64.RawURLEncoding.EncodeToString(a.public()))
}

func (a testAgent) directory() string { return `{"keys":[` + a.jwk() + `]}` }

// params are the parameters of a good signature made at noon.
func (a testAgent) params() string {
	return fmt.Sprintf(`;created=%d;expires=%d;keyid=%q;alg="ed25519";tag="web-bot-auth"`, noon.Unix(), noon.Unix()+300, a.keyID())
}

// message is a request of the agent, not signed yet.
func (a testAgent) message() Message {
	return Message{
		Method: "GET", Authority: "www.example.org", Scheme: "https", Path: "/a/b%20c", RawQuery: "q=1",
		Header: http.Header{"Signature-Agent": {`sig1="` + a.origin + `"`}, "Accept": {"text/html"}},
	}
}

// dictionaryInput is what a good signature covers.
const dictionaryInput = `("@authority" "@method" "@path" "@query" "accept" "signature-agent";key="sig1")`

// sign adds a signature over the components and parameters of input, under the label sig1.
func (a testAgent) sign(tb testing.TB, m Message, input string) Message {
	tb.Helper()
	m.Header = maps.Clone(m.Header)
	m.Header.Set("Signature-Input", "sig1="+input)
	m.Header.Set("Signature", "sig1=::")
	parsed, _ := onlySignature(tb, m)
	base, err := signatureBase(m, parsed)
	if err != nil {
		tb.Fatalf("signing %s: %v", input, err)
	}
	m.Header.Set("Signature", "sig1=:"+base64.StdEncoding.EncodeToString(ed25519.Sign(a.key, base))+":")
	return m
}

// onlySignature reads the one signature of a message, whatever its tag.
func onlySignature(tb testing.TB, m Message) (httpsfv.InnerList, []byte) {
	tb.Helper()
	inputs, err := httpsfv.UnmarshalDictionary(m.Header["Signature-Input"])
	if err != nil || len(inputs.Names()) != 1 {
		tb.Fatalf("Signature-Input %q: got %v, want one signature", m.Header["Signature-Input"], err)
	}
	label := inputs.Names()[0]
	member, _ := inputs.Get(label)
	signature, err := signatureNamed(m.Header["Signature"], label)
	if err != nil {
		tb.Fatal(err)
	}
	return member.(httpsfv.InnerList), signature
}

// verifierFor is a verifier for which some signers count.
type verifierFor struct {
	*Verifier
	signers Signers
}

// Verify asks the verifier, for the signers.
func (v verifierFor) Verify(ctx context.Context, m Message) (string, enforce.Standing, string) {
	return v.Verifier.Verify(ctx, m, v.signers)
}

// signersOf are signers by hosts or URLs.
func signersOf(texts ...string) Signers {
	signers := make(Signers)
	for _, text := range texts {
		if err := signers.Add(text, "", true); err != nil {
			panic(err)
		}
	}
	return signers
}

// verifierOf verifies at noon, and knows the directories of the agents.
func verifierOf(agents ...testAgent) verifierFor {
	published, signers := map[string]string{}, signersOf()
	for _, a := range agents {
		published[a.origin] = a.directory()
		maps.Copy(signers, signersOf(a.origin))
	}
	return verifierFor{New(Options{Client: directoriesOf(published), Now: atNoon}), signers}
}

// Each row changes one thing about a signature that is otherwise good, and genuinely signed.
func TestVerifyRefusesWhatIsSigned(t *testing.T) {
	a := newTestAgent("https://agent.example", 1)
	dates := fmt.Sprintf(";created=%d;expires=%d", noon.Unix(), noon.Unix()+300)
	dated := func(created, expires int64) string {
		return fmt.Sprintf(";created=%d;expires=%d", noon.Unix()+created, noon.Unix()+expires)
	}
	for _, test := range []struct{ name, from, to, want string }{
		{"good", "", "", "verified https://agent.example"},
		{"made 60 s ahead", dates, dated(60, 300), "verified https://agent.example"},
		{"made in the future", dates, dated(61, 300), "impostor https://agent.example: the signature was made in the future"},
		{"last second, and a minute for the clocks", dates, dated(-300, -59), "verified https://agent.example"},
		{"expired", dates, dated(-300, -60), "impostor https://agent.example: the signature has expired"},
		{"a day", dates, dated(0, 86400), "verified https://agent.example"},
		{"more than a day", dates, dated(0, 86401), "impostor https://agent.example: the signature is valid for more than 24 hours"},
		{"no expires", dates, fmt.Sprintf(";created=%d", noon.Unix()), "impostor https://agent.example: the signature does not say when it was made and when it expires"},
		{"no created", dates, fmt.Sprintf(";expires=%d", noon.Unix()), "impostor https://agent.example: the signature does not say when it was made and when it expires"},
		{"created is a Date", dates, fmt.Sprintf(";created=@%d;expires=%d", noon.Unix(), noon.Unix()+300), "impostor https://agent.example: the signature does not say when it was made and when it expires"},
		{"target not covered", `"@authority" `, "", "impostor https://agent.example: the signature covers neither @authority nor @target-uri"},
		{"agent not covered", ` "signature-agent";key="sig1"`, "", "impostor https://agent.example: the signature does not cover Signature-Agent"},
		{"unknown key", a.keyID(), strings.Repeat("A", 43), "unverified https://agent.example: the signer's key directory has no such key"},
		{"no key", fmt.Sprintf(";keyid=%q", a.keyID()), "", "unverified: the signature names no key"},
		{"another algorithm", `"ed25519"`, `"rsa-pss-sha512"`, "unverified: the algorithm of the signature is not ed25519"},
		{"another tag", `"web-bot-auth"`, `"http-message-signatures-directory"`, `unverified: no signature is tagged "web-bot-auth"`},
		{"no tag", `;tag="web-bot-auth"`, "", `unverified: no signature is tagged "web-bot-auth"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			input := dictionaryInput + a.params()
			if !strings.Contains(input, test.from) {
				t.Fatalf("%s has no %s to change", input, test.from)
			}
			m := a.sign(t, a.message(), strings.Replace(input, test.from, test.to, 1))
			if got := verdict(verifierOf(a).Verify(context.Background(), m)); got != test.want {
				t.Errorf("Verify() with %s = %q, want %q", m.Header.Get("Signature-Input"), got, test.want)
			}
		})
	}
}

// Each row changes one thing about a request after it was signed.
func TestVerifyRefusesWhatWasChanged(t *testing.T) {
	const wrong = "impostor https://agent.example: the signature does not fit the request"
	a := newTestAgent("https://agent.example", 1)
	set := func(field, value string) func(*Message) { return func(m *Message) { m.Header.Set(field, value) } }
	for _, test := range []struct {
		name   string
		change func(*Message)
		want   string
	}{
		{"nothing", func(*Message) {}, "verified https://agent.example"},
		{"spelling of the host", func(m *Message) { m.Authority = "WWW.example.org:443" }, "verified https://agent.example"},
		{"a field not covered", set("Cookie", "a=b"), "verified https://agent.example"},
		{"authority", func(m *Message) { m.Authority = "www.example.net" }, wrong},
		{"method", func(m *Message) { m.Method = "POST" }, wrong},
		{"path", func(m *Message) { m.Path = "/a/b c" }, wrong},
		{"query", func(m *Message) { m.RawQuery = "" }, wrong},
		{"field", set("Accept", "text/plain"), wrong},
		{"field added to", func(m *Message) { m.Header.Add("Accept", "text/plain") }, wrong},
		{"field dropped", func(m *Message) { m.Header.Del("Accept") }, "unverified https://agent.example: the signature covers a field that did not arrive"},
		{"field in two lines", set("Accept", "text/html\n\"x\": y"), "unverified https://agent.example: the signature covers a field that cannot be read"},
		{"signature cut short", set("Signature", "sig1=:AAAA:"), wrong},
		{"signature empty", set("Signature", "sig1=::"), wrong},
		{"signature not bytes", set("Signature", "sig1=abc"), "unverified: the signature headers cannot be read"},
		{"signature of another label", set("Signature", "sig9=:AAAA:"), "unverified: the signature headers cannot be read"},
		{"signature unreadable", set("Signature", "sig1=:AAAA"), "unverified: the signature headers cannot be read"},
		{"no signature", func(m *Message) { m.Header.Del("Signature") }, "unverified: no signature"},
		{"no input", func(m *Message) { m.Header.Del("Signature-Input") }, "unverified: no signature"},
		{"input unreadable", set("Signature-Input", `sig1=("@authority"`), "unverified: the signature headers cannot be read"},
		{"no agent", func(m *Message) { m.Header.Del("Signature-Agent") }, "unverified: no Signature-Agent header"},
		{"agent unreadable", set("Signature-Agent", `sig1="https://agent.example`), "unverified: the Signature-Agent header cannot be read"},
		{"agent of another member", set("Signature-Agent", `x="https://agent.example"`), "unverified: the Signature-Agent header cannot be read"},
		{"long headers", set("Signature-Agent", `sig1="https://agent.example"`+strings.Repeat(" ", 8<<10)), "unverified: the signature headers are longer than 8 KiB"},
	} {
		t.Run(test.name, func(t *testing.T) {
			m := a.sign(t, a.message(), dictionaryInput+a.params())
			test.change(&m)
			if got := verdict(verifierOf(a).Verify(context.Background(), m)); got != test.want {
				t.Errorf("Verify() = %q, want %q", got, test.want)
			}
		})
	}
}

// Whoever publishes a good agent's key identifier, or its key, under another origin signs in the
// name of that origin only; and an agent's own key is worth nothing in the name of another.
func TestVerifyKeyOfAnotherDirectory(t *testing.T) {
	a, b := newTestAgent("https://agent.example", 1), newTestAgent("https://other.example", 2)
	s := verifierOf(a, b)
	m := b.message()
	m.Header.Set("Signature-Agent", `sig1="https://agent.example"`)
	for _, keyID := range []string{a.keyID(), b.keyID()} {
		input := dictionaryInput + strings.Replace(b.params(), b.keyID(), keyID, 1)
		agent, status, _ := s.Verify(context.Background(), b.sign(t, m, input))
		if want := map[bool]enforce.Standing{true: enforce.Impostor, false: enforce.Unverified}[keyID == a.keyID()]; status != want {
			t.Errorf("Verify() of key %s = %s %s, want %s", keyID, agent, status, want)
		}
	}
	if _, status, reason := s.Verify(context.Background(), b.sign(t, b.message(), dictionaryInput+b.params())); status != enforce.Verified {
		t.Errorf("Verify() of b in its own name = %s: %s, want verified", status, reason)
	}
}

func TestVerifyReplay(t *testing.T) {
	a := newTestAgent("https://agent.example", 1)
	s := verifierOf(a)
	m := a.sign(t, a.message(), dictionaryInput+a.params()+`;nonce="n1"`)
	forged := m
	forged.Path = "/elsewhere"
	for i, want := range []struct {
		m    Message
		want string
	}{
		{forged, "impostor https://agent.example: the signature does not fit the request"}, // uses nothing up
		{m, "verified https://agent.example"},
		{m, "impostor https://agent.example: the nonce was used before"},
		{a.sign(t, a.message(), dictionaryInput+a.params()+`;nonce="n2"`), "verified https://agent.example"},
		{a.sign(t, a.message(), dictionaryInput+a.params()), "verified https://agent.example"},
		{a.sign(t, a.message(), dictionaryInput+a.params()), "verified https://agent.example"},
	} {
		if got := verdict(s.Verify(context.Background(), want.m)); got != want.want {
			t.Errorf("request %d: Verify() = %q, want %q", i, got, want.want)
		}
	}
}

func TestZeroSignaturesVerifyNothing(t *testing.T) {
	a := newTestAgent("https://agent.example", 1)
	m := a.sign(t, a.message(), dictionaryInput+a.params())
	for _, s := range []*Verifier{nil, {}} {
		if agent, status, _ := s.Verify(context.Background(), m, signersOf(a.origin)); agent != "" || status != enforce.Unverified {
			t.Errorf("Verify() = %q, %s, want nobody, unverified", agent, status)
		}
	}
}

// Whatever byte of a signed request is changed, it is no longer verified, unless what was signed
// reads the same for all that.
func TestVerifyEveryByteCounts(t *testing.T) {
	a := newTestAgent("https://agent.example", 1)
	s := verifierOf(a)
	m := a.sign(t, a.message(), dictionaryInput+a.params())
	good, goodSignature := onlySignature(t, m)
	base, err := signatureBase(m, good)
	if err != nil {
		t.Fatal(err)
	}
	changed := 0
	check := func(what, old string, i int, change byte, x Message) {
		changed++
		if _, status, _ := s.Verify(context.Background(), x); status != enforce.Verified {
			return
		}
		input, signature := onlySignature(t, x)
		if got, err := signatureBase(x, input); err != nil || !bytes.Equal(got, base) || !bytes.Equal(signature, goodSignature) {
			t.Errorf("%s %q with byte %d xor %#x is verified", what, old, i, change)
		}
	}
	for _, change := range []byte{1, 2, 0x20, 0x80} {
		for _, name := range []string{"Signature-Agent", "Signature-Input", "Signature", "Accept"} {
			for i := range m.Header.Get(name) {
				x := m
				x.Header = maps.Clone(m.Header)
				x.Header.Set(name, flip(m.Header.Get(name), i, change))
				check(name, m.Header.Get(name), i, change, x)
			}
		}
		for i := range m.Method {
			x := m
			x.Method = flip(m.Method, i, change)
			check("method", m.Method, i, change, x)
		}
		for i := range m.Authority {
			x := m
			x.Authority = flip(m.Authority, i, change)
			check("authority", m.Authority, i, change, x)
		}
		for i := range m.Path {
			x := m
			x.Path = flip(m.Path, i, change)
			check("path", m.Path, i, change, x)
		}
	}
	if want := 1000; changed < want {
		t.Fatalf("got %d changes tried, want at least %d", changed, want)
	}
}

func flip(text string, i int, change byte) string {
	b := []byte(text)
	b[i] ^= change
	return string(b)
}
