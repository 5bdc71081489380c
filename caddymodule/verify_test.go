package caddymodule

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-robots/caddy-robots/internal/enforce"
	"github.com/caddy-robots/caddy-robots/internal/proof"
	"github.com/caddy-robots/caddy-robots/internal/proof/dns"
	"github.com/caddy-robots/caddy-robots/internal/proof/webbotauth"
	"github.com/caddy-robots/caddy-robots/internal/storage"
)

const (
	googlebot  = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"
	real       = "192.0.2.7"    // of the robot's ranges
	fake       = "198.51.100.7" // of nobody's
	googleSite = "User-agent: Googlebot\nDisallow: /search\nCrawl-delay: 10\n\nUser-agent: *\nDisallow: /private/\n"
)

func googleRanges() *Verify {
	return &Verify{Claims: []proof.Claim{{Token: "Googlebot", Ranges: []string{"192.0.2.0/24"}}}}
}

func TestImpostors(t *testing.T) {
	for _, test := range []struct {
		impostors, address, agent, target string
		want                              int
		why                               string
	}{
		{"", real, googlebot, "/search", 403, "its own record"},
		{"", real, googlebot, "/private/", 200, "and no other"},
		{"", fake, googlebot, "/search", 200, "judged as an unnamed robot"},
		{"", fake, googlebot, "/private/", 403, "by the * record"},
		{"", fake, gptBot, "/search", 200, "a robot that claims nothing which can be checked"},
		{"", fake, chrome, "/private/", 200, "a person"},
		{"", fake, "Mozilla/5.0 (compatible; evilgooglebot.com)", "/private/", 403, "the token occurs in its User-Agent, so it claims it"},
		{"refuse", real, googlebot, "/open", 200, "verified"},
		{"refuse", fake, googlebot, "/open", 403, "refused altogether"},
		{"refuse", fake, googlebot, "/robots.txt", 200, "but for robots.txt"},
		{"refuse", fake, gptBot, "/open", 200, "no claim"},
		{"refuse", fake, chrome, "/open", 200, "a person"},
		{"observe", fake, googlebot, "/open", 200, "only noted"},
		{"observe", fake, googlebot, "/search", 403, "and judged as who it says it is"},
		{"observe", fake, googlebot, "/private/", 200, "so too"},
	} {
		t.Run(test.why, func(t *testing.T) {
			th := newTestHandler(t, googleSite, &Handler{Verify: googleRanges(), Impostors: test.impostors})
			if got := th.visit(test.address, test.target, test.agent); got != test.want {
				t.Errorf("impostors %q, %s from %s as %q: got %d, want %d", test.impostors, test.target, test.address, test.agent, got, test.want)
			}
		})
	}
}

func TestAnImpostorIsToldAndLogged(t *testing.T) {
	th := newTestHandler(t, googleSite, &Handler{Verify: googleRanges(), Impostors: "refuse"})
	r := newRequest("GET", "/open", googlebot)
	caddyhttp.SetVar(r.Context(), caddyhttp.ClientIPVarKey, fake)
	body := th.do(r).Body.String()
	for _, want := range []string{"403 Forbidden", "Googlebot is not who it says it is", "claims to be Googlebot, but its address is not one of that robot's"} {
		if !strings.Contains(body, want) {
			t.Errorf("body lacks %q:\n%s", want, body)
		}
	}
	repl := r.Context().Value(caddy.ReplacerCtxKey).(*caddy.Replacer)
	if got := repl.ReplaceAll("{http.robots.verdict} {http.robots.verified}", ""); got != "impostor impostor" {
		t.Errorf("placeholders: got %q", got)
	}
	entries := th.logs.FilterMessage("robot refused").All()
	if len(entries) != 1 || entries[0].ContextMap()["claimed"] != "Googlebot" || entries[0].ContextMap()["verdict"] != "impostor" {
		t.Errorf("log: got %v", entries)
	}
}

func TestNobodySpendsAVerifiedRobotsBudget(t *testing.T) {
	th := newTestHandler(t, googleSite, &Handler{Verify: googleRanges(), Impostors: "observe"})
	for _, step := range []struct {
		address string
		want    int
	}{{fake, 200}, {fake, 429}, {real, 200}, {real, 429}, {"192.0.2.8", 429}, {"198.51.100.8", 429}} {
		if got := th.visit(step.address, "/open", googlebot); got != step.want {
			t.Errorf("%s: got %d, want %d", step.address, got, step.want)
		}
	}
}

