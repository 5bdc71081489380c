package redis

import (
	"net"
	"syscall"
	"time"
)

// broken is a connection that could not be opened. Its SyscallConn has go-redis
// drop one that comes too late for whoever asked for it, instead of keeping it.
type broken struct{ err error }

func (b broken) Read([]byte) (int, error)              { return 0, b.err }
func (b broken) Write([]byte) (int, error)             { return 0, b.err }
func (b broken) SyscallConn() (syscall.RawConn, error) { return nil, b.err }

func (broken) Close() error                     { return nil }
func (broken) LocalAddr() net.Addr              { return &net.TCPAddr{} }
func (broken) RemoteAddr() net.Addr             { return &net.TCPAddr{} }
func (broken) SetDeadline(time.Time) error      { return nil }
func (broken) SetReadDeadline(time.Time) error  { return nil }
func (broken) SetWriteDeadline(time.Time) error { return nil }
