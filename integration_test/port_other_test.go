//go:build !linux

package integration

import (
	"net"
	"testing"
)

// holdPort is freePort where a port cannot be held: another program may take it before it is used.
func holdPort(tb testing.TB) string {
	tb.Helper()
	return freePort(tb)
}

// listenAt listens at a port that holdPort returned.
func listenAt(tb testing.TB, port string) net.Listener {
	tb.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:"+port)
	if err != nil {
		tb.Fatal(err)
	}
	return listener
}