// resolver is a DNS that knows two hosts, or fails.
type resolver struct{ fails bool }

func (d resolver) LookupAddr(_ context.Context, addr string) ([]string, error) {
	if d.fails {
		return nil, errors.New("server failure")
	}
	switch addr {
	case real:
		return []string{"crawl-192-0-2-7.googlebot.com."}, nil
	case fake:
		return []string{"crawl.googlebot.com.evil.example."}, nil
	}
	return nil, nil
}

func (d resolver) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	if strings.HasPrefix(host, "crawl-192-0-2-7.") {
		return []netip.Addr{netip.MustParseAddr(real)}, nil
	}
	return []netip.Addr{netip.MustParseAddr(fake)}, nil
}

func TestVerificationByDNS(t *testing.T) {
	for _, test := range []struct {
		fails   bool
		address string
		want    int
	}{{false, real, 200}, {false, fake, 403}, {true, real, 200}, {true, fake, 200}} {
		t.Run(fmt.Sprint(test.fails, " ", test.address), func(t *testing.T) {
			th := newTestHandler(t, googleSite, &Handler{
				Impostors: "refuse", Verify: &Verify{Claims: []proof.Claim{{Token: "Googlebot", DNS: []string{"googlebot.com"}}}},
			})
			th.app.dns = dns.New(dns.Options{Resolver: resolver{test.fails}, Patience: time.Minute})
			defer th.app.dns.Close()
			th.proveAnew(t)
			if got := th.visit(test.address, "/open", googlebot); got != test.want {
				t.Errorf("got %d, want %d", got, test.want)
			}
		})
	}
}

func TestTheMatcherKnowsWhatTheDirectiveFound(t *testing.T) {
	th := newTestHandler(t, "User-agent: *\nDisallow: /private/\n", &Handler{Verify: googleRanges()})
	for _, test := range []struct {
		matcher string
		want    string // of a real Googlebot, a false one, GPTBot, a browser
	}{
		{"crawler", "yes yes yes no"},
		{"crawler verified", "yes no no no"},
		{"crawler impostor", "no yes no no"},
		{"crawler unverified", "no no yes no"},
		{"crawler verified unverified", "yes no yes no"},
		{"crawler Googlebot verified", "yes no no no"},
		{"crawler GPTBot verified", "no no no no"},
	} {
		m := provisioned(t, test.matcher)
		var got []string
		for _, client := range [][2]string{{real, googlebot}, {fake, googlebot}, {fake, gptBot}, {fake, chrome}} {
			r := newRequest("GET", "/", client[1])
			caddyhttp.SetVar(r.Context(), caddyhttp.ClientIPVarKey, client[0])
			var matched bool
			err := th.ServeHTTP(httptest.NewRecorder(), r, caddyhttp.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) error {
				matched = m.Match(r)
				return nil
			}))
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, map[bool]string{true: "yes", false: "no"}[matched])
		}
		if got := strings.Join(got, " "); got != test.want {
			t.Errorf("%s: got %s, want %s", test.matcher, got, test.want)
		}
	}
}

func TestExpressionsKnowWhatTheDirectiveFound(t *testing.T) {
	th := newTestHandler(t, "User-agent: *\nDisallow: /private/\n", &Handler{Verify: googleRanges()})
	m := caddyhttp.MatchExpression{Expr: "crawler('Googlebot', 'verified')"}
	if err := m.Provision(contextWithStorage(t)); err != nil {
		t.Fatal(err)
	}
	for address, want := range map[string]bool{real: true, fake: false} {
		r := newRequest("GET", "/", googlebot)
		caddyhttp.SetVar(r.Context(), caddyhttp.ClientIPVarKey, address)
		th.do(r)
		if got, err := m.MatchWithError(r); got != want || err != nil {
			t.Errorf("%s: got %t, %v; want %t", address, got, err, want)
		}
	}
}

// proveAnew has the handler check its clients by what the app has now.
func (th *testHandler) proveAnew(t *testing.T) {
	th.prover = th.newProver(t.Context())
	th.engine.Prover = th.prover
}

