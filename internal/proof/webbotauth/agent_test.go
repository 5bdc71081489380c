package webbotauth

import (
	"context"
	"strings"
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
		{"dictionary, type", `sig1="https://agent.example";type=directory`, `("@authority" "signature-agent";key="sig1")`},
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
		{`x="https://agent.example";type="directory"`, ofX, "verified https://agent.example"},
		{`x="https://agent.example";type=jwks_uri`, ofX, "unverified: the Signature-Agent's type is not directory"},
		{`x="https://agent.example";kind=directory`, ofX, "unverified: the Signature-Agent's type is not directory"},
		{`"https://agent.example";type=cimd`, whole, "unverified: the Signature-Agent's type is not directory"},
		{`"https://agent.example" "x"`, whole, "unverified: the Signature-Agent header cannot be read"},
		{`x=("https://agent.example")`, ofX, "unverified: the Signature-Agent header cannot be read"},
		{`x=token`, ofX, "unverified: the Signature-Agent header cannot be read"},
		{`x="https://agent.example/keys"`, ofX, "unverified: the Signature-Agent is not the https origin of a key directory"},
		{`x="http://agent.example"`, ofX, "unverified: the Signature-Agent is not the https origin of a key directory"},
	} {
		m := a.message()
		m.Header.Set("Signature-Agent", test.agent)
		m = a.sign(t, m, test.input+a.params())
		if got := verdict(verifierOf(a).Verify(context.Background(), m)); got != test.want {
			t.Errorf("Verify() with Signature-Agent %s covered by %s = %q, want %q", test.agent, test.input, got, test.want)
		}
	}
}

func TestAgentOrigin(t *testing.T) {
	for text, want := range map[string]string{
		"https://agent.example":                 "https://agent.example",
		"HTTPS://Agent.Example":                 "https://agent.example",
		"https://agent.example/":                "https://agent.example",
		"https://agent.example:443":             "https://agent.example",
		"https://agent.example:8443":            "https://agent.example:8443",
		"https://192.0.2.1":                     "https://192.0.2.1",
		"https://[2001:DB8:0::1]:8443":          "https://[2001:db8::1]:8443",
		"https://agent.example" + directoryPath: "https://agent.example",
		"http://127.0.0.1:8080":                 "http://127.0.0.1:8080",
		"http://localhost:80":                   "http://localhost",
		"http://agent.example":                  "",
		"https://agent.example/keys":            "",
		"https://agent.example/?x":              "",
		"https://agent.example/#x":              "",
		"https://user@agent.example":            "",
		"https://agent.example, https://b":      "",
		"https://agent..example":                "",
		"https://agent.example.":                "",
		"https://agént.example":                 "",
		"https://a%2eb":                         "",
		"https://[fe80::1%25eth0]":              "",
		"https:agent.example":                   "",
		"https://":                              "",
		"//agent.example":                       "",
		"ftp://agent.example":                   "",
		"agent.example":                         "",
		"":                                      "",
		"https://" + strings.Repeat("a", 512):   "",
	} {
		if got, err := agentOrigin(text, true); got != want || (err == nil) != (want != "") {
			t.Errorf("agentOrigin(%q, true) = %q, %v, want %q", text, got, err, want)
		}
	}
	for _, text := range []string{"http://127.0.0.1:8080", "http://localhost"} {
		if got, err := agentOrigin(text, false); err == nil {
			t.Errorf("agentOrigin(%q, false) = %q, want an error", text, got)
		}
	}
}
