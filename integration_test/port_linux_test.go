package integration

import (
	"context"
	"net"
	"strconv"
	"syscall"
	"testing"
)

// soReusePort is SO_REUSEPORT, which package syscall does not name on every architecture.
const soReusePort = 15

// holdPort finds a port that nobody uses and keeps it until the test ends: for programs that listen
// with SO_REUSEPORT, as Caddy does. A socket is bound there and does not listen. So the port is given
// to no one else, neither before the program listens nor while it is restarted: not to a server on
// any free port, and not to a connection for its own end.
func holdPort(tb testing.TB) string {
	tb.Helper()
	family, address := syscall.AF_INET6, syscall.Sockaddr(&syscall.SockaddrInet6{})
	socket, err := syscall.Socket(family, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil { // there is no IPv6
		family, address = syscall.AF_INET, &syscall.SockaddrInet4{}
		if socket, err = syscall.Socket(family, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0); err != nil {
			tb.Fatal(err)
		}
	}
	tb.Cleanup(func() { syscall.Close(socket) })
	if err := syscall.SetsockoptInt(socket, syscall.SOL_SOCKET, soReusePort, 1); err != nil {
		tb.Fatal(err)
	}
	if family == syscall.AF_INET6 {
		if err := syscall.SetsockoptInt(socket, syscall.IPPROTO_IPV6, syscall.IPV6_V6ONLY, 0); err != nil {
			tb.Fatal(err)
		}
	}
	if err := syscall.Bind(socket, address); err != nil {
		tb.Fatal(err)
	}
	bound, err := syscall.Getsockname(socket)
	if err != nil {
		tb.Fatal(err)
	}
	switch bound := bound.(type) {
	case *syscall.SockaddrInet6:
		return strconv.Itoa(bound.Port)
	case *syscall.SockaddrInet4:
		return strconv.Itoa(bound.Port)
	}
	tb.Fatalf("bound to %T", bound)
	return ""
}

// listenAt listens at a port that holdPort returned.
func listenAt(tb testing.TB, port string) net.Listener {
	tb.Helper()
	config := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) error {
		var err error
		if controlErr := c.Control(func(fd uintptr) {
			err = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, soReusePort, 1)
		}); controlErr != nil {
			return controlErr
		}
		return err
	}}
	listener, err := config.Listen(context.Background(), "tcp", "127.0.0.1:"+port)
	if err != nil {
		tb.Fatal(err)
	}
	return listener
}

// The port of a program that is down stays its own: nobody else gets it, and it can come back.
func TestAHeldPortIsGivenToNobodyElse(t *testing.T) {
	port := holdPort(t)
	if l, err := net.Listen("tcp", "127.0.0.1:"+port); err == nil {
		l.Close()
		t.Errorf("another program may listen at port %s", port)
	}
	for range 2 {
		listener := listenAt(t, port)
		if number, err := strconv.Atoi(port); err != nil || listener.Addr().(*net.TCPAddr).Port != number {
			t.Errorf("listening at %s, want port %s", listener.Addr(), port)
		}
		if conn, err := net.Dial("tcp", listener.Addr().String()); err != nil {
			t.Error(err)
		} else {
			conn.Close()
		}
		listener.Close()
	}
	if conn, err := net.Dial("tcp", "127.0.0.1:"+port); err == nil {
		conn.Close()
		t.Errorf("somebody answers at port %s, where nobody listens", port)
	}
}
