package redis

import (
	"context"
	"time"
)

// limited is a context that ends at a given time and can be used again if that has
// not come. It belongs to nobody else's: a visitor who leaves in the middle of a
// decision does not spoil the connection.
type limited struct {
	until time.Time
	over  chan struct{}
	timer *time.Timer // closes over
}

// begin starts the time.
func (l *limited) begin(timeout time.Duration) {
	l.until = time.Now().Add(timeout)
	if l.timer != nil {
		l.timer.Reset(timeout)
		return
	}
	over := make(chan struct{})
	l.over = over
	l.timer = time.AfterFunc(timeout, func() { close(over) })
}

// end stops the time, and reports whether it was not over: the context can then
// begin again.
func (l *limited) end() bool { return l.timer.Stop() }

func (l *limited) Deadline() (time.Time, bool) { return l.until, true }
func (l *limited) Done() <-chan struct{}       { return l.over }
func (l *limited) Value(any) any               { return nil }

func (l *limited) Err() error {
	select {
	case <-l.over:
		return context.DeadlineExceeded
	default:
		return nil
	}
}
