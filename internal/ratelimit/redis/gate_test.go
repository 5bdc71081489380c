package redis_test

import (
	"io"
	"net"
	"sync"
	"testing"
)

// gate passes connections on to a server until it is closed. Those that were
// passed on before stay.
type gate struct {
	addr string

	mu     sync.Mutex
	closed bool
	turned int // away
}

// newGate returns a gate to a server, that is gone when the test is over.
func newGate(t *testing.T, server string) *gate {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g := &gate{addr: listener.Addr().String()}
	var all sync.WaitGroup
	t.Cleanup(func() {
		listener.Close()
		all.Wait()
	})
	all.Go(func() {
		for {
			from, err := listener.Accept()
			if err != nil {
				return
			}
			if !g.passes() {
				from.Close()
				continue
			}
			to, err := net.Dial("tcp", server)
			if err != nil {
				from.Close()
				continue
			}
			for _, way := range [][2]net.Conn{{from, to}, {to, from}} {
				all.Go(func() {
					_, _ = io.Copy(way[1], way[0])
					way[0].Close()
					way[1].Close()
				})
			}
		}
	})
	return g
}

// passes reports whether a new connection is passed on.
func (g *gate) passes() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		g.turned++
	}
	return !g.closed
}

func (g *gate) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
}

// refused returns how many connections were not passed on.
func (g *gate) refused() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.turned
}
