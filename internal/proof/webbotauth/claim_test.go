package webbotauth

import (
	"context"
	"fmt"
	"strings"
	"testing"
)

func TestVerifyAlgorithmMayBeAbsent(t *testing.T) {
	a := newTestAgent("https://agent.example", 1)
	input := dictionaryInput + strings.Replace(a.params(), `;alg="ed25519"`, "", 1)
	got := verdict(verifierOf(a).Verify(context.Background(), a.sign(t, a.message(), input)))
	if want := "verified https://agent.example"; got != want {
		t.Errorf("Verify() = %q, want %q", got, want)
	}
}

func TestVerifyFirstTaggedSignatureCounts(t *testing.T) {
	a := newTestAgent("https://agent.example", 1)
	m := a.sign(t, a.message(), dictionaryInput+a.params())
	input := m.Header.Get("Signature-Input")
	for others, want := range map[int]string{
		3: "verified https://agent.example",
		4: `unverified: no signature is tagged "web-bot-auth"`,
	} {
		var before strings.Builder
		for i := range others {
			fmt.Fprintf(&before, `x%d=("@method");tag="other", `, i)
		}
		m.Header.Set("Signature-Input", before.String()+input+`, y=();tag="web-bot-auth"`)
		if got := verdict(verifierOf(a).Verify(context.Background(), m)); got != want {
			t.Errorf("Verify() after %d other signatures = %q, want %q", others, got, want)
		}
	}
}

func TestVerifyManyComponents(t *testing.T) {
	a := newTestAgent("https://agent.example", 1)
	for n, want := range map[int]string{
		32: "verified https://agent.example",
		33: "unverified: the signature covers more than 32 components",
	} {
		m, input := a.message(), `("@authority" "signature-agent";key="sig1"`
		for i := range n - 2 {
			m.Header.Set(fmt.Sprintf("X-%d", i), "v")
			input += fmt.Sprintf(` "x-%d"`, i)
		}
		m = a.sign(t, m, input+")"+a.params())
		if got := verdict(verifierOf(a).Verify(context.Background(), m)); got != want {
			t.Errorf("Verify() of %d components = %q, want %q", n, got, want)
		}
	}
}
