package integration

import (
	"context"
	"crypto/tls"
	"net/http"
	"testing"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
)

// http3Client asks c over HTTP/3, whatever the URL says. It remembers TLS sessions.
func http3Client(t *testing.T, c *caddy, sessions tls.ClientSessionCache) *http.Client {
	t.Helper()
	transport := &http3.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true, ServerName: "secure.test", ClientSessionCache: sessions},
		Dial: func(ctx context.Context, _ string, tlsConfig *tls.Config, config *quic.Config) (*quic.Conn, error) {
			return quic.DialAddrEarly(ctx, c.address(), tlsConfig, config)
		},
	}
	t.Cleanup(func() { _ = transport.Close() })
	return &http.Client{Transport: transport, Timeout: patience, CheckRedirect: client.CheckRedirect}
}

// byProtocol runs a test over HTTP/1.1, HTTP/2 and HTTP/3, each with a Caddy of its own, whose sites
// are those of https://secure.test.
func byProtocol(t *testing.T, caddyfile string, env map[string]string, test func(t *testing.T, c *caddy, ask func(q request) answer)) {
	for name, major := range map[string]int{"HTTP/1.1": 1, "HTTP/2": 2, "HTTP/3": 3} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := startWith(t, caddyfile, env)
			c.awaitTLS(t)
			visitor := http3Client(t, c, nil)
			if major != 3 {
				visitor = secureClient(t, c, major == 2)
			}
			test(t, c, func(q request) answer {
				t.Helper()
				a, err := q.try(visitor, "https://secure.test:"+c.env["PORT"])
				if err != nil || a.major != major {
					t.Fatalf("GET %s for %q: HTTP/%d, error %v; want HTTP/%d", q.path, q.agent, a.major, err, major)
				}
				return a
			})
		})
	}
}
