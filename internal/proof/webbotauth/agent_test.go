package webbotauth

import (
	"context"
	"testing"
)

func TestVerifyForms(t *testing.T) {
	a := newTestAgent("https://agent.example", 1)
	for _, test := range []struct{ name, agent, input string }{
		{"dictionary", `sig1="https://agent.example"`, `("@authority" "signature-agent";key="sig1")`},
		{"dictionary, whole field", `sig1="https://agent.example"`, `("@authority" "signature-agent")`},
		{"dictionary, another key", `bot="https://agent.example"`, `("@authority" "signature-agent";key="bot")`},
		{"dictionary, two members", `x="https://other.example", sig1="https://agent.example"`, `("@authority" "signature-agent";key="sig1")`},
		{"dictionary, both covered", `x="https://other.example", sig1="https://agent.example"`, `("@authority" "signature-agent";key="x" "signature-agent";key="sig1")`},
		{"the query is no part of it", `sig1="https://agent.example?a=b"`, `("@authority" "signature-agent";key="sig1")`},
		{"string", `"https://agent.example"`, `("@authority" "signature-agent")`},
		{"bare", `https://agent.example`, `("@authority" "signature-agent")`},
		{"slash", `"https://agent.example/"`, `("@authority" "signature-agent")`},
		{"path of the directory", `"https://agent.example/.well-known/http-message-signatures-directory"`, `("@authority" "signature-agent")`},
		{"capitals and port", `"https://Agent.EXAMPLE:443"`, `("@authority" "signature-agent")`},
		{"target URI", `sig1="https://agent.example"`, `("@target-uri" "signature-agent";key="sig1")`},
	} {
		t.Run(test.name, func(t *testing.T) {
			m := a.message()
			m.Header.Set("Signature-Agent", test.agent)
			got := verdict(verifierOf(a).Verify(context.Background(), a.sign(t, m, test.input+a.params())))
			if want := "verified https://agent.example"; got != want {
				t.Errorf("Verify() with Signature-Agent %s = %q, want %q", test.agent, got, want)
			}
		})
	}
}

// Which agent signed is read from what the signature covers, or not at all.
func TestVerifyWhichAgent(t *testing.T) {
	a := newTestAgent("https://agent.example", 1)
	const (
		whole = `("@authority" "signature-agent")`
		ofX   = `("@authority" "signature-agent";key="x")`
		open  = `("@authority")`
	)
	for _, test := range []struct{ agent, input, want string }{
		{`sig1="https://other.example", x="https://agent.example"`, ofX, "verified https://agent.example"},
		{`y="https://other.example", x="https://agent.example"`, ofX, "verified https://agent.example"},
		{`y="https://other.example", x="https://agent.example"`, whole, "unverified: the Signature-Agent header does not say which agent signed"},
		{`y="https://other.example", sig1="https://agent.example"`, whole, "verified https://agent.example"},
		{`y="https://other.example", sig1="https://agent.example"`, open, "impostor https://agent.example: the signature does not cover Signature-Agent"},
		{`"https://agent.example"`, open, "impostor https://agent.example: the signature does not cover Signature-Agent"},
		{`https://agent.example`, open, "impostor https://agent.example: the signature does not cover Signature-Agent"},
		{`x="https://agent.example";type="directory"`, ofX, "unverified: the Signature-Agent has parameters, and is ignored"},
		{`x="https://agent.example";unheard=of`, ofX, "unverified: the Signature-Agent has parameters, and is ignored"},
		{`"https://agent.example";type=cimd`, whole, "unverified: the Signature-Agent has parameters, and is ignored"},
		{`"https://agent.example" "x"`, whole, "unverified: the Signature-Agent header cannot be read"},
		{`x=("https://agent.example")`, ofX, "unverified: the Signature-Agent header cannot be read"},
		{`x=token`, ofX, "unverified: the Signature-Agent header cannot be read"},
		{`x="https://agent.example/keys"`, ofX, "unverified: the Signature-Agent is no signer that is listed"},
		{`x="http://agent.example"`, ofX, "unverified: the Signature-Agent is not the https URL of a key directory"},
	} {
		m := a.message()
		m.Header.Set("Signature-Agent", test.agent)
		m = a.sign(t, m, test.input+a.params())
		if got := verdict(verifierOf(a).Verify(context.Background(), m)); got != test.want {
			t.Errorf("Verify() with Signature-Agent %s covered by %s = %q, want %q", test.agent, test.input, got, test.want)
		}
	}
}
