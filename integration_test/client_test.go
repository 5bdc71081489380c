package integration

import (
	"bufio"
	"context"
	"encoding/base64"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// The User-Agents of the visitors in these tests.
const (
	chrome  = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36"
	gptbot  = "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)"
	bingbot = "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)"
	curl    = "curl/8.17.0"
)

// answer is a whole HTTP answer.
type answer struct {
	status int
	major  int // of the protocol's version
	header http.Header
	body   string
}

// client follows no redirect and bounds every request.
var client = &http.Client{
	Timeout:       patience,
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	Transport:     &http.Transport{MaxIdleConnsPerHost: 32},
}

// request is one request of a visitor; what is empty is GET and no host of its own.
type request struct {
	method string
	host   string // the Host header, where it is not the address
	path   string
	agent  string
	header http.Header
}

// try sends a request to the site at base, such as http://127.0.0.1:8480.
func (q request) try(c *http.Client, base string) (answer, error) {
	return q.tryUntil(context.Background(), c, base)
}

// tryUntil sends a request whose client leaves when ctx is done.
func (q request) tryUntil(ctx context.Context, c *http.Client, base string) (answer, error) {
	req, err := http.NewRequestWithContext(ctx, q.method, base+q.path, nil)
	if err != nil {
		return answer{}, err
	}
	if q.header != nil {
		req.Header = q.header.Clone()
	}
	req.Host = q.host
	req.Header.Set("User-Agent", q.agent)
	resp, err := c.Do(req)
	if err != nil {
		return answer{}, err
	}
	return readAnswer(resp)
}

// readAnswer reads what is left of an answer, and closes it.
func readAnswer(resp *http.Response) (answer, error) {
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return answer{status: resp.StatusCode, major: resp.ProtoMajor, header: resp.Header, body: string(body)}, err
}

// persistent asks again, as browsers do, where a connection ended without an answer: on a
// reload net/http drops a few new connections, whatever handlers the config has.
func persistent(visitor *http.Client, q request, base string) (a answer, err error) {
	for range 3 {
		if a, err = q.try(visitor, base); err == nil {
			break
		}
	}
	return a, err
}

// ask sends a request to the sites of the first port. No answer fails the test.
func (c *caddy) ask(tb testing.TB, q request) answer {
	tb.Helper()
	a, err := persistent(client, q, "http://"+c.address())
	if err != nil {
		tb.Fatalf("%s %s%s for %.200q: %v", q.method, q.host, q.path, q.agent, err)
	}
	return a
}

// expect sends a GET to a host and compares the status.
func (c *caddy) expect(tb testing.TB, host, path, agent string, want int) answer {
	tb.Helper()
	a := c.ask(tb, request{host: host, path: path, agent: agent})
	if a.status != want {
		tb.Errorf("GET %s%s for %.200q: got %d, want %d: %q", host, path, agent, a.status, want, tail(a.body, 500))
	}
	return a
}

// raw sends bytes over a connection of its own and returns the first answer, read as one
// to a request with this method.
func (c *caddy) raw(text, method string) (answer, error) {
	conn, err := net.DialTimeout("tcp", c.address(), patience)
	if err != nil {
		return answer{}, err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		return answer{}, err
	}
	// A server that has seen enough answers and closes before everything is sent; its
	// answer is what counts.
	_, writeErr := io.WriteString(conn, text)
	resp, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: method})
	if err != nil {
		if writeErr != nil {
			return answer{}, writeErr
		}
		return answer{}, err
	}
	return readAnswer(resp)
}

// expand puts the port in the place of {$PORT}.
func (c *caddy) expand(text string) string {
	return strings.ReplaceAll(text, "{$PORT}", c.env["PORT"])
}

// basicAuth is the Authorization header of a user.
func basicAuth(user, password string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))
}
