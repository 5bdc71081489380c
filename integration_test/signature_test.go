package integration

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/internal/enforce"
	"github.com/caddy-robots/caddy-robots/internal/proof/webbotauth"
)

// signer is a robot that signs its requests (Web Bot Auth).
type signer struct{ key ed25519.PrivateKey }

func newSigner() signer {
	return signer{ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, ed25519.SeedSize))}
}

func (s signer) public() string {
	return base64.RawURLEncoding.EncodeToString(s.key.Public().(ed25519.PublicKey))
}

// keyID is the thumbprint of the key (RFC 7638; RFC 8037, appendix A.3).
func (s signer) keyID() string {
	sum := sha256.Sum256([]byte(`{"crv":"Ed25519","kty":"OKP","x":"` + s.public() + `"}`))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// directory is what the robot's operator publishes.
func (s signer) directory() string {
	return `{"keys":[{"kty":"OKP","crv":"Ed25519","x":"` + s.public() + `"}]}`
}

// sign returns the headers of a request to an authority, signed now (RFC 9421, section 2.5).
func (s signer) sign(authority, agent string) http.Header {
	now := time.Now().Unix()
	params := fmt.Sprintf(`("@authority" "signature-agent";key="sig1");created=%d;expires=%d;keyid=%q;alg="ed25519";tag="web-bot-auth"`,
		now, now+300, s.keyID())
	base := fmt.Sprintf("\"@authority\": %s\n\"signature-agent\";key=\"sig1\": %q\n\"@signature-params\": %s", authority, agent, params)
	return http.Header{
		"Signature-Agent": {fmt.Sprintf("sig1=%q", agent)},
		"Signature-Input": {"sig1=" + params},
		"Signature":       {"sig1=:" + base64.StdEncoding.EncodeToString(ed25519.Sign(s.key, []byte(base))) + ":"},
	}
}

// counted is a listener that counts the connections made to it.
type counted struct {
	net.Listener
	accepted *atomic.Int64
}

// Accept implements net.Listener.
func (l counted) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err == nil {
		l.accepted.Add(1)
	}
	return conn, err
}

// startDirectory serves a signer's keys on loopback.
func startDirectory(t *testing.T, s signer, secure bool) (server *httptest.Server, connections *atomic.Int64) {
	t.Helper()
	connections = new(atomic.Int64)
	server = httptest.NewUnstartedServer(plain(s.directory()))
	server.Listener = counted{server.Listener, connections}
	if secure {
		server.StartTLS()
	} else {
		server.Start()
	}
	t.Cleanup(server.Close)
	return server, connections
}

// wouldBeVerified fails the test unless the signature is a good one for somebody who may
// read the directory: else that Caddy does not believe it would say nothing.
func wouldBeVerified(t *testing.T, server *httptest.Server, s signer) {
	t.Helper()
	verifier := webbotauth.New(webbotauth.Options{Client: server.Client(), AllowPrivate: true, Patience: patience})
	header := s.sign("site.test", server.URL)
	_, status, reason := verifier.Verify(t.Context(), webbotauth.Message{
		Method: "GET", Authority: "site.test", Scheme: "http", Path: "/page", Header: header,
	})
	if status != enforce.Verified {
		t.Fatalf("the signature of %v with the directory at %s: got %s (%s), want verified", header, server.URL, status, reason)
	}
}

const signedSite = standings + `
http://site.test:{$PORT} {
	robots {
		source text <<ROBOTS
			User-agent: *
			Disallow: /private/
			ROBOTS
		verify signature
	}
	import standings
}
`

func TestASignatureLeadsNobodyIntoTheSitesOwnNetwork(t *testing.T) {
	t.Parallel()
	robot := newSigner()
	secure, secureConnections := startDirectory(t, robot, true)
	open, openConnections := startDirectory(t, robot, false)
	wouldBeVerified(t, secure, robot)
	wouldBeVerified(t, open, robot)
	before := secureConnections.Load() + openConnections.Load()
	if before < 2 {
		t.Fatalf("connections to the directories: got %d, want at least 2", before)
	}
	c := start(t, signedSite, nil)

	_, securePort, _ := net.SplitHostPort(secure.Listener.Addr().String())
	_, openPort, _ := net.SplitHostPort(open.Listener.Addr().String())
	for _, agent := range []string{
		"https://127.0.0.1:" + securePort, "https://localhost:" + securePort, "https://[::ffff:127.0.0.1]:" + securePort,
		"https://[::1]:" + securePort, "https://0.0.0.0:" + securePort, "https://127.1:" + securePort,
		"http://127.0.0.1:" + openPort, "http://localhost:" + openPort, "https://127.0.0.1:" + openPort,
		"https://" + c.env["ADMIN"],
	} {
		signed := robot.sign("site.test", agent)
		for _, tt := range []struct {
			path, agent, body string
			want              int
		}{
			{"/page", chrome, "page", 200},
			{"/private/", chrome, "page", 200},
			{"/private/", curl, "page", 200},
			{"/page", gptbot, "unverified", 200}, // a robot by its User-Agent
			{"/private/", gptbot, "", 403},
		} {
			a := c.ask(t, request{host: "site.test", path: tt.path, agent: tt.agent, header: signed})
			if a.status != tt.want || tt.body != "" && a.body != tt.body {
				t.Errorf("GET %s for %q signed by %s: got %d %q, want %d %q", tt.path, tt.agent, agent, a.status, a.body, tt.want, tt.body)
			}
		}
	}
	if got := secureConnections.Load() + openConnections.Load(); got != before {
		t.Errorf("connections to servers on loopback that a signature names: got %d, want none", got-before)
	}
}

func TestWhatIsNoSignatureChangesNothing(t *testing.T) {
	t.Parallel()
	c := start(t, signedSite, nil)
	whole := newSigner().sign("site.test", "https://agent.invalid")
	long := strings.Repeat("x", 3000)
	for name, header := range map[string]http.Header{
		"a host that does not exist": whole,
		"no agent":                   {"Signature": whole["Signature"], "Signature-Input": whole["Signature-Input"]},
		"no input":                   {"Signature": whole["Signature"], "Signature-Agent": whole["Signature-Agent"]},
		"no structured field":        {"Signature": {"=::"}, "Signature-Input": {"((("}, "Signature-Agent": {`"`}},
		"an agent that is no URL":    {"Signature": whole["Signature"], "Signature-Input": whole["Signature-Input"], "Signature-Agent": {`sig1="file:///etc/passwd"`}},
		"more headers than are read": {"Signature": {long}, "Signature-Input": {long}, "Signature-Agent": {long}},
		"empty headers":              {"Signature": {""}, "Signature-Input": {""}, "Signature-Agent": {""}},
	} {
		for agent, want := range map[string]int{chrome: 200, curl: 200, gptbot: 403} {
			if a := c.ask(t, request{host: "site.test", path: "/private/", agent: agent, header: header}); a.status != want {
				t.Errorf("GET /private/ for %q with %s: got %d, want %d", agent, name, a.status, want)
			}
		}
		if a := c.ask(t, request{host: "site.test", path: "/page", agent: gptbot, header: header}); a.body != "unverified" {
			t.Errorf("GET /page for GPTBot with %s: got %q, want it unverified", name, a.body)
		}
	}
}
