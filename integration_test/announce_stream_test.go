package integration

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

const streamingSite = `
http://site.test:{$PORT} {
	robots {
		announce content_usage
	}
	respond /robots.txt <<ROBOTS
		User-agent: *
		Content-Usage: train-ai=n
		ROBOTS
	reverse_proxy {$UPSTREAM} {
		flush_interval -1
	}
}
`

// dial sends bytes to the sites of the first port and returns the head of the answer, and
// the connection with what follows.
func (c *caddy) dial(t *testing.T, text string) (*http.Response, net.Conn, *bufio.Reader) {
	t.Helper()
	conn, err := net.DialTimeout("tcp", c.address(), patience)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
	reader := bufio.NewReader(conn)
	resp, err := http.ReadResponse(reader, nil)
	if err != nil {
		t.Fatal(err)
	}
	return resp, conn, reader
}

func TestStreamsAreFlushedWithTheirStatements(t *testing.T) {
	release := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "first\n")
		_ = http.NewResponseController(w).Flush()
		if r.URL.Path == "/stream" {
			<-release
		}
		_, _ = io.WriteString(w, "last\n")
	}))
	t.Cleanup(server.Close)
	c := start(t, streamingSite, map[string]string{"UPSTREAM": server.Listener.Addr().String()})
	c.announced(t, "site.test")
	resp, _, _ := c.dial(t, "GET /stream HTTP/1.1\r\nHost: site.test\r\nUser-Agent: "+chrome+"\r\n\r\n")
	body := bufio.NewReader(resp.Body)
	first, err := body.ReadString('\n')
	close(release)
	if got := resp.Header.Get("Content-Usage"); first != "first\n" || got != "train-ai=n" {
		t.Errorf("before the end: got %q, Content-Usage %q, error %v, want the first line and train-ai=n", first, got, err)
	}
	if rest, err := io.ReadAll(body); string(rest) != "last\n" {
		t.Errorf("the end: got %q, error %v, want the last line", rest, err)
	}
}

func TestConnectionsAreUpgradedWhereStatementsAreAnnounced(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Upgrade") == "" {
			return
		}
		conn, both, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		fmt.Fprint(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: shout\r\n\r\n")
		line, _ := both.ReadString('\n')
		fmt.Fprint(conn, strings.ToUpper(line))
	}))
	t.Cleanup(server.Close)
	c := start(t, streamingSite, map[string]string{"UPSTREAM": server.Listener.Addr().String()})
	c.announced(t, "site.test")
	resp, conn, reader := c.dial(t, "GET /chat HTTP/1.1\r\nHost: site.test\r\nConnection: Upgrade\r\nUpgrade: shout\r\nUser-Agent: "+chrome+"\r\n\r\n")
	if resp.StatusCode != http.StatusSwitchingProtocols {
		t.Fatalf("got %d, want 101", resp.StatusCode)
	}
	fmt.Fprint(conn, "hello\n")
	if got, err := reader.ReadString('\n'); got != "HELLO\n" {
		t.Errorf("got %q, error %v, want HELLO", got, err)
	}
}
