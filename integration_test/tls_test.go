package integration

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

const secureSite = `{
	admin {$ADMIN}
	auto_https disable_redirects
	skip_install_trust
}
https://secure.test:{$PORT} {
	tls internal
	robots
	respond /robots.txt <<ROBOTS
		User-agent: GPTBot
		Disallow: /

		User-agent: bingbot
		Crawl-delay: 3600
		Disallow: /private/
		ROBOTS
	respond "over {http.request.proto}"
}
`

// secureClient trusts Caddy's own authority and nobody else, and goes to c whatever the
// URL says.
func secureClient(t *testing.T, c *caddy, http2 bool) *http.Client {
	t.Helper()
	root := filepath.Join(c.home, "data", "caddy", "pki", "authorities", "local", "root.crt")
	pem, err := os.ReadFile(root)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		t.Fatalf("%s holds no certificate", root)
	}
	transport := &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: pool},
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, c.address())
		},
		Protocols: new(http.Protocols),
	}
	transport.Protocols.SetHTTP1(!http2)
	transport.Protocols.SetHTTP2(http2)
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: patience, CheckRedirect: client.CheckRedirect}
}

// awaitTLS waits for the certificate of secure.test, which may still be on its way when
// Caddy says that it serves.
func (c *caddy) awaitTLS(t *testing.T) {
	t.Helper()
	eventually(t, "a TLS handshake", func() bool {
		conn, err := tls.Dial("tcp", c.address(), &tls.Config{ServerName: "secure.test", InsecureSkipVerify: true})
		if err == nil {
			conn.Close()
		}
		return err == nil
	})
}

func TestHTTPSIsJudgedLikeHTTP(t *testing.T) {
	for major, name := range map[int]string{1: "HTTP/1.1", 2: "HTTP/2"} {
		t.Run(name, func(t *testing.T) {
			c := startWith(t, secureSite, nil)
			base := "https://secure.test:" + c.env["PORT"]
			c.awaitTLS(t)
			visitor := secureClient(t, c, major == 2)

			for _, tt := range []struct {
				method, path, agent string
				want                int
			}{
				{"GET", "/private/", chrome, 200},
				{"POST", "/private/", chrome, 200},
				{"GET", "/robots.txt", gptbot, 200},
				{"GET", "/", gptbot, 403},
				{"HEAD", "/", gptbot, 403},
				{"POST", "/", gptbot, 403},
				{"GET", "/private/", bingbot, 403},
				{"GET", "/", bingbot, 200},
				{"GET", "/", bingbot, 429},
				{"HEAD", "/", bingbot, 429},
				{"GET", "/robots.txt", bingbot, 200},
			} {
				a, err := request{method: tt.method, path: tt.path, agent: tt.agent}.try(visitor, base)
				if err != nil {
					t.Fatalf("%s %s for %q: %v", tt.method, tt.path, tt.agent, err)
				}
				if a.status != tt.want || a.major != major {
					t.Errorf("%s %s for %q: got %d over HTTP/%d, want %d over HTTP/%d",
						tt.method, tt.path, tt.agent, a.status, a.major, tt.want, major)
				}
				if tt.method == "HEAD" && (a.body != "" || a.header.Get("Content-Length") == "") {
					t.Errorf("HEAD %s for %q: got body %q and header %v, want a length and no body", tt.path, tt.agent, a.body, a.header)
				}
				seconds, err := strconv.Atoi(a.header.Get("Retry-After"))
				if late := err == nil && seconds > 0 && seconds <= 3600; late != (tt.want == 429) {
					t.Errorf("%s %s for %q: got status %d with Retry-After %q", tt.method, tt.path, tt.agent, a.status, a.header.Get("Retry-After"))
				}
			}
		})
	}
}
