package redistest

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"
)

// ask sends one line to the server and returns the first line of its answer.
func ask(s *Server, line string) (string, error) {
	conn, err := s.connect()
	if err != nil {
		return "", err
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, line+"\r\n"); err != nil {
		return "", err
	}
	answer, err := bufio.NewReader(conn).ReadString('\n')
	return strings.TrimSpace(answer), err
}

// mustAsk is ask of a server that answers.
func mustAsk(t *testing.T, s *Server, line string) string {
	t.Helper()
	answer, err := ask(s, line)
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return answer
}

func TestStart(t *testing.T) {
	for name, start := range map[string]func(testing.TB, ...string) *Server{"plain": Start, "TLS": StartTLS} {
		t.Run(name, func(t *testing.T) {
			if got := mustAsk(t, start(t), "PING"); got != "+PONG" {
				t.Errorf("PING: got %q, want +PONG", got)
			}
		})
	}
}

func TestStartWithArguments(t *testing.T) {
	if got := mustAsk(t, Start(t, "--requirepass", "secret"), "PING"); !strings.HasPrefix(got, "-NOAUTH") {
		t.Errorf("PING of a server with a password: got %q, want -NOAUTH", got)
	}
}

func TestRestartForgets(t *testing.T) {
	server := Start(t)
	addr := server.Addr()
	mustAsk(t, server, "SET a b")
	server.Kill()
	if got, err := ask(server, "PING"); err == nil {
		t.Errorf("PING of a server that was killed: got %q, want an error", got)
	}
	server.Restart(t)
	if got := mustAsk(t, server, "GET a"); got != "$-1" || server.Addr() != addr {
		t.Errorf("after a restart at %s: got %q for a, at %s, want nothing, at the same address", addr, got, server.Addr())
	}
}

func TestPause(t *testing.T) {
	server := Start(t)
	server.Pause()
	conn, err := server.connect()
	if err != nil {
		t.Fatalf("connecting to a server that is paused: %v", err)
	}
	defer conn.Close()
	fmt.Fprint(conn, "PING\r\n")
	_ = conn.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
	if n, err := conn.Read(make([]byte, 1)); err == nil {
		t.Errorf("reading from a server that is paused: got %d bytes, want none", n)
	}
	server.Resume()
	if got := mustAsk(t, server, "PING"); got != "+PONG" {
		t.Errorf("PING of a server that goes on: got %q, want +PONG", got)
	}
}

// TestEndsWithTheTest looks for the process of a test that is over.
func TestEndsWithTheTest(t *testing.T) {
	var server *Server
	var process *os.Process
	t.Run("a test", func(t *testing.T) {
		server = Start(t)
		process = server.process.Process
		server.Pause()
	})
	if _, err := ask(server, "PING"); err == nil {
		t.Error("PING after the test: want an error")
	}
	if err := process.Signal(os.Interrupt); err == nil {
		t.Error("the process lives on after its test")
	}
}
