package webbotauth

import (
	"context"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/internal/enforce"
)

// What every request without a signature pays: a browser's, most of all.
func BenchmarkVerifyUnsigned(b *testing.B) {
	m := Message{Method: "GET", Authority: "example.org", Scheme: "https", Path: "/", Header: http.Header{
		"User-Agent": {"Mozilla/5.0"}, "Accept": {"*/*"}, "Accept-Language": {"en"}, "Cookie": {"a=b"},
	}}
	s := verifierOf()
	b.ReportAllocs()
	for b.Loop() {
		s.Verify(context.Background(), m)
	}
}

func BenchmarkVerify(b *testing.B) {
	a := newTestAgent("https://agent.example", 1)
	s := verifierOf(a)
	for name, input := range map[string]string{"dictionary": dictionaryInput, "short": `("@authority" "signature-agent";key="sig1")`} {
		m := a.sign(b, a.message(), input+a.params())
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, status, reason := s.Verify(context.Background(), m); status != enforce.Verified {
					b.Fatal(status, reason)
				}
			}
		})
	}
}

// All of Verify but the arithmetic of Ed25519.
func BenchmarkParseClaimAndBase(b *testing.B) {
	a := newTestAgent("https://agent.example", 1)
	m := a.sign(b, a.message(), dictionaryInput+a.params())
	b.ReportAllocs()
	for b.Loop() {
		claim, err := parseClaim(m.Header)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := signatureBase(m, claim.input); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkNonceStoreFull(b *testing.B) {
	s := newNonceStore(rememberedNonces)
	later := noon.Add(time.Hour)
	for i := range rememberedNonces {
		s.use("a", "k", strconv.Itoa(i), noon, later)
	}
	i := rememberedNonces
	b.ReportAllocs()
	for b.Loop() {
		i++
		s.use("https://agent.example", "k", strconv.Itoa(i), noon, later)
	}
}