func TestHandlersThatVerifyTheSameShareOneProver(t *testing.T) {
	ctx := contextWithStorage(t)
	known := func() *Handler { return &Handler{Verify: &Verify{Known: true}} }
	one, two := newTestHandlerIn(t, ctx, closedAll, known()), newTestHandlerIn(t, ctx, closedAll, known())
	other := newTestHandlerIn(t, ctx, closedAll, &Handler{Verify: googleRanges()})
	if one.prover != two.prover || one.prover == other.prover {
		t.Error("got other provers, want one for those that verify the same, and another for what does not")
	}
}

func TestAnUnknownListMakesNobodyAnImpostor(t *testing.T) {
	th := newTestHandler(t, googleSite, &Handler{
		Impostors: "refuse", Verify: &Verify{Claims: []proof.Claim{{Token: "Googlebot", Ranges: []string{"/nonexistent/googlebot.json"}}}},
	})
	if got := th.visit(fake, "/open", googlebot); got != 200 {
		t.Errorf("got %d, want 200", got)
	}
}

// A list that has not changed is not sent again.
func TestAListIsFetchedFromURLsAndFiles(t *testing.T) {
	const published = "192.0.2.0/24\n"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"1"`)
		w.Header().Set("Last-Modified", "Sun, 01 Nov 2026 00:00:00 GMT")
		if r.Header.Get("If-None-Match") == `"1"` {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		_, _ = io.WriteString(w, published)
	}))
	defer server.Close()
	th := newTestHandler(t, closedAll, &Handler{})
	want := storage.Document{Text: published, ETag: `"1"`, LastModified: "Sun, 01 Nov 2026 00:00:00 GMT"}
	first, err := th.fetchList(t.Context(), server.URL, nil)
	again, err2 := th.fetchList(t.Context(), server.URL, &first)
	if first != want || again != want || err != nil || err2 != nil {
		t.Errorf("URL: got %+v, %v, then %+v, %v; want %+v", first, err, again, err2, want)
	}
	file, err := th.fetchList(t.Context(), write(t, t.TempDir(), "ranges.txt", published), nil)
	if file.Text != published || err != nil {
		t.Errorf("file: got %+v, %v", file, err)
	}
	if _, err := th.fetchList(t.Context(), t.TempDir(), nil); err == nil {
		t.Error("a folder: got no error")
	}
}

// signer signs requests as Web Bot Auth asks, and publishes its key.
type signer struct {
	*httptest.Server
	key ed25519.PrivateKey
	id  string
}

func newSigner(t *testing.T) *signer {
	t.Helper()
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	x := base64.RawURLEncoding.EncodeToString(public)
	thumbprint := sha256.Sum256([]byte(`{"crv":"Ed25519","kty":"OKP","x":"` + x + `"}`))
	s := &signer{key: private, id: base64.RawURLEncoding.EncodeToString(thumbprint[:])}
	s.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/http-message-signatures-directory+json")
		_, _ = fmt.Fprintf(w, `{"keys":[{"kty":"OKP","crv":"Ed25519","x":%q,"kid":%q}]}`, x, s.id)
	}))
	t.Cleanup(s.Close)
	return s
}

// claims says that who signs as s is the robot with a token.
func (s *signer) claims(token string) *Verify {
	return &Verify{Claims: []proof.Claim{{Token: token, Signers: []string{s.URL}}}}
}

func (s *signer) sign(r *http.Request, now time.Time, more ...string) {
	params := fmt.Sprintf(`("@authority" "signature-agent");created=%d;expires=%d;keyid=%q;alg="ed25519";tag="web-bot-auth"`,
		now.Unix(), now.Add(time.Minute).Unix(), s.id)
	for _, param := range more {
		params += ";" + param
	}
	agent := fmt.Sprintf("%q", s.URL)
	base := fmt.Sprintf("\"@authority\": %s\n\"signature-agent\": %s\n\"@signature-params\": %s", r.Host, agent, params)
	r.Header.Set("Signature-Agent", agent)
	r.Header.Set("Signature-Input", "sig1="+params)
	r.Header.Set("Signature", "sig1=:"+base64.StdEncoding.EncodeToString(ed25519.Sign(s.key, []byte(base)))+":")
}

func TestVerificationBySignature(t *testing.T) {
	s := newSigner(t)
	th := newTestHandler(t, "User-agent: OurAgent\nDisallow: /signed/\n\nUser-agent: *\nDisallow: /private/\n", &Handler{Verify: s.claims("OurAgent"), Impostors: "refuse"})
	th.app.signatures = webbotauth.New(webbotauth.Options{Client: s.Client(), Patience: time.Minute, Now: th.clock.now})
	th.proveAnew(t)
	ask := func(agent, target string, change func(*http.Request)) int {
		r := newRequest("GET", target, agent)
		s.sign(r, th.clock.now())
		change(r)
		return th.do(r).Code
	}
	as := func(*http.Request) {}
	forged := func(r *http.Request) { r.Header.Set("Signature", "sig1=:"+strings.Repeat("A", 86)+"==:") }
	unsigned := func(r *http.Request) {
		for _, header := range []string{"Signature", "Signature-Input", "Signature-Agent"} {
			r.Header.Del(header)
		}
	}
	for _, test := range []struct {
		what, agent, target string
		change              func(*http.Request)
		want                int
	}{
		{"a robot in a browser's clothes that signs", chrome, "/signed/", as, 403},
		{"is bound by the record of its token alone", chrome, "/private/", as, 200},
		{"without a signature it is a person", chrome, "/signed/", unsigned, 200},
		{"a wrong signature means nothing about a person", chrome, "/signed/", forged, 200},
		{"nor about what a person may read", chrome, "/private/", forged, 200},
		{"a robot that signs", gptBot, "/signed/", as, 403},
		{"a robot with a wrong signature is an impostor", gptBot, "/open", forged, 403},
		{"a robot without one is a robot", gptBot, "/open", unsigned, 200},
	} {
		if got := ask(test.agent, test.target, test.change); got != test.want {
			t.Errorf("%s: got %d, want %d", test.what, got, test.want)
		}
	}
}

func TestASignatureIsLookedAtOnceForARequest(t *testing.T) {
	s := newSigner(t)
	signatures := webbotauth.New(webbotauth.Options{Client: s.Client(), Patience: time.Minute})
	verifying := func(claims *Verify) *testHandler {
		th := newTestHandler(t, "User-agent: *\nDisallow: /private/\n", &Handler{Verify: claims, Impostors: "refuse"})
		th.app.signatures = signatures
		th.proveAnew(t)
		return th
	}
	outer, inner := verifying(&Verify{Signature: true}), verifying(s.claims("OurAgent"))
	r := newRequest("GET", "/", gptBot)
	s.sign(r, time.Now(), `nonce="b25jZQ"`)
	err := outer.ServeHTTP(httptest.NewRecorder(), r, caddyhttp.HandlerFunc(func(w http.ResponseWriter, r *http.Request) error {
		if err := inner.ServeHTTP(w, r, page); err != nil {
			return err
		}
		return inner.ServeHTTP(w, r, page)
	}))
	if status, ok := provedIn(allVariables(r)); err != nil || !ok || status != enforce.Verified {
		t.Errorf("through three handlers: got %s, %t, %v; want verified", status, ok, err)
	}
	again := newRequest("GET", "/", gptBot)
	again.Header = r.Header
	if got := inner.do(again).Code; got != 403 {
		t.Errorf("replayed: got %d, want 403", got)
	}
}

func TestSchemeOf(t *testing.T) {
	for _, test := range []struct {
		trusted bool
		told    string
		want    string
	}{{false, "", "http"}, {false, "https", "http"}, {true, "https", "https"}, {true, "gopher", "http"}} {
		r := newRequest("GET", "/", gptBot)
		r.Header.Set("X-Forwarded-Proto", test.told)
		caddyhttp.SetVar(r.Context(), caddyhttp.TrustedProxyVarKey, test.trusted)
		if got := schemeOf(r); got != test.want {
			t.Errorf("trusted %t, told %q: got %s, want %s", test.trusted, test.told, got, test.want)
		}
	}
}

func provisioned(t *testing.T, matcher string) *MatchCrawler {
	t.Helper()
	m := new(MatchCrawler)
	if err := m.UnmarshalCaddyfile(dispense(matcher)); err != nil {
		t.Fatal(err)
	}
	if err := m.Provision(contextWithStorage(t)); err != nil {
		t.Fatal(err)
	}
	return m
}
