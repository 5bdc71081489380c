package integration

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
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

// sign returns the headers of a request to an authority, signed now (RFC 9421, section 2.5), with
// further parameters of the signature, such as ;nonce="1".
func (s signer) sign(authority, agent string, more ...string) http.Header {
	return s.signAs(authority, fmt.Sprintf("sig1=%q", agent), `"signature-agent";key="sig1"`, fmt.Sprintf("%q", agent), more...)
}

// signString is sign with the Signature-Agent of the first drafts.
func (s signer) signString(authority, agent string) http.Header {
	return s.signAs(authority, fmt.Sprintf("%q", agent), `"signature-agent"`, fmt.Sprintf("%q", agent))
}

// signAs is sign for a Signature-Agent that is covered by a component, whose value this is.
func (s signer) signAs(authority, agent, component, value string, more ...string) http.Header {
	now := time.Now().Unix()
	params := fmt.Sprintf(`("@authority" %s);created=%d;expires=%d;keyid=%q;alg="ed25519";tag="web-bot-auth"%s`,
		component, now, now+300, s.keyID(), strings.Join(more, ""))
	base := fmt.Sprintf("\"@authority\": %s\n%s: %s\n\"@signature-params\": %s", authority, component, value, params)
	return http.Header{
		"Signature-Agent": {agent},
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
func startDirectory(t *testing.T, s signer) (server *httptest.Server, connections *atomic.Int64) {
	t.Helper()
	connections = new(atomic.Int64)
	server = httptest.NewUnstartedServer(plain(s.directory()))
	server.Listener = counted{server.Listener, connections}
	server.StartTLS()
	t.Cleanup(server.Close)
	return server, connections
}

// wellKnown is where the keys of an origin are.
const wellKnown = "/.well-known/http-message-signatures-directory"

// wouldBeVerified fails the test unless the signature is a good one for somebody who may
// read the directory: else that Caddy does not believe it would say nothing.
func wouldBeVerified(t *testing.T, server *httptest.Server, s signer) {
	t.Helper()
	verifier := webbotauth.New(webbotauth.Options{Client: server.Client(), Patience: patience})
	header, signers := s.sign("site.test", server.URL), make(webbotauth.Signers)
	if err := signers.Add(server.URL, "", true); err != nil {
		t.Fatal(err)
	}
	_, status, reason := verifier.Verify(t.Context(), webbotauth.Message{
		Method: "GET", Authority: "site.test", Scheme: "http", Path: "/page", Header: header,
	}, signers)
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
	directory, connections := startDirectory(t, robot)
	wouldBeVerified(t, directory, robot)
	before := connections.Load()
	if before < 1 {
		t.Fatalf("connections to the directory: got %d, want at least 1", before)
	}
	c := start(t, signedSite, trusting(t, directory))

	_, port, _ := net.SplitHostPort(directory.Listener.Addr().String())
	for _, agent := range []string{
		"https://127.0.0.1:" + port, "https://localhost:" + port, "https://[::ffff:127.0.0.1]:" + port,
		"https://[::1]:" + port, "https://0.0.0.0:" + port, "https://127.1:" + port,
		"http://127.0.0.1:" + port, "http://localhost:" + port, "https://127.0.0.1:" + port + "/keys.json",
		"https://chatgpt.com@127.0.0.1:" + port, "https://" + c.env["ADMIN"],
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
	if got := connections.Load(); got != before {
		t.Errorf("connections to a server on loopback that a signature names: got %d, want none", got-before)
	}
}

// trusting is the environment of a Caddy that trusts a server's certificate.
func trusting(t *testing.T, server *httptest.Server) map[string]string {
	t.Helper()
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	file := filepath.Join(t.TempDir(), "directory.crt")
	write(t, file, string(certificate))
	return map[string]string{"SSL_CERT_FILE": file, "KEYS": server.Listener.Addr().String()}
}

// The owner names signers on loopback: one by the URL of its keys, one whose keys have moved, and one
// by its host, which is ChatGPT's agent here.
const namedSigners = `{
	admin {$ADMIN}
	auto_https disable_redirects
	skip_install_trust
}
` + standings + `
https://secure.test:{$PORT} {
	tls internal
	robots {
		source text <<ROBOTS
			User-agent: *
			Disallow: /all/

			User-agent: OurAgent
			Disallow: /ours/

			User-agent: ChatGPT-User
			Disallow: /chat/

			User-agent: Googlebot
			Disallow: /google/
			ROBOTS
		verify OurAgent signature https://{$KEYS}/agents/keys.json
		verify MovedBot signature https://{$KEYS}/moved.json
		verify ChatGPT-User signature {$KEYS}
	}
	@chat crawler ChatGPT-User verified
	respond @chat "ChatGPT's agent"
	@google crawler Googlebot verified
	respond @google "Googlebot"
	import standings
}
`

func TestASignedRequestIsItsSigners(t *testing.T) {
	t.Parallel()
	robot := newSigner()
	var mu sync.Mutex
	fetched := make(map[string]int)
	directory := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		fetched[r.URL.String()]++
		mu.Unlock()
		if r.URL.Path == "/moved.json" {
			http.Redirect(w, r, "/agents/keys.json", http.StatusMovedPermanently)
			return
		}
		plain(robot.directory()).ServeHTTP(w, r)
	}))
	t.Cleanup(directory.Close)
	c := startWith(t, namedSigners, trusting(t, directory))
	c.awaitTLS(t)
	base := "https://secure.test:" + c.env["PORT"]
	authority := strings.TrimPrefix(base, "https://")
	chat, ours, moved, other := directory.URL, directory.URL+"/agents/keys.json", directory.URL+"/moved.json", directory.URL+"/other.json"
	for name, visitor := range map[string]*http.Client{"HTTP/1.1": secureClient(t, c, false), "HTTP/2": secureClient(t, c, true), "HTTP/3": http3Client(t, c, nil)} {
		ask := func(agent, path string, header http.Header) answer {
			a, err := persistent(visitor, request{path: path, agent: agent, header: header}, base)
			if err != nil {
				t.Fatalf("%s: GET %s for %q: %v", name, path, agent, err)
			}
			return a
		}
		for _, signer := range []string{chat, ours} {
			eventually(t, "the keys of "+signer, func() bool { return ask(chrome, "/page", robot.sign(authority, signer)).body != "page" })
		}
		with := func(parameters string) http.Header { // on the member of Signature-Agent, and covered
			member := fmt.Sprintf("%q", ours) + parameters
			return robot.signAs(authority, "sig1="+member, `"signature-agent";key="sig1"`, member)
		}
		const elsewhere = "elsewhere.test"
		for _, tt := range []struct {
			what, agent, path string
			header            http.Header
			status            int
			body              string
		}{
			{"an agent in a browser's clothes", chrome, "/ours/", robot.sign(authority, ours), 403, ""},
			{"not by the record of another", chrome, "/chat/", robot.sign(authority, ours), 200, "verified"},
			{"ChatGPT's agent", chrome, "/chat/", robot.sign(authority, chat), 403, ""},
			{"as its first drafts have it", chrome, "/chat/", robot.signString(authority, chat), 403, ""},
			{"by the well-known path", chrome, "/chat/", robot.sign(authority, chat+wellKnown), 403, ""},
			{"a person", chrome, "/chat/", nil, 200, "page"},
			{"an app", curl, "/chat/", robot.sign(authority, chat), 403, ""},
			{"another robot's name is not vouched for", googlebot, "/chat/", robot.sign(authority, chat), 403, ""},
			{"and its record does not bind", googlebot, "/google/", robot.sign(authority, chat), 200, "ChatGPT's agent"},
			{"without a signature it does", googlebot, "/google/", nil, 403, ""},
			{"signed for another site", chrome, "/chat/", robot.sign(elsewhere, chat), 200, "page"},
			{"which a robot may not", gptbot, "/page", robot.sign(elsewhere, chat), 200, "impostor"},
			{"a member with a parameter", chrome, "/ours/", with(`;type="jwks_uri"`), 200, "page"},
			{"a URL that is not listed", chrome, "/ours/", robot.sign(authority, other), 200, "page"},
			{"nor is it for a robot", gptbot, "/page", robot.sign(authority, other), 200, "unverified"},
			{"keys that have moved", chrome, "/ours/", robot.sign(authority, moved), 200, "page"},
		} {
			if a := ask(tt.agent, tt.path, tt.header); a.status != tt.status || tt.body != "" && a.body != tt.body {
				t.Errorf("%s: %s: GET %s for %q: got %d %q, want %d %q", name, tt.what, tt.path, tt.agent, a.status, tail(a.body, 200), tt.status, tt.body)
			}
		}
		once := robot.sign(authority, ours, `;nonce="`+name+`"`)
		if first, again := ask(gptbot, "/page", once), ask(gptbot, "/page", once); first.body != "verified" || again.body != "impostor" {
			t.Errorf("%s: a nonce, twice: got %q, then %q, want verified, then impostor", name, first.body, again.body)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if want := map[string]int{"/agents/keys.json": 1, "/moved.json": 1, wellKnown: 1}; !maps.Equal(fetched, want) {
		t.Errorf("fetched of the directory: got %v, want %v", fetched, want)
	}
	if got := strings.Count(c.log.String(), `the keys of a signer could not be fetched`); got != 1 || !strings.Contains(c.log.String(), moved) {
		t.Errorf("lines of the log about keys that cannot be fetched: got %d, want 1 about %s", got, moved)
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
