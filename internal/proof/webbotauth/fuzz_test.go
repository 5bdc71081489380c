package webbotauth

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/internal/enforce"
)

// FuzzSignature changes signed requests. It holds two properties:
//
//   - reason: there is one unless the request is verified;
//   - signed: whatever is still verified reads as one of the requests that were signed.
func FuzzSignature(f *testing.F) {
	a := newTestAgent("https://agent.example", 1)
	signed := map[string]bool{}
	add := func(agent, input string) {
		m := a.message()
		m.Header.Set("Signature-Agent", agent)
		m = a.sign(f, m, input+a.params())
		parsed, signature := onlySignature(f, m)
		base, err := signatureBase(m, parsed)
		if err != nil {
			f.Fatal(err)
		}
		signed[string(base)+string(signature)] = true
		f.Add(m.Method, m.Authority, m.Scheme, m.Path, m.RawQuery, agent, m.Header.Get("Signature-Input"), m.Header.Get("Signature"), "Accept", m.Header.Get("Accept"))
	}
	add(`sig1="https://agent.example"`, dictionaryInput)
	add(`sig1="https://agent.example"`, `("@target-uri" "signature-agent";key="sig1")`)
	add(`"https://agent.example"`, `("@authority" "@request-target" "@scheme" "signature-agent")`)
	add(`https://agent.example`, `("@authority" "signature-agent")`)
	f.Add("GET", "", "", "", "", `x=(1 2), y`, `a=("x";sf);tag="web-bot-auth";keyid="k"`, `a=:AA==:`, "X", "a=1")

	published := directoriesOf(map[string]string{a.origin: a.directory()})
	s := verifierFor{New(Options{Client: published, Now: atNoon, Patience: time.Second}), signersOf(a.origin)}
	f.Fuzz(func(t *testing.T, method, authority, scheme, path, query, agent, input, signature, field, value string) {
		m := Message{Method: method, Authority: authority, Scheme: scheme, Path: path, RawQuery: query, Header: http.Header{}}
		m.Header.Set("Signature-Agent", agent)
		m.Header.Set("Signature-Input", input)
		m.Header.Set("Signature", signature)
		m.Header.Add(field, value)
		origin, status, reason := s.Verify(context.Background(), m)
		if (status == enforce.Verified) != (reason == "") {
			t.Errorf("reason: Verify() = %s with %q", status, reason)
		}
		if status != enforce.Verified {
			return
		}
		claim, err := parseClaim(m.Header)
		if err != nil {
			t.Fatal(err)
		}
		base, err := signatureBase(m, claim.input)
		if err != nil || origin != a.origin+directoryPath || (claim.nonce == "" && !signed[string(base)+string(claim.signature)]) {
			t.Errorf("signed: %+v is verified as %s: %v", m, origin, err)
		}
	})
}
