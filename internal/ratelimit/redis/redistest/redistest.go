// Package redistest runs a real redis-server for a test: on a free port of the
// loopback address, in a folder of its own, keeping nothing on disk, and gone
// when the test is over.
//
//	server := redistest.Start(t)
//	store, err := redis.Open(server.URL(), redis.Options{})
//
// It can be killed and started again, and paused, which is how a server looks that
// hangs or that the network has lost.
package redistest

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/internal/testutil"
)

// program is what is run.
const program = "redis-server"

// patience is how long a server may take to start, or a command to be answered.
const patience = 20 * time.Second

// Server is a redis-server that runs for one test. Its methods are not safe
// for concurrent use, except URL and Addr.
type Server struct {
	dir, port string
	args      []string
	secure    *tls.Config         // what a client needs to speak to it, nil for no TLS
	config    func(*Server) error // writes the config of a Sentinel, nil for a server
	process   *exec.Cmd           // nil if killed
	exited    chan struct{}
}

// Start runs a redis-server with args after those of its own, such as "--requirepass",
// "secret", and returns when it answers. It is killed when the test is over. Where there is no
// redis-server the test is skipped, or fails if ROBOTS_REQUIRE_ALL is 1.
func Start(tb testing.TB, args ...string) *Server {
	tb.Helper()
	return start(tb, &Server{args: args})
}

// StartTLS is Start for a server that speaks TLS alone, with a certificate that
// nobody has signed.
func StartTLS(tb testing.TB, args ...string) *Server {
	tb.Helper()
	s := &Server{args: args, secure: &tls.Config{InsecureSkipVerify: true}}
	return start(tb, s)
}

// start runs s on the first free port.
func start(tb testing.TB, s *Server) *Server {
	tb.Helper()
	if _, err := exec.LookPath(program); err != nil {
		testutil.SkipOrFail(tb, "install redis-server (apt-get install redis-server)")
	}
	s.dir = tb.TempDir()
	if s.secure != nil {
		writeCertificate(tb, s.dir)
	}
	tb.Cleanup(s.Kill)
	var err error
	for range 10 { // another program may take the port first
		s.port = freePort(tb)
		if err = s.run(); err == nil {
			return s
		}
	}
	tb.Fatal(err)
	return nil
}

// Addr returns where the server listens, as host:port.
func (s *Server) Addr() string { return net.JoinHostPort("127.0.0.1", s.port) }

// URL returns the URL of the server's first database, without a password. That
// of a server with TLS has the client take any certificate.
func (s *Server) URL() string {
	if s.secure != nil {
		return "rediss://" + s.Addr() + "/0?skip_verify=true"
	}
	return "redis://" + s.Addr() + "/0"
}

// Certificate returns the file of the certificate of a server with TLS, which is its own authority.
func (s *Server) Certificate() string { return filepath.Join(s.dir, certificateFile) }

// Kill ends the server at once, as a crash does. All that it knows is lost.
func (s *Server) Kill() {
	if s.process == nil {
		return
	}
	s.Resume()
	_ = s.process.Process.Kill()
	<-s.exited
	s.process = nil
}

// Restart starts the server again on the same port, after killing it if it still
// runs, and returns when it answers.
func (s *Server) Restart(tb testing.TB) {
	tb.Helper()
	s.Kill()
	if err := s.run(); err != nil {
		tb.Fatal(err)
	}
}

// Pause stops the server where it is. It still accepts connections, as the kernel
// does that for it, and answers nothing until Resume.
func (s *Server) Pause() { _ = s.process.Process.Signal(pause) }

// Resume has a paused server go on.
func (s *Server) Resume() { _ = s.process.Process.Signal(resume) }

// run starts the server and waits until it answers.
func (s *Server) run() error {
	args, ready := s.options(), "Ready to accept connections"
	if s.config != nil {
		if err := s.config(s); err != nil {
			return err
		}
		args, ready = []string{sentinelFile, "--sentinel"}, "+monitor master"
	}
	process := exec.Command(program, append(args, s.args...)...)
	process.Dir = s.dir
	out, err := process.StdoutPipe()
	if err != nil {
		return err
	}
	process.Stderr = process.Stdout
	if err := process.Start(); err != nil {
		return err
	}
	s.process, s.exited = process, make(chan struct{})
	said := make(chan string, 1) // all until it was ready or ended
	go func() {
		defer close(s.exited)
		said <- listen(out, ready)
		_, _ = io.Copy(io.Discard, out)
		_ = process.Wait()
	}()
	select {
	case text := <-said:
		if err := s.ping(); err != nil {
			s.Kill()
			return fmt.Errorf("%s does not answer: %w; it said:\n%s", program, err, text)
		}
		return nil
	case <-time.After(patience):
		s.Kill()
		return fmt.Errorf("%s is not ready after %s; it said:\n%s", program, patience, <-said)
	}
}

// options are those of a server that is no Sentinel.
func (s *Server) options() []string {
	port := []string{"--port", s.port}
	if s.secure != nil {
		port = []string{"--port", "0", "--tls-port", s.port, "--tls-auth-clients", "no",
			"--tls-cert-file", certificateFile, "--tls-key-file", keyFile, "--tls-ca-cert-file", certificateFile}
	}
	return append(port, "--bind", "127.0.0.1", "--dir", s.dir, "--save", "", "--appendonly", "no",
		"--daemonize", "no", "--logfile", "")
}

// listen returns what a server says until it is ready, as it says by a text.
func listen(out io.Reader, ready string) string {
	var text strings.Builder
	for lines := bufio.NewScanner(out); lines.Scan(); {
		fmt.Fprintln(&text, lines.Text())
		if strings.Contains(lines.Text(), ready) {
			break
		}
	}
	return text.String()
}

// ping waits for the server to answer anything, be it that a password is needed.
func (s *Server) ping() error {
	conn, err := s.connect()
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "PING\r\n"); err != nil {
		return err
	}
	_, err = bufio.NewReader(conn).ReadString('\n')
	return err
}

// connect opens a connection for one exchange.
func (s *Server) connect() (net.Conn, error) {
	conn, err := net.DialTimeout("tcp", s.Addr(), patience)
	if err != nil {
		return nil, err
	}
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		return nil, err
	}
	if s.secure != nil {
		conn = tls.Client(conn, s.secure)
	}
	return conn, nil
}

// freePort returns a port that nobody listened on a moment ago.
func freePort(tb testing.TB) string {
	tb.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		tb.Fatal(err)
	}
	return port
}
